package tern.rpc.server;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import tern.rpc.concurrent.WorkerPool;
import tern.rpc.limit.Refusal;
import tern.rpc.limit.Share;

@Timeout(60)
class ReservedWorkersTest {

    private static final int PLACES = 9;

    private final CountDownLatch release = new CountDownLatch(1);
    private final WorkerPool pool = new WorkerPool(1, PLACES - 1, Duration.ZERO, Thread::new);
    private final ReservedWorkers workers = new ReservedWorkers(pool);
    private final Share attacker = new Share("attacker");
    private final Share probe = new Share("probe");

    @AfterEach
    void stop() {
        release.countDown();
        pool.close();
    }

    private void await() {
        try {
            release.await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private int fill(Share tenant) {
        int taken = 0;
        while (workers.offer(this::await, tenant) == null) {
            taken++;
        }
        return taken;
    }

    @Test
    void oneTenantLeavesPlacesToOthers() {
        assertThat(fill(attacker)).isEqualTo(5);

        assertThat(workers.offer(this::await, attacker)).isEqualTo(Refusal.QUEUE);
        assertThat(fill(probe)).isEqualTo(2);
    }

    @Test
    void tenantGetsItsPlacesBackWhenItsCallsEnd() {
        fill(attacker);

        release.countDown();
        while (pool.admitted() > 0) {
            Thread.onSpinWait();
        }

        for (int i = 0; i < 3; i++) {
            CountDownLatch ran = new CountDownLatch(1);
            while (workers.offer(ran::countDown, attacker) != null) {
                Thread.onSpinWait();
            }
            awaitCount(ran);
        }
    }

    private static void awaitCount(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    @Test
    void callsWithoutATenantMayUseAllPlaces() {
        for (int i = 0; i < PLACES; i++) {
            assertThat(workers.offer(this::await, null)).isNull();
        }
        assertThat(workers.offer(this::await, null)).isEqualTo(Refusal.QUEUE);
    }
}
