package tern.rpc.serialization.json;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class ObjectEstimateTest {

    @Test
    void emptyObjectsTakeMuchMoreMemoryThanText() {
        assertThat(bytes("[{},{}]")).isEqualTo(7 + 40 + 2 * 64 + 24);
    }

    @Test
    void eachMemberIsAnEntryOfAMap() {
        assertThat(bytes("{\"a\":1,\"b\":2}")).isEqualTo(13 + 64 + 2 * 48 + 24);
    }

    @Test
    void structureInsideTextsIsNotCounted() {
        String text = "\"{[,\\\"{\"";

        assertThat(bytes(text)).isEqualTo(text.length());
    }

    @Test
    void onlyTheGivenPartIsCounted() {
        assertThat(ObjectEstimate.bytes("{{[]{{".getBytes(UTF_8), 2, 2)).isEqualTo(2 + 40);
    }

    private static long bytes(String json) {
        byte[] bytes = json.getBytes(UTF_8);
        return ObjectEstimate.bytes(bytes, 0, bytes.length);
    }
}
