package tern.rpc.diagnosis;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.List;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import tern.rpc.Phase;
import tern.rpc.diagnosis.machine.Machine;
import tern.rpc.pool.PoolKind;
import tern.rpc.pool.PoolSnapshot;

/** Tests that healthy situations are not reported as failures, even if they resemble failures. */
class LookAlikesTest {

    private static final Consumer<Shop.Steps> USUAL =
            call -> call.own(2).in(Phase.SQL, "select stock", 3).in(Phase.REDIS, "GET user:*", 1);

    private final Shop shop = new Shop();

    private void assertNoMiss() {
        assertThat(shop.diagnosis().state()).as(shop.diagnosis().text()).isNotEqualTo(Diagnosis.State.MISS);
        assertThat(shop.diagnosis().causes()).isEmpty();
        assertThat(shop.diagnostician.history().episodes()).isEmpty();
    }

    @Test
    void coldStartIsNoMiss() {
        for (int i = 0; i < 20; i++) {
            shop.second(100, call -> call.own(400));
        }
        for (int i = 0; i < 80; i++) {
            shop.second(100, USUAL);
        }

        assertNoMiss();
    }

    @Test
    void deploymentWithAPauseWithoutCallsIsNoMiss() {
        shop.healthy(USUAL);
        for (int i = 0; i < 30; i++) {
            shop.second(0, USUAL);
        }
        for (int i = 0; i < 60; i++) {
            shop.second(100, USUAL);
        }

        assertNoMiss();
    }

    @Test
    void occasionalLateCallInLittleTrafficIsNoMiss() {
        shop.healthy(USUAL);
        for (int i = 0; i < 120; i++) {
            boolean late = i % 40 == 0;
            shop.second(i % 10 == 0 ? 1 : 0, call -> call.own(late ? 300 : 2));
        }

        assertNoMiss();
    }

    @Test
    void fullPoolWithoutWaitsIsNoMiss() {
        shop.pools.add(() -> PoolSnapshot.builder("druid", PoolKind.JDBC, 4)
                .now(4, 0, 0)
                .counts(100, 0)
                .sums(Duration.ZERO, Duration.ofSeconds(4))
                .settings(List.of())
                .build());
        shop.healthy(USUAL);

        assertNoMiss();
    }

    @Test
    void busyHostWithCallsInTimeIsNoMiss() {
        shop.machine = new Machine(2, 0.3, 1.7, 0, 0, 0.3, null, 1e6, 1e6, List.of(), -1, null, List.of());
        shop.healthy(call -> call.own(40).in(Phase.SQL, "select stock", 30));

        assertNoMiss();
    }

    @Test
    void burstWithinTheTargetIsNoMiss() {
        shop.healthy(USUAL);
        for (int i = 0; i < 30; i++) {
            shop.second(1_000, call -> call.own(20).in(Phase.SQL, "select stock", 60));
        }

        assertNoMiss();
    }

    @Test
    void oneSecondInWhichAllCallsAreLateDoesNotBeginAMiss() {
        shop.healthy(USUAL);
        shop.second(3, call -> call.own(300));
        for (int i = 0; i < 60; i++) {
            shop.second(100, USUAL);
        }

        assertNoMiss();
    }

    /**
     * Simulates a period of missed latency targets that has just ended. The last minute still contains the late calls
     * from this period.
     */
    @Test
    void lateCallsOfTheLastMissDoNotBecomeUsual() {
        shop.healthy(USUAL);
        for (int i = 0; i < 60; i++) {
            shop.second(100, USUAL);
        }
        for (int i = 0; i < 20; i++) {
            shop.second(100, call -> call.own(400));
        }
        for (int i = 0; i < 50; i++) {
            shop.second(100, USUAL);
        }
        assertThat(shop.diagnosis().state()).isEqualTo(Diagnosis.State.HEALTHY);

        for (int i = 0; i < 5; i++) {
            shop.second(100, call -> call.own(400));
        }

        Diagnosis diagnosis = shop.diagnosis();
        assertThat(diagnosis.miss()).isNotNull();
        assertThat(diagnosis.miss().usualP99Ms()).as(diagnosis.text()).isBetween(5.0, 20.0);
    }

    @Test
    void slowCallsAtTheStartDoNotBecomeUsual() {
        shop.second(10, call -> call.own(5000));
        shop.healthy(USUAL);

        for (int i = 0; i < 5; i++) {
            shop.second(100, call -> call.own(400));
        }

        Diagnosis diagnosis = shop.diagnosis();
        assertThat(diagnosis.miss()).isNotNull();
        assertThat(diagnosis.miss().usualP99Ms()).as(diagnosis.text()).isEqualTo(-1);
    }
}
