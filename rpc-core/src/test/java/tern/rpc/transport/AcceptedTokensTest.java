package tern.rpc.transport;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import org.junit.jupiter.api.Test;

class AcceptedTokensTest {

    private static final AcceptedTokens TOKENS = new AcceptedTokens(List.of(Token.of("red"), Token.of("blue")));

    @Test
    void tokenWithACommaIsExplained() {
        assertThatThrownBy(() -> TOKENS.check("Orders/find", "red,blue", null))
                .hasMessageContaining(
                        "this server does not accept the call's token, which contains a comma, but a comma"
                                + " separates the tokens in rpc.server.token")
                .hasMessageNotContaining("red");
        assertThatThrownBy(() -> TOKENS.check("Orders/find", null, "Bearer green"))
                .hasMessageContaining("this server does not accept the call's token;");
    }

    @Test
    void lineBreakAtTheEndOfASecretIsNotPartOfTheToken() {
        Token fromFile = Token.of("red\n");

        assertThat(fromFile.isUsable()).isTrue();
        assertThatCode(() -> TOKENS.check("Orders/find", fromFile.reveal(), null))
                .doesNotThrowAnyException();
        assertThat(Token.of(" \n").isUsable()).isFalse();
    }
}
