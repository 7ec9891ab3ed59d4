package tern.rpc.load.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Tests the table and the verdict of {@link ClusterDemo}. */
class ClusterDemoTest {

    private static final DemoVerdict.Kill KILL = new DemoVerdict.Kill(4003, 1_000, 1_020);

    private final List<String> rows = new ArrayList<>();
    private final DemoReport report =
            new DemoReport(new TreeMap<>(Map.of(4001, "provider-1", 4003, "provider-3")), rows::add);

    @ParameterizedTest
    @CsvSource({
        "990,  1015, false, 4003, true", // the call was in flight when SIGKILL was sent to its provider
        "1010, 1030, false, 4003, true", // the call began after SIGKILL was sent, but before the provider had ended
        "1025, 1030, false, 4003, false", // the call began after the killed provider had ended
        "900,  950,  false, 4003, false", // the call failed before SIGKILL was sent to its provider
        "990,  1015, true,  4003, false", // the method is idempotent, so the client could have retried the call
        "990,  1015, false, 4001, false", // the call was sent to a provider that was not killed
        "990,  1015, false, 40031, false"
    })
    void onlyCallsInFlightAtTheKilledProviderMayBeLost(
            long started, long ended, boolean repeatable, int port, boolean passed) {
        LostCall lost = new LostCall(started, ended, repeatable, "UNAVAILABLE: 127.0.0.1:" + port + " was lost");

        DemoVerdict verdict = DemoVerdict.of(List.of(lost), KILL, 100, true);

        assertThat(verdict.passed()).isEqualTo(passed);
        assertThat(verdict.inFlight()).hasSize(passed ? 1 : 0);
        if (!passed) {
            assertThat(verdict.reasons())
                    .containsExactly("1 calls were lost that were not in flight at the kill", lost.reason());
        }
    }

    @Test
    void callsWithoutAnEndFailTheRun() {
        assertThat(DemoVerdict.of(List.of(), KILL, 100, false).reasons()).containsExactly("some calls did not end");
        assertThat(DemoVerdict.of(List.of(), KILL, 0, true).reasons()).containsExactly("no call was made");
        assertThat(DemoVerdict.of(List.of(), KILL, 100, true).passed()).isTrue();
    }

    @Test
    void eachSecondIsARowWithTheCallsOfThatSecond() {
        read("provider 4001 100 connected", "provider 4003 90 connected", "second");
        read("lost 990 1015 false UNAVAILABLE: 127.0.0.1:4003 was lost", "provider 4001 250 silent", "second");
        read("provider 4001 300 connected", "provider 4003 110 connected", "second");
        read("provider 4001 10 connected", "provider 4003 110 connected", "second");

        assertThat(report.head().lines())
                .containsExactly(
                        "       | provider-1                 | provider-3                ",
                        "       | calls failed  state       | calls failed  state      ");
        assertThat(rows)
                .containsExactly(
                        "   1 s |   100      0  connected   |    90      0  connected  ",
                        "   2 s |   150      0  silent      |     0      1  not listed ",
                        "   3 s |    50      0  connected   |    20      0  connected  ",
                        "   4 s |    10      0  connected   |     0      0  connected  ");
    }

    @Test
    void providerServesWhenItIsConnectedAndHadCalls() throws Exception {
        assertThat(report.awaitServing(4001, 0)).isFalse();
        read("provider 4001 100 silent", "second");
        assertThat(report.awaitServing(4001, 0)).isFalse();
        read("provider 4001 100 connected", "second");
        assertThat(report.awaitServing(4001, 0)).isFalse();
        read("provider 4001 101 connected", "second");
        assertThat(report.awaitServing(4001, 0)).isTrue();

        report.forget(4001);

        assertThat(report.awaitServing(4001, 0)).isFalse();
    }

    @Test
    void endOfTheConsumerTellsAllCallsAndWhetherTheyEnded() throws Exception {
        assertThat(report.verdict(KILL).reasons()).contains("some calls did not end");
        assertThat(report.awaitEnd(0)).isFalse();

        read("end true 1200");

        assertThat(report.awaitEnd(0)).isTrue();
        assertThat(report.calls()).isEqualTo(1_200);
        assertThat(report.verdict(KILL).passed()).isTrue();
    }

    @Test
    void unknownLineIsRefused() {
        assertThatThrownBy(() -> read("Exception in thread main")).hasMessageContaining("Exception in thread main");
    }

    private void read(String... lines) {
        List.of(lines).forEach(report);
    }
}
