package tern.rpc;

import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatNullPointerException;

import org.junit.jupiter.api.Test;

class CallOptionsTest {

    @Test
    @SuppressWarnings("NullAway") // the test passes null, which callers without null checks can do
    void headerWithoutNameOrValueIsRefusedAtOnce() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> CallOptions.none().header("tenant", (String) null))
                .withMessage("header 'tenant' has the value null; leave the header out");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> CallOptions.none().header("trace-bin", (byte[]) null))
                .withMessageContaining("'trace-bin'");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> CallOptions.none().header("", "blue"))
                .withMessage("a header needs a name");
    }

    @Test
    @SuppressWarnings("NullAway") // the test passes null, which callers without null checks can do
    void missingTimeoutIsNamed() {
        assertThatNullPointerException()
                .isThrownBy(() -> CallOptions.none().timeout(null))
                .withMessage("timeout");
    }
}
