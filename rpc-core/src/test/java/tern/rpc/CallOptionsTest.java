package tern.rpc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatNullPointerException;

import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

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

    @ParameterizedTest
    @ValueSource(strings = {"P36501D", "P9999999D", "PT9223372036854775807S"})
    void timeoutBeyondTheNanosecondsOfALongIsRefusedAtOnce(String timeout) {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> CallOptions.none().timeout(Duration.parse(timeout)))
                .withMessageStartingWith("the timeout of a call is PT")
                .withMessageEndingWith("; expected at most 36500d (100 years)");
    }

    @Test
    void longestTimeoutIsAHundredYears() {
        Duration longest = Duration.ofDays(36_500);

        assertThat(CallOptions.none().timeout(longest).timeout()).isEqualTo(longest);
    }
}
