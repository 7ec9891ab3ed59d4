package tern.rpc.metrics;

import static org.assertj.core.api.Assertions.assertThat;

import java.security.Principal;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import tern.rpc.CallLedger;
import tern.rpc.Metadata;
import tern.rpc.metrics.SlowCallRingTest.Caller;

class CallersTest {

    private long now = TimeUnit.HOURS.toNanos(1);
    private final Callers callers = new Callers(now);

    private void call(String ip, Principal certificate, Principal principal, boolean failed) {
        callers.ended(
                SlowCallRingTest.call(new Caller(ip, certificate), principal, new Metadata(), CallLedger.none()),
                failed,
                now);
    }

    private List<String> names() {
        return callers.mostCallsFirst(now).stream()
                .map(caller -> caller.name() + " " + caller.how() + " " + caller.calls() + " " + caller.failed())
                .toList();
    }

    @Test
    void callersAreKnownByPrincipalCertificateOrAddress() {
        Principal certificate = () -> "CN=gateway";
        for (int i = 0; i < 3; i++) {
            call("10.0.0.1", certificate, certificate, i == 0);
        }
        call("10.0.0.2", certificate, () -> "ann", false);
        call("10.0.0.2", certificate, () -> "ann", true);
        call("10.0.0.3", null, null, false);

        assertThat(names()).containsExactly("CN=gateway CERTIFICATE 3 1", "ann PRINCIPAL 2 1", "10.0.0.3 ADDRESS 1 0");
    }

    @Test
    void callsInThisProcessHaveNoAddress() {
        call(null, null, null, false);

        assertThat(names()).containsExactly("this process ADDRESS 1 0");
    }

    @Test
    void callersBeyondTheHundredthShareOneCount() {
        for (int i = 0; i < 250; i++) {
            call("10.0.1." + i, null, null, false);
        }

        assertThat(names()).hasSize(Callers.MAX_CALLERS + 1).last().isEqualTo("others OTHERS 150 0");
    }

    @Test
    void idleCallerMakesRoomForANewOne() {
        for (int i = 0; i < 100; i++) {
            call("10.0.1." + i, null, null, false);
        }
        now += TimeUnit.MINUTES.toNanos(11);
        call("10.0.1.0", null, null, false);
        call("10.0.2.1", null, null, false);

        assertThat(names()).containsExactlyInAnyOrder("10.0.1.0 ADDRESS 2 0", "10.0.2.1 ADDRESS 1 0");
        assertThat(callers.mostCallsFirst(now).get(0).sinceLast()).isEqualTo(Duration.ZERO);
    }

    @Test
    void strangeNamesAreEscapedAndBounded() {
        call("10.0.0.1", null, () -> "ann\n" + "x".repeat(10_000), false);

        assertThat(callers.mostCallsFirst(now).get(0).name())
                .hasSizeLessThan(300)
                .doesNotContain("\n");
    }
}
