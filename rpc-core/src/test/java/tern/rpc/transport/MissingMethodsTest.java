package tern.rpc.transport;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import tern.rpc.MethodType;
import tern.rpc.Pace;
import tern.rpc.RpcException;
import tern.rpc.RpcException.Executed;
import tern.rpc.ServiceDescriptor;
import tern.rpc.ServiceDescriptor.Operation;
import tern.rpc.StatusCode;

/** Tests the error message for a call to a missing method. */
class MissingMethodsTest {

    private static ServiceDescriptor service(String... methods) {
        return ServiceDescriptor.of(
                "a.B",
                List.of(methods).stream()
                        .map(method -> new Operation(method, MethodType.UNARY, String.class, String.class))
                        .toList());
    }

    private static String described(String name, String... methods) {
        RpcException refusal = MissingMethods.refusal(service(methods), name);
        assertThat(refusal.code()).isEqualTo(StatusCode.UNIMPLEMENTED);
        assertThat(refusal.wasExecuted()).isEqualTo(Executed.NO);
        assertThat(RemoteFailures.isMissingMethod(refusal.status().description()))
                .isTrue();
        return refusal.status().description();
    }

    @Test
    void namesOfTheServiceAreListedAndTheNearestComesFirst() {
        assertThat(described("great", "cancel", "greet", "find"))
                .isEqualTo("a.B has no method great; it has greet, find, cancel");
    }

    @Test
    void namesAreComparedForFewRefusalsPerSecond() {
        AtomicLong now = new AtomicLong();
        Pace two = new Pace(2, Duration.ofSeconds(1), now::get);
        ServiceDescriptor service = service("cancel", "greet", "find");
        List<String> told = new ArrayList<>();

        for (int i = 0; i < 4; i++) {
            told.add(MissingMethods.refusal(service, "great", two).status().description());
        }
        now.set(Duration.ofSeconds(1).toNanos());
        told.add(MissingMethods.refusal(service, "great", two).status().description());

        assertThat(told)
                .containsExactly(
                        "a.B has no method great; it has greet, find, cancel",
                        "a.B has no method great; it has greet, find, cancel",
                        "a.B has no method great; it has cancel, find, greet",
                        "a.B has no method great; it has cancel, find, greet",
                        "a.B has no method great; it has greet, find, cancel");
    }

    @Test
    void atMostTenNamesAreListed() {
        String[] many = new String[12];
        for (int i = 0; i < many.length; i++) {
            many[i] = "m" + (char) ('a' + i);
        }

        assertThat(described("mc", many))
                .startsWith("a.B has no method mc; it has mc")
                .endsWith(" and 2 more");
    }

    @Test
    void longNameIsCut() {
        assertThat(described("x".repeat(100_000), "find")).hasSizeLessThan(400).endsWith("; it has find");
    }
}
