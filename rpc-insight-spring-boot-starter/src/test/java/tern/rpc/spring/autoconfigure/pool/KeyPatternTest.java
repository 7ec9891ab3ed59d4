package tern.rpc.spring.autoconfigure.pool;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.ObjectOutputStream;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;

class KeyPatternTest {

    @Test
    void numbersInKeysAreReplaced() {
        assertThat(KeyPattern.of("GET", text("user:42:cart"))).isEqualTo("GET user:*:cart");
    }

    @Test
    void longKeysAreShortened() {
        assertThat(KeyPattern.of("GET", text("x".repeat(65)))).isEqualTo("GET " + "x".repeat(64) + "...");
    }

    @Test
    void keysInTheFormatOfJavaSerializationShowTheirText() throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (ObjectOutputStream out = new ObjectOutputStream(bytes)) {
            out.writeObject("event:7");
        }

        assertThat(KeyPattern.of("GET", bytes.toByteArray())).isEqualTo("GET event:*");
    }

    private static byte[] text(String key) {
        return key.getBytes(StandardCharsets.UTF_8);
    }
}
