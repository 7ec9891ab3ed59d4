package tern.rpc.spring.autoconfigure.pool;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.ObjectOutputStream;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;

class KeyPatternTest {

    private static byte[] serialized(String key) throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (ObjectOutputStream out = new ObjectOutputStream(bytes)) {
            out.writeObject(key);
        }
        return bytes.toByteArray();
    }

    @Test
    void variablePartsOfAKeyAreHidden() {
        assertThat(KeyPattern.of("GET", "event:17".getBytes(StandardCharsets.UTF_8)))
                .isEqualTo("GET event:*");
    }

    @Test
    void keyOfJavasSerializationIsShownWithoutItsHeader() throws IOException {
        assertThat(KeyPattern.of("GET", serialized("event:17"))).isEqualTo("GET event:*");
        assertThat(KeyPattern.of("GET", serialized(""))).isEqualTo("GET ");
        assertThat(KeyPattern.of("GET", serialized("x".repeat(70)))).isEqualTo("GET " + "x".repeat(64) + "...");
    }
}
