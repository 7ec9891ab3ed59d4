package tern.rpc.load.peer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(120)
class TrialTest {

    @Test
    void peerThatDoesNotStartReportsTheReason() {
        assertThatThrownBy(() -> new Trial("no-such-peer", 1))
                .isInstanceOf(Side.Failure.class)
                .hasMessageContaining("server: ")
                .hasMessageContaining("'no-such-peer' is not known");
    }

    @Test
    void processesAgreeOnACertificateAndUseTheEngineOfTheName() throws IOException {
        try (Trial trial = new Trial("tern-dubbo-tls", 1)) {
            Measurement ran = trial.run(Scene.named("existUser"), 1, 100);

            assertThat(ran.errors()).as(ran.firstError()).isZero();
            assertThat(ran.calls()).isPositive();
        }
    }

    @Test
    void everySceneIsMeasuredOnBothSides() throws IOException {
        List<Scene> scenes = List.of(
                Scene.named("getUser").withCallers(2), Scene.named("Person").withCallers(3));
        Map<Scene, Measurement> measured = new LinkedHashMap<>();

        try (Trial trial = new Trial("tern-dubbo", 1)) {
            // The measurement takes a whole second, because the operating system counts CPU time in steps of 10 ms.
            trial.run(scenes, 100, 1_000, measured::put);
            assertThat(trial.resources()).hasSize(2).allMatch(held -> held.heapBytes() > 0 && held.threads() > 0);
        }

        assertThat(measured.keySet()).containsExactlyElementsOf(scenes);
        assertThat(measured.values()).allSatisfy(round -> {
            assertThat(round.errors()).as(round.firstError()).isZero();
            assertThat(round.calls()).isPositive();
            assertThat(round.client().cpuNanos()).isPositive();
            assertThat(round.server().cpuNanos()).isPositive();
            assertThat(round.client().bytes()).isPositive();
            assertThat(round.server().bytes()).isPositive();
        });
    }
}
