package tern.rpc;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tern.rpc.RpcException.Executed;

class PeerTextTest {

    @Test
    void plainTextStaysAsItIs() {
        for (String plain : new String[] {"", "a.b.Service/greet", "Grüße an 日本 \uD83D\uDE08, 'quoted' and 100 %"}) {
            assertThat(PeerText.name(plain)).isEqualTo(plain);
            assertThat(PeerText.text(plain)).isEqualTo(plain);
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "\n",
                "\r",
                "\t",
                "\0",
                "\u001B[31m",
                "\u007F",
                "\u0085",
                "\u2028",
                "\u2029",
                "\u202E",
                "\u2066",
                "\u200F",
                "\uFEFF",
                "\u061C",
                "\uD83D",
                "\uDE08"
            })
    void charactersThatMoveOrHideTextAreEscaped(String hostile) {
        String shown = PeerText.name("a" + hostile + "b");

        assertThat(shown).startsWith("a\\").endsWith("b").doesNotContain(hostile);
    }

    @Test
    void longTextIsCut() {
        String hostile = "n\n".repeat(30_000);

        assertThat(PeerText.name(hostile)).hasSizeLessThan(350).endsWith("(60000 characters)");
        assertThat(PeerText.text(hostile)).hasSizeLessThan(14_000);
    }

    @Test
    void messageOfAFailureStaysOnItsLine() {
        String description = "no\r\n2026-01-01 WARN everything is fine\u202E";
        RpcException failure = RpcException.refusal(StatusCode.NOT_FOUND, description, Executed.NO);

        assertThat(failure.toString()).doesNotContain("\r", "\n", "\u202E").contains("no\\r\\n2026-01-01");
        assertThat(failure.status().description()).isEqualTo(description);
        assertThat(RpcException.refusal(StatusCode.NOT_FOUND, "x".repeat(60_000), Executed.NO)
                        .getMessage())
                .hasSizeLessThan(8_300);
    }
}
