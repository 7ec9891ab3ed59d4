package tern.rpc.server;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import tern.rpc.concurrent.WorkerPool;
import tern.rpc.limit.FixedLimit;
import tern.rpc.limit.Limiter;
import tern.rpc.limit.Refusal;
import tern.rpc.limit.Share;

@Timeout(60)
class FairWorkersTest {

    private static final int THREADS = 4;

    private final AtomicLong now = new AtomicLong(1_000);
    private final CountDownLatch letGo = new CountDownLatch(1);
    private final WorkerPool threads = new WorkerPool(THREADS, 0, Duration.ZERO, Thread::new);
    private final WorkerPool spare =
            new WorkerPool(FairWorkers.spareThreads(THREADS), THREADS, Duration.ZERO, Thread::new);
    private final Limiter limiter = new Limiter(new FixedLimit(100), THREADS, now::get);
    private final FairWorkers workers = new FairWorkers(threads, spare, null, limiter, now::get);
    private final Share small = new Share("small");

    /**
     * Makes all regular threads busy. Then submits more calls for a small tenant than this tenant may run on spare
     * threads.
     */
    @BeforeEach
    void crowdOut() {
        for (int i = 0; i < THREADS; i++) {
            assertThat(threads.offer(this::hold)).isTrue();
        }
        enter(new Share("flooding"), 20);
        enter(small, 5);
    }

    private void hold() {
        try {
            assertThat(letGo.await(30, TimeUnit.SECONDS)).isTrue();
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    private void enter(Share share, int calls) {
        for (int i = 0; i < calls; i++) {
            assertThat(limiter.enter(share, now.get())).isNull();
        }
    }

    @AfterEach
    void close() {
        letGo.countDown();
        threads.close();
        spare.close();
    }

    /**
     * Submits another of the small tenant's calls. The call waits for a thread. The call is never run, so it needs no
     * dispatcher.
     */
    private ServedCall offer() {
        ServedCall call = new ServedCall(null, null, true, false);
        enter(small, 1);
        assertThat(workers.offer(call, small)).as("refusal").isNull();
        assertThat(threads.admitted()).isEqualTo(THREADS);
        assertThat(spare.admitted()).isZero();
        return call;
    }

    @Test
    void callWaitsForAnotherCallOfItsTenantForAtMostASecond() {
        ServedCall call = offer();

        now.addAndGet(TimeUnit.SECONDS.toNanos(1));
        assertThat(workers.waitedInVain(call)).isFalse();

        now.addAndGet(1);
        assertThat(workers.waitedInVain(call)).isTrue();
        assertThat(workers.waitedInVain(call)).as("it waits no longer").isFalse();
    }

    @Test
    void onlyTheCallThatWaitedTooLongIsEnded() {
        ServedCall first = offer();
        now.addAndGet(TimeUnit.SECONDS.toNanos(1));
        ServedCall second = offer();
        now.addAndGet(1);

        assertThat(workers.waitedInVain(second)).isFalse();
        assertThat(workers.waitedInVain(first)).isTrue();
        assertThat(workers.waitedInVain(second)).isFalse();
    }

    @Test
    void waitingCallGetsAThreadThatBecomesIdle() {
        ServedCall call = offer();
        assertThat(workers.offerToIdle(call)).as("all threads are busy").isFalse();
        letGo.countDown();
        while (threads.admitted() > 0) {
            Thread.onSpinWait();
        }
        call.withdraw(); // the call has ended, so the thread that takes it does nothing

        assertThat(workers.offerToIdle(call)).isTrue();

        assertThat(workers.offerToIdle(call)).as("it waits no longer").isFalse();
    }

    @Test
    void callThatDoesNotWaitForItsTenantIsNotEnded() {
        offer();
        now.addAndGet(TimeUnit.SECONDS.toNanos(2));

        assertThat(workers.waitedInVain(new ServedCall(null, null, true, false)))
                .isFalse();
    }

    /**
     * Passes a call from the tenant to a spare thread. Then admits far more calls from the tenant than there are free
     * threads.
     */
    private void flood(Share tenant) {
        ServedCall ended = new ServedCall(null, null, true, false);
        ended.withdraw(); // the call has ended, so the thread that takes it does nothing
        enter(tenant, 1);
        assertThat(workers.offer(ended, tenant)).isNull();
        enter(tenant, 30);
    }

    @Test
    void singleConnectionOfTheSingleAddressYieldsToCallsOfThisProcess() {
        Share address = new Share("address");
        Share only = new Share("connection", address);
        address.connectionOpens();
        flood(only);

        workers.waitedInVain(new Share("calls of this process"));

        assertThat(workers.offer(new ServedCall(null, null, true, false), only)).isEqualTo(Refusal.SHARE);
    }

    @Test
    void singleConnectionOfTheSingleAddressDoesNotYieldToClosedConnections() {
        Share address = new Share("address");
        Share only = new Share("connection", address);
        address.connectionOpens();
        flood(only);

        workers.waitedInVain(new Share("closed connection", address));

        assertThat(workers.offer(new ServedCall(null, null, true, false), only)).isEqualTo(Refusal.QUEUE);
    }
}
