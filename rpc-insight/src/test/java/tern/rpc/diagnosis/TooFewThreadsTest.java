package tern.rpc.diagnosis;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import tern.rpc.Phase;
import tern.rpc.diagnosis.cause.Cause;
import tern.rpc.diagnosis.sample.TaskWatch;
import tern.rpc.diagnosis.stack.ThreadSnapshot;
import tern.rpc.pool.OutsideOperations;
import tern.rpc.pool.PoolKind;
import tern.rpc.pool.PoolSnapshot;

/**
 * Tests calls waiting for tasks of an executor that Tern does not measure and whose threads are all busy. Twenty calls
 * per second wait for 400 ms each. In most tests, the executor has one thread, so the work for a call takes 50 ms.
 */
class TooFewThreadsTest {

    private static final String METHOD = "Desk.quote";
    private static final String SMALL = "EXECUTOR TOO SMALL: ";
    private static final String WORKER = "java.util.concurrent.ThreadPoolExecutor$Worker/run";

    private static final String[] REMOTE = {
        "jdk.internal.misc.Unsafe/park",
        "java.util.concurrent.CompletableFuture/get",
        "tern.rpc.client.WaitingCaller/await",
        "tern.rpc.client.ServiceProxy/call",
        "tern.rpc.client.ServiceProxy/invoke",
        "jdk.proxy2.$Proxy88/price",
        "shop.Desk/ask",
        WORKER
    };
    private static final String[] UNMEASURED = {
        "sun.nio.ch.NioSocketImpl/park",
        "org.apache.hc.client5.http.impl.classic.CloseableHttpClient/execute",
        "shop.Desk/ask",
        WORKER
    };
    private static final String[] IDLE = {
        "jdk.internal.misc.Unsafe/park", "java.util.concurrent.LinkedBlockingQueue/take", WORKER
    };

    private final TaskWatch tasks = new TaskWatch();
    private final SampledCalls calls = new SampledCalls().tasks(tasks);

    @AfterEach
    void forget() {
        OutsideOperations.clear();
    }

    private static StackTraceElement[] stack(String... frames) {
        return Stream.of(frames)
                .map(frame -> frame.split("/"))
                .map(parts -> new StackTraceElement(parts[0], parts[1], null, 7))
                .toArray(StackTraceElement[]::new);
    }

    /** Adds samples of a thread of an executor. */
    private void looks(String thread, long id, String... frames) {
        for (int look = 0; look < 8; look++) {
            tasks.add(new ThreadSnapshot(thread, id, Thread.State.WAITING, stack(frames), null, null, -1, -1));
        }
    }

    private Cause first(String... waitsIn) {
        String[] frames = Stream.concat(
                        Stream.of("jdk.internal.misc.Unsafe/park"),
                        waitsIn.length == 0
                                ? Stream.of("java.util.concurrent.CompletableFuture/join", "shop.Desk/quote")
                                : Stream.of(waitsIn))
                .toArray(String[]::new);
        ThreadSnapshot thread =
                new ThreadSnapshot("http-1", 1, Thread.State.WAITING, stack(frames), null, null, -1, -1);
        return calls.calls(METHOD, Phase.OWN, 400, samples -> samples.add(SampledCalls.sample(Phase.OWN, thread)))
                .during(1)
                .causes()
                .get(0);
    }

    private String title(String... waitsIn) {
        return DiagnosisText.title(first(waitsIn));
    }

    @Test
    void tasksWithRemoteCallsOfUsualTimeNeedMoreThreads() {
        looks("pool-3-thread-1", 9, REMOTE);
        calls.usuallyOwn(METHOD, 52, 60).remoteOutside("PriceService.price", 50, 49);

        Cause first = first();

        assertThat(DiagnosisText.title(first)).isEqualTo(SMALL + "pool-3-thread");
        // 60 calls per second that keep a thread busy for 50 ms each keep three threads busy
        assertThat(first.change().text())
                .startsWith("use about 7 threads instead of 1, or shorter tasks, for the executor whose threads")
                .contains("Desk.ask");
        assertThat(first.evidence())
                .contains("usual    PriceService.price takes 50 ms, usually 49 ms")
                .contains("a call   keeps a thread busy for about 50 ms; calls usually wait and compute for 52 ms");
    }

    @Test
    void tasksWhoseRemoteCallsHaveBecomeSlowerAreSlow() {
        looks("pool-3-thread-1", 9, REMOTE);
        calls.usuallyOwn(METHOD, 52, 20).remoteOutside("PriceService.price", 50, 10);

        Cause first = first();

        assertThat(DiagnosisText.title(first)).startsWith("PEER: ");
        assertThat(first.change().text()).contains("the provider of PriceService.price, called in Desk.ask");
        assertThat(first.evidence()).contains("slower   PriceService.price takes 50 ms, usually 10 ms");
    }

    @Test
    void measuredExecutorThatIsFullOfSlowerRemoteCallsIsAConsequenceOfTheirProvider() {
        String[] finding = REMOTE.clone();
        finding[6] = "refs.Finder/find"; // another class than the one in which calls wait
        looks("refs-1", 9, finding);
        calls.pool(
                        PoolSnapshot.builder("refs", PoolKind.EXECUTOR, 1)
                                .now(1, 0, 30)
                                .counts(10, 0)
                                .sums(Duration.ZERO, Duration.ofMillis(9_500))
                                .settings(List.of())
                                .build(),
                        6)
                .usuallyOwn(METHOD, 5, 20)
                .remoteOutside("PriceService.price", 950, 6);

        assertThat(title()).startsWith("PEER: ");
    }

    @Test
    void slowerRemoteCallsOfOtherThreadsDoNotMakeTheTasksSlow() {
        looks("pool-3-thread-1", 9, REMOTE);
        calls.usuallyOwn(METHOD, 52, 20)
                .remoteOutside("PriceService.price", 50, 49)
                .remoteOutside("StockService.reserve", 500, 10);

        assertThat(title()).isEqualTo(SMALL + "pool-3-thread");
    }

    @Test
    void tasksThatWaitForTheFutureOfARemoteCallAreComparedWithAllRemoteCalls() {
        looks(
                "pool-3-thread-1",
                9,
                "jdk.internal.misc.Unsafe/park",
                "java.util.concurrent.CompletableFuture/join",
                "tern.rpc.client.CallFuture/join",
                "shop.Desk/ask",
                WORKER);
        calls.usuallyOwn(METHOD, 52, 20).remoteOutside("PriceService.price", 50, 49);

        assertThat(title()).isEqualTo(SMALL + "pool-3-thread");
    }

    @Test
    void tasksOfUnknownUsualTimeNeedMoreThreadsIfCallsUsuallyWaitAsLongAsATaskTakes() {
        looks("pool-3-thread-1", 9, UNMEASURED);
        calls.usuallyOwn(METHOD, 45, 20);

        assertThat(title()).isEqualTo(SMALL + "pool-3-thread");
    }

    @Test
    void tasksThatTakeMuchLongerThanCallsUsuallyWaitAreSlow() {
        looks("pool-3-thread-1", 9, UNMEASURED);
        calls.usuallyOwn(METHOD, 10, 20);

        assertThat(title()).startsWith("SLOW HTTP PEER: ");
    }

    @Test
    void severalTasksOfACallNeedMoreThreads() {
        looks("pool-3-thread-1", 9, REMOTE);
        // 5 calls per second that submit eight tasks of 25 ms each
        calls.usuallyOwn(METHOD, 25, 5).remoteOutside("PriceService.price", 25, 25);
        ThreadSnapshot thread = new ThreadSnapshot(
                "http-1",
                1,
                Thread.State.WAITING,
                stack("java.util.concurrent.CompletableFuture/join", "shop.Desk/quote"),
                null,
                null,
                -1,
                -1);

        Cause first = calls.calls(
                        METHOD, Phase.OWN, 400, samples -> samples.add(SampledCalls.sample(Phase.OWN, thread)))
                .during(4)
                .causes()
                .get(0);

        assertThat(DiagnosisText.title(first)).isEqualTo(SMALL + "pool-3-thread");
    }

    @ParameterizedTest
    @CsvSource({
        "java.util.concurrent.FutureTask/get, shop.Desk/quote",
        "java.util.concurrent.ForkJoinTask/join, shop.Desk/quote",
        "java.util.concurrent.CountDownLatch/await, shop.Desk/quote",
        "java.util.concurrent.AbstractExecutorService/invokeAll, shop.Desk/quote",
        "java.util.concurrent.ExecutorCompletionService/take, shop.Desk/quote",
        "reactor.core.publisher.BlockingSingleSubscriber/blockingGet, shop.Desk/quote",
        "java.util.concurrent.CompletableFuture/join, shop.Futures/all",
        "java.util.concurrent.CompletableFuture/get, shop.web.DeskController/quote"
    })
    void eachWaitForAResultFindsTheExecutor(String called, String innermost) {
        looks("pool-3-thread-1", 9, REMOTE);
        calls.usuallyOwn(METHOD, 52, 20).remoteOutside("PriceService.price", 50, 49);

        assertThat(title(called, innermost, "shop.Desk/handle")).isEqualTo(SMALL + "pool-3-thread");
    }

    @ParameterizedTest
    @CsvSource({
        "pool-3-thread-1, java.util.concurrent.ThreadPoolExecutor$Worker/run, pool-3-thread",
        "ForkJoinPool-2-worker-1, java.util.concurrent.ForkJoinWorkerThread/run, ForkJoinPool-2",
        "quotes-1, java.util.concurrent.ThreadPoolExecutor$Worker/run, quotes",
        "scheduling-1, java.util.concurrent.ThreadPoolExecutor$Worker/run, scheduling",
        "boundedElastic-1, java.util.concurrent.ThreadPoolExecutor$Worker/run, boundedElastic"
    })
    void eachKindOfExecutorMayHaveTooFewThreads(String thread, String runs, String name) {
        String[] frames = REMOTE.clone();
        frames[frames.length - 1] = runs;
        looks(thread, 9, frames);
        calls.usuallyOwn(METHOD, 52, 20).remoteOutside("PriceService.price", 50, 49);

        assertThat(title()).isEqualTo(SMALL + name);
    }

    @Test
    void virtualThreadsThatWaitForAPermitNeedMorePermits() {
        for (int waiting = 0; waiting < 7; waiting++) {
            virtual(
                    20 + waiting,
                    "java.util.concurrent.locks.LockSupport/park",
                    "java.util.concurrent.Semaphore/acquire",
                    "shop.Desk/ask",
                    "java.lang.VirtualThread/run");
        }
        String[] frames = REMOTE.clone();
        frames[frames.length - 1] = "java.lang.VirtualThread/run";
        virtual(9, frames);
        calls.usuallyOwn(METHOD, 52, 20).remoteOutside("PriceService.price", 50, 49);

        Cause first = first();

        assertThat(DiagnosisText.title(first)).startsWith("LOCK: Semaphore");
        assertThat(first.change().text()).contains("permit");
    }

    private void virtual(long id, String... frames) {
        for (int look = 0; look < 8; look++) {
            tasks.addVirtual(new ThreadSnapshot("", id, Thread.State.WAITING, stack(frames), null, null, -1, -1));
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"idle", "usual"})
    void threadsThatAreOftenIdleAreEnough(String other) {
        looks("pool-3-thread-1", 9, REMOTE);
        looks("pool-3-thread-2", 10, IDLE);
        calls.usuallyOwn(METHOD, 52, 20).remoteOutside("PriceService.price", 50, other.equals("idle") ? 10 : 49);

        assertThat(title()).doesNotStartWith(SMALL);
    }
}
