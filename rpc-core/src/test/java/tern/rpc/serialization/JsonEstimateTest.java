package tern.rpc.serialization;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class JsonEstimateTest {

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
        assertThat(JsonEstimate.bytes("{{[]{{".getBytes(UTF_8), 2, 2)).isEqualTo(2 + 40);
    }

    @Test
    void longTextReservesFarLessMemoryThanManySmallObjects() {
        byte[] text = ("\"" + "x".repeat(200 << 10) + "\"").getBytes(UTF_8);
        byte[] objects = ("[" + "{},".repeat(70 << 10) + "{}]").getBytes(UTF_8);

        assertThat(JsonEstimate.maxBytes(text, text.length)).isEqualTo(4L * text.length);
        assertThat(JsonEstimate.maxBytes(objects, objects.length)).isEqualTo(80L * objects.length);
    }

    private static long bytes(String json) {
        byte[] bytes = json.getBytes(UTF_8);
        return JsonEstimate.bytes(bytes, 0, bytes.length);
    }
}
