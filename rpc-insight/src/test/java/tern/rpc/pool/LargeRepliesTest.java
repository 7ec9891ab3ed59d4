package tern.rpc.pool;

import static org.assertj.core.api.Assertions.assertThat;

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
}
