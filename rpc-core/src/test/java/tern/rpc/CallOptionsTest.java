package tern.rpc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatNullPointerException;

import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class CallOptionsTest {

    @Test
    @SuppressWarnings("NullAway") // callers compiled without null checks can pass null
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
    void optionsThatAreAddedKeepTheEarlierOnesThatTheyDoNotSet() {
        List<String> seen = new ArrayList<>();
        CallOptions earlier = CallOptions.none()
                .header("tenant", "red")
                .header("trace", "1")
                .timeout(Duration.ofSeconds(1))
                .key("a")
                .waitForReady()
                .compressed()
                .onResponseHeaders(headers -> seen.add("earlier headers"))
                .onResponseTrailers(trailers -> seen.add("earlier trailers"));

        CallOptions both = earlier.with(CallOptions.none()
                .header("Tenant", "blue")
                .waitForReady(false)
                .onResponseTrailers(trailers -> seen.add("later trailers")));

        assertThat(both.headers().getAll("tenant")).containsExactly("blue");
        assertThat(both.headers().get("trace")).isEqualTo("1");
        assertThat(both.timeout()).isEqualTo(Duration.ofSeconds(1));
        assertThat(both.key()).isEqualTo("a");
        assertThat(both.isWaitingForReady()).isFalse();
        assertThat(both.isCompressed()).isTrue();
        Objects.requireNonNull(both.responseHeaders()).accept(new Metadata());
        Objects.requireNonNull(both.responseTrailers()).accept(new Metadata());
        assertThat(seen).containsExactly("earlier headers", "later trailers");
        assertThat(earlier.headers().get("tenant")).isEqualTo("red");
    }

    @Test
    void laterTimeoutAndKeyReplaceTheEarlierOnes() {
        CallOptions earlier = CallOptions.none().timeout(Duration.ofSeconds(1)).key("a");

        CallOptions both = earlier.with(
                CallOptions.none().timeout(Duration.ofSeconds(2)).key("b").tag("gray"));

        assertThat(both.timeout()).isEqualTo(Duration.ofSeconds(2));
        assertThat(both.key()).isEqualTo("b");
        assertThat(both.headers().get("dubbo.tag")).isEqualTo("gray");
    }

    @Test
    @SuppressWarnings("NullAway") // callers compiled without null checks can pass null
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

    interface Greetings {
        String greet(String name);
    }

    @Test
    void objectThatIsNoProxyIsCalledWithoutTheOptions() {
        Greetings ofATest = new Greetings() {
            @Override
            public String greet(String name) {
                return "Hello " + name;
            }
        };

        assertThat(CallOptions.none().header("tenant", "blue").on(ofATest)).isSameAs(ofATest);
    }

    @Test
    void jdkProxyOfAnotherLibraryIsRefusedBecauseItWouldHideTheOptions() {
        Greetings around = (Greetings) Proxy.newProxyInstance(
                getClass().getClassLoader(), new Class<?>[] {Greetings.class}, (proxy, method, arguments) -> null);

        assertThatIllegalArgumentException()
                .isThrownBy(() -> CallOptions.none().header("tenant", "blue").on(around))
                .withMessageContaining("is not a remote proxy");
    }

    @Test
    void longestTimeoutIsAHundredYears() {
        Duration longest = Duration.ofDays(36_500);

        assertThat(CallOptions.none().timeout(longest).timeout()).isEqualTo(longest);
    }
}
