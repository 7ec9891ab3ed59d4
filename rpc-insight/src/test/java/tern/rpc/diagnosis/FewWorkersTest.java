package tern.rpc.diagnosis;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;
import tern.rpc.Phase;
import tern.rpc.diagnosis.cause.Cause;
import tern.rpc.pool.PoolKind;
import tern.rpc.pool.PoolSetting;
import tern.rpc.pool.PoolSnapshot;

/** Tests calls waiting for a worker because there are too few workers for their usual work. */
class FewWorkersTest {

    private static final int WORKERS = 5;
    private static final int CALLS_PER_SECOND = 100;

    private final Shop shop = new Shop();
    private int workers = WORKERS;

    FewWorkersTest() {
        shop.pools.add(() -> PoolSnapshot.builder("tomcat", PoolKind.WORKERS, workers)
                .now(workers, 0, 20)
                .settings(List.of(
                        new PoolSetting("server.tomcat.threads.max", "5", PoolSetting.Source.USER, PoolSetting.Use.MAX)
                                .accepting(new PoolSetting.Range(1, 1_000))))
                .build());
    }

    private void seconds(int count, double queuedMillis, double exchangeMillis) {
        for (int second = 0; second < count; second++) {
            for (int call = 0; call < CALLS_PER_SECOND; call++) {
                shop.call(
                        Shop.PLACE, queuedMillis, steps -> steps.own(1).in(Phase.HTTP, "GET stock:80", exchangeMillis));
                shop.pass(1_000.0 / CALLS_PER_SECOND);
            }
            shop.diagnostician.second();
        }
    }

    private Cause first() {
        Diagnosis diagnosis = shop.diagnosis();
        assertThat(diagnosis.state()).as(diagnosis.text()).isEqualTo(Diagnosis.State.MISS);
        return diagnosis.causes().get(0);
    }

    @Test
    void tooFewWorkersFromTheStartAreTheCause() {
        seconds(70, 240, 50);

        assertThat(DiagnosisText.title(first())).as(shop.diagnosis().text()).isEqualTo("NO FREE WORKER: tomcat");
        assertThat(first().change().text()).contains("server.tomcat.threads.max");
    }

    @Test
    void workersThatWereRemovedAreNeededAgain() {
        workers = 12;
        seconds(90, 0, 50);
        workers = WORKERS;
        seconds(6, 240, 50);

        assertThat(DiagnosisText.title(first())).as(shop.diagnosis().text()).isEqualTo("NO FREE WORKER: tomcat");
        assertThat(first().change().text())
                .startsWith("give \"tomcat\" its former 12 workers again (server.tomcat.threads.max, now 5)");
    }

    @Test
    void tooFewWorkersAreTheCauseAlthoughCallsAreABitSlowerUnderLoad() {
        seconds(90, 0, 50);
        seconds(6, 240, 61);

        assertThat(DiagnosisText.title(first())).as(shop.diagnosis().text()).isEqualTo("NO FREE WORKER: tomcat");
    }

    @Test
    void workThatBecameSlowerIsTheCauseIfTheWorkersSufficeOtherwise() {
        seconds(90, 0, 20);
        seconds(6, 240, 60);

        assertThat(DiagnosisText.title(first())).as(shop.diagnosis().text()).isEqualTo("SLOW HTTP PEER: GET stock:80");
        assertThat(first().symptoms()).anyMatch(symptom -> symptom.contains("wait for a worker"));
    }

    @Test
    void workThatMissesTheTargetByItselfIsTheCauseFromTheStart() {
        seconds(70, 240, 150);

        assertThat(DiagnosisText.title(first())).as(shop.diagnosis().text()).isEqualTo("SLOW HTTP PEER: GET stock:80");
    }

    @Test
    void moreCallsThanTheWorkersCanServeAreTheCauseAlthoughTheWorkBecameSlower() {
        seconds(90, 0, 30);
        for (int second = 0; second < 6; second++) {
            shop.refused.merge("queue", 200L, Long::sum);
            seconds(1, 240, 45);
        }

        assertThat(first().kind()).as(shop.diagnosis().text()).isEqualTo("MORE CALLS");
    }
}
