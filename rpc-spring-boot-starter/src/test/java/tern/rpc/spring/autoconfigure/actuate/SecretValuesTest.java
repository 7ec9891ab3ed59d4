package tern.rpc.spring.autoconfigure.actuate;

import static org.assertj.core.api.Assertions.assertThat;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.actuate.endpoint.SanitizableData;

@Timeout(60)
class SecretValuesTest {

    private static @Nullable Object shown(String key, String value) {
        return new SecretValues().apply(new SanitizableData(null, key, value)).getValue();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "--rpc.server.token=injected --other=1",
                "rpc.client.services.com.example.Orders.token[0]: injected",
                "RPC_SERVER_TOKEN_0_=injected",
                "{\"rpc.server.token\":\"injected\"}",
                " {\"rpc\":{\"server\":{\"TOKEN\":\"injected\"}}}",
                "{\"rpc.pools.jedis.url\":\"injected\"}"
            })
    void secretInsideAnotherValueIsHidden(String value) {
        assertThat(shown("sun.java.command", value))
                .asString()
                .contains("******")
                .doesNotContain("injected");
    }

    @Test
    void keyOfAnyLengthIsHidden() {
        assertThat(shown("rpc.client." + "x".repeat(5_000) + ".token", "injected"))
                .isEqualTo("******");
    }

    /** A search in quadratic time would take several times as long as the timeout of this class. */
    @Test
    void longTextsAreSearchedInLinearTime() {
        int parts = 50_000;
        String json = "{" + "\"rpc.".repeat(parts);
        String line = "rpc.server.x.".repeat(parts);

        assertThat(shown("a", json)).isEqualTo(json);
        assertThat(shown("a", line)).isEqualTo(line);
    }
}
