package tern.rpc.server;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.Semaphore;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;
import tern.rpc.limit.FixedLimit;
import tern.rpc.limit.Limit;
import tern.rpc.limit.Refusal;

/** Tests that calls of many tenants to one method cannot occupy all method threads. */
class SlowMethodsTest extends HeldThreads {

    /** Makes calls to a method that does not return, each from its own tenant. */
    private List<Future<?>> holdByManyTenants(int calls) throws InterruptedException {
        List<Future<?>> made = new ArrayList<>();
        for (int i = 0; i < calls; i++) {
            made.add(hold(tenant()));
        }
        return made;
    }

    @Test
    void otherMethodsRunWhileManyTenantsHoldAllThreadsInOneMethod() throws Exception {
        serve(settings -> {});
        int threads = THREADS + FairWorkers.spareThreads(THREADS);
        holdByManyTenants(threads);
        assertThat(active()).isEqualTo(threads);

        allCallsOfAnotherSucceed();
    }

    /**
     * If the processors are busy, a new spare thread may start only after the call has waited too long in the queue.
     */
    @Test
    void callWaitsForAThreadOfTheReserveThatStartsLate() throws Exception {
        AtomicBoolean late = new AtomicBoolean();
        Semaphore starting = new Semaphore(0);
        Semaphore started = new Semaphore(0);
        ThreadFactory factory = work -> new Thread(() -> {
            if (late.get()) {
                starting.release();
                started.acquireUninterruptibly();
            }
            work.run();
        });
        serve(settings -> settings.threads(factory, Duration.ofMinutes(1)));
        int threads = THREADS + FairWorkers.spareThreads(THREADS);
        holdByManyTenants(threads);
        late.set(true);
        Work other = tenant();
        Future<String> call = callers.submit(() -> other.quick("served"));
        assertThat(starting.tryAcquire(30, TimeUnit.SECONDS)).isTrue();
        await("the call is admitted", () -> inside() == threads + 1);

        now.addAndGet(TimeUnit.MILLISECONDS.toNanos(60));
        transport.sweep();
        started.release(1_000);

        assertThat(call).succeedsWithin(Duration.ofSeconds(30)).isEqualTo("served");
        assertThat(refused(Refusal.WAIT)).isZero();
    }

    @Test
    void otherMethodsRunWithoutAPermitWhileManyTenantsHoldAllThreadsInOneMethod() throws Exception {
        serve(settings -> settings.limit(() -> new FixedLimit(THREADS)));
        holdByManyTenants(THREADS);

        allCallsOfAnotherSucceed();

        assertThat(inside()).isEqualTo(THREADS);
    }

    /** A limit that measurements have reduced to half of the number of threads. */
    private static final class ReducedLimit implements Limit {

        private volatile int first = THREADS / 2; // the limit before the first measurement

        @Override
        public int first() {
            return first;
        }

        @Override
        public int next(Window seen) {
            return THREADS / 2;
        }

        @Override
        public int enough() {
            return THREADS / 2;
        }

        @Override
        public String describe() {
            return "reduced";
        }
    }

    private void serveWithReducedLimit() {
        ReducedLimit limit = new ReducedLimit();
        serve(settings -> settings.limit(() -> limit));
        limit.first = 10 * THREADS;
    }

    @Test
    void otherMethodsRunWhileManyTenantsUseUpAReducedLimit() throws Exception {
        serveWithReducedLimit();
        holdByManyTenants(THREADS / 2);

        allCallsOfAnotherSucceed();

        assertThat(inside()).isEqualTo(THREADS / 2);
    }

    @Test
    void methodThatUsesUpAReducedLimitGetsNoneOfTheReserve() throws Exception {
        serveWithReducedLimit();
        holdByManyTenants(THREADS / 2);

        Work another = tenant();
        assertRefused(() -> another.hold("one too many"));
    }

    @Test
    void fixedLimitBelowTheNumberOfThreadsIsNotExceeded() throws Exception {
        serve(settings -> settings.limit(() -> new FixedLimit(THREADS / 2)));
        holdByManyTenants(THREADS / 2);

        Work another = tenant();
        assertRefused(() -> another.quick("one too many"));
    }

    private void assertRefused(Callable<String> call) {
        Future<?> refused = callers.submit(call);

        assertThat(refused)
                .failsWithin(Duration.ofSeconds(30))
                .withThrowableOfType(ExecutionException.class)
                .withMessageContaining("the call was refused");
        assertThat(active()).isEqualTo(THREADS / 2);
    }

    @Test
    void numberOfUnfinishedCallsWithoutAPermitIsLimited() throws Exception {
        serve(settings -> settings.limit(() -> new FixedLimit(THREADS)));
        holdByManyTenants(THREADS);
        int most = 2 * MethodReserve.threads(THREADS);
        for (int i = 0; i < most; i++) {
            Work asynchronous = tenant();
            asynchronous.later("unfinished").isDone();
            assertThat(worker.holding.tryAcquire(30, TimeUnit.SECONDS)).isTrue();
            await("its worker has left", () -> active() == THREADS);
        }
        Work another = tenant();

        CompletableFuture<String> refused = another.later("one too many");

        assertThat(refused)
                .failsWithin(Duration.ofSeconds(30))
                .withThrowableOfType(ExecutionException.class)
                .withMessageContaining("the call was refused");
        assertThat(inside()).isEqualTo(THREADS);
        worker.answer.complete("at last");
        await("there is room again", () -> tenant().quick("served").equals("served"));
    }

    @Test
    void methodThatHoldsAllThreadsGetsNoneOfTheReserve() throws Exception {
        serve(settings -> {});
        holdByManyTenants(THREADS + FairWorkers.spareThreads(THREADS));
        Work another = tenant();

        callers.submit(() -> another.hold("queued"));

        await("it is refused because it has waited", () -> {
            now.addAndGet(TimeUnit.MILLISECONDS.toNanos(60));
            transport.sweep();
            return refused(Refusal.WAIT) > 0;
        });
    }

    @Test
    void otherMethodsRunWhileTheCallersOfTheBlockedMethodHaveDisconnected() throws Exception {
        serve(settings -> {});
        List<Future<?>> expired = holdByManyTenants(THREADS + FairWorkers.spareThreads(THREADS));
        now.addAndGet(Duration.ofHours(2).toNanos());
        transport.sweep(); // sweep() makes calls fail after their deadline, even if their methods are still running.
        await("their callers know", () -> expired.stream().allMatch(Future::isDone));

        allCallsOfAnotherSucceed();
    }
}
