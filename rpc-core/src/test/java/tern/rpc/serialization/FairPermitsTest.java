package tern.rpc.serialization;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import tern.rpc.serialization.FairPermits.Result;

@Timeout(60)
class FairPermitsTest {

    private static final long FOREVER = TimeUnit.HOURS.toNanos(1);

    private final AtomicLong now = new AtomicLong();
    private final FairPermits memory = new FairPermits(100, 4, now::get);
    private final ExecutorService threads = Executors.newCachedThreadPool();
    private final List<String> served = new ArrayList<>();

    @AfterEach
    void stop() {
        threads.shutdownNow();
    }

    @Test
    void requestOfAllMemoryLetsOthersPass() {
        take("held", 10);
        CompletableFuture<Result> all = wait("attacker", "all", 100);

        assertThat(memory.acquire("other", 90, FOREVER)).isEqualTo(Result.ACQUIRED);
        assertThat(memory.acquire("other", 1, 0)).isEqualTo(Result.TIMED_OUT);
        memory.release(100);

        assertThat(all.join()).isEqualTo(Result.ACQUIRED);
        assertThat(memory.available()).isZero();
    }

    @Test
    void requestOfAllMemoryIsServedEventually() {
        take("held", 50);
        take("held", 50);
        CompletableFuture<Result> all = wait("large", "all", 100);
        memory.release(50);
        take("other", 50); // This request overtakes the earlier request for 100 permits.
        now.set(TimeUnit.SECONDS.toNanos(1));

        memory.release(50);
        assertThat(memory.acquire("other", 1, 0)).isEqualTo(Result.TIMED_OUT);
        memory.release(50);

        assertThat(all.join()).isEqualTo(Result.ACQUIRED);
    }

    @Test
    void overdueRequestThatGivesUpLetsOthersPass() throws InterruptedException {
        take("held", 50);
        Thread large = new Thread(() -> memory.acquire("large", 100, FOREVER));
        large.start();
        awaitWaiting(1);
        now.set(TimeUnit.SECONDS.toNanos(1));
        CompletableFuture<Result> small = wait("small", "small", 10);

        large.interrupt();

        assertThat(small.join()).isEqualTo(Result.ACQUIRED);
    }

    @Test
    void tenantsAreServedInTurn() {
        take("held", 100);
        CompletableFuture<Result> first = wait("a", "a1", 60);
        CompletableFuture<Result> second = wait("a", "a2", 60);
        CompletableFuture<Result> other = wait("b", "b1", 60);

        memory.release(100);
        first.join();
        memory.release(60);
        other.join();
        memory.release(60);
        second.join();

        assertThat(served).containsExactly("a1", "b1", "a2");
        assertThat(memory.waiting()).isZero();
    }

    @Test
    void oneTenantDoesNotTakeAllPlacesToWait() {
        take("held", 100);
        wait("a", "a1", 10);
        wait("a", "a2", 10);

        assertThat(memory.acquire("a", 10, FOREVER)).isEqualTo(Result.CROWDED);
        CompletableFuture<Result> other = wait("b", "b1", 10);
        memory.release(100);

        assertThat(other.join()).isEqualTo(Result.ACQUIRED);
    }

    @Test
    void requestThatGivesUpLeavesNothing() throws InterruptedException {
        take("held", 100);
        assertThat(memory.acquire("a", 10, 0)).isEqualTo(Result.TIMED_OUT);
        Thread interrupted = new Thread(() -> memory.acquire("a", 10, FOREVER));
        interrupted.start();
        awaitWaiting(1);
        interrupted.interrupt();
        interrupted.join();

        assertThat(memory.waiting()).isZero();
        memory.release(100);
        assertThat(memory.available()).isEqualTo(100);
    }

    @Test
    void requestThatDoesNotFitNextToRunningCallsIsDecodedAlone() {
        memory.keep(60);

        take("nested", 100);
        assertThat(memory.acquire("other", 1, 0)).isEqualTo(Result.TIMED_OUT);
        memory.release(100);
        take("other", 40);
        memory.release(40);
        memory.giveBack(60);

        assertThat(memory.available()).isEqualTo(100);
    }

    @Test
    void requestThatDoesNotFitWaitsForTheEndOfDecodingButNotOfRunningCalls() {
        memory.keep(30);
        take("held", 50);
        CompletableFuture<Result> all = wait("large", "all", 100);

        memory.release(50);

        assertThat(all.join()).isEqualTo(Result.ACQUIRED);
    }

    @Test
    void requestWaitsWhileRunningCallsHoldAllMemory() {
        memory.keep(100);
        CompletableFuture<Result> all = wait("large", "all", 100);
        assertThat(memory.acquire("other", 1, 0)).isEqualTo(Result.TIMED_OUT);

        memory.giveBack(100);

        assertThat(all.join()).isEqualTo(Result.ACQUIRED);
    }

    /**
     * Tests that no request waits for permits that are released just as the request begins to wait. Permits are
     * released without the lock while no request waits.
     */
    @Test
    void waitingRequestGetsPermitsThatAreReleasedAtThatMoment() {
        FairPermits shared = new FairPermits(100, 1_000, now::get);
        int rounds = 20_000;

        List<CompletableFuture<Void>> callers = new ArrayList<>();
        for (int caller = 0; caller < 4; caller++) {
            int kib = 60 + caller; // the permits are fewer than any two of these requests need together
            String tenant = "tenant " + caller;
            callers.add(CompletableFuture.runAsync(
                    () -> {
                        for (int round = 0; round < rounds; round++) {
                            assertThat(shared.acquire(tenant, kib, FOREVER)).isEqualTo(Result.ACQUIRED);
                            shared.release(kib);
                        }
                    },
                    threads));
        }

        callers.forEach(CompletableFuture::join);
        assertThat(shared.available()).isEqualTo(100);
        assertThat(shared.waiting()).isZero();
    }

    private void take(String tenant, int kib) {
        assertThat(memory.acquire(tenant, kib, 0)).isEqualTo(Result.ACQUIRED);
    }

    /** Starts a request that must wait, and returns its future result. */
    private CompletableFuture<Result> wait(String tenant, String name, int kib) {
        int before = memory.waiting();
        CompletableFuture<Result> result = CompletableFuture.supplyAsync(
                () -> {
                    Result acquired = memory.acquire(tenant, kib, FOREVER);
                    synchronized (served) {
                        served.add(name);
                    }
                    return acquired;
                },
                threads);
        awaitWaiting(before + 1);
        return result;
    }

    private void awaitWaiting(int count) {
        while (memory.waiting() < count) {
            Thread.onSpinWait();
        }
    }
}
