package tern.rpc.pool;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class LargeRepliesTest {

    @ParameterizedTest
    @CsvSource({
        "1048575, GET plan:*, ''",
        "1048576, GET plan:* [over 1 MB], over 1 MB",
        "5000000, GET plan:* [over 4 MB], over 4 MB",
        "999000000, GET plan:* [over 64 MB], over 64 MB"
    })
    void nameOfACommandHasOneOfFewSizes(long bytes, String name, String size) {
        assertThat(LargeReplies.name("GET plan:*", bytes)).isEqualTo(name);
        assertThat(LargeReplies.sizeIn(name)).isEqualTo(size);
    }

    @ParameterizedTest
    @CsvSource({
        "9999, SMEMBERS tags, ''",
        "10000, SMEMBERS tags [over 10000 elements], over 10000 elements",
        "250000, SMEMBERS tags [over 100000 elements], over 100000 elements"
    })
    void replyWithManyElementsIsLarge(int elements, String name, String size) {
        assertThat(LargeReplies.nameFor("SMEMBERS tags", Collections.nCopies(elements, 7L)))
                .isEqualTo(name);
        assertThat(LargeReplies.sizeIn(name)).isEqualTo(size);
    }

    @Test
    void valuesOfACollectionCountTogether() {
        byte[] value = new byte[300_000];
        Map<byte[], byte[]> hash = new HashMap<>();
        for (int i = 0; i < 4; i++) {
            hash.put(new byte[] {(byte) i}, value);
        }

        assertThat(LargeReplies.nameFor("LRANGE log", List.of(value, value, value)))
                .isEqualTo("LRANGE log");
        assertThat(LargeReplies.nameFor("LRANGE log", Collections.nCopies(4, value)))
                .isEqualTo("LRANGE log [over 1 MB]");
        assertThat(LargeReplies.nameFor("HGETALL fleet", hash)).isEqualTo("HGETALL fleet [over 1 MB]");
        assertThat(LargeReplies.nameFor("GET plan:*", new byte[1 << 20])).isEqualTo("GET plan:* [over 1 MB]");
        assertThat(LargeReplies.nameFor("EXISTS plan:*", true)).isEqualTo("EXISTS plan:*");
    }

    @Test
    void sameCommandMayHaveHadASmallerReply() {
        assertThat(LargeReplies.smaller("GET plan:* [over 4 MB] (Redis cache)"))
                .startsWith("GET plan:* [over 1 MB] (Redis cache)")
                .endsWith("GET plan:* (Redis cache)");
        assertThat(LargeReplies.smaller("HGETALL fleet [over 100000 elements]"))
                .containsExactly("HGETALL fleet [over 10000 elements]", "HGETALL fleet");
        assertThat(LargeReplies.smaller("GET plan:*")).isEmpty();
    }

    @Test
    void textsOfAClientCountLikeBytes() {
        String text = "x".repeat(1 << 20);

        assertThat(LargeReplies.nameFor("GET plan:*", text)).isEqualTo("GET plan:* [over 1 MB]");
        assertThat(LargeReplies.nameFor("HGETALL fleet", Map.of("7", text))).isEqualTo("HGETALL fleet [over 1 MB]");
        assertThat(LargeReplies.nameFor("GET plan:*", "short")).isEqualTo("GET plan:*");
    }

    @Test
    void commandBeginsWithTheMarkOfItsLastReply() {
        String command = "HGETALL " + UUID.randomUUID();
        String marked = LargeReplies.name(command, 2 << 20);
        assertThat(LargeReplies.expected(command)).isEqualTo(command);

        LargeReplies.arrived(command, marked);
        assertThat(LargeReplies.expected(command)).isEqualTo(command + " [over 1 MB]");

        LargeReplies.arrived(command, command);
        assertThat(LargeReplies.expected(command)).isEqualTo(command);
    }

    @ParameterizedTest
    @CsvSource({
        "GET plan:*, 0",
        "GET plan:* [over 4 MB], 8388608",
        "HGETALL fleet [over 10000 elements] (Redis cache), 2000000"
    })
    void sizeOfAReplyIsEstimatedFromItsMark(String name, double bytes) {
        assertThat(LargeReplies.bytesIn(name)).isEqualTo(bytes);
    }
}
