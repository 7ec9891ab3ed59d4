package tern.rpc.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tern.rpc.RpcException;
import tern.rpc.RpcException.Executed;
import tern.rpc.StatusCode;
import tern.rpc.StreamObserver;
import tern.rpc.client.RpcClient;
import tern.rpc.client.ServiceReference;
import tern.rpc.endpoint.Endpoint;
import tern.rpc.endpoint.StaticEndpoints;
import tern.rpc.limit.FixedLimit;
import tern.rpc.limit.Refusal;
import tern.rpc.metrics.RpcMeter;
import tern.rpc.metrics.RpcMeters;
import tern.rpc.metrics.Slo;
import tern.rpc.serialization.JdkSerializer;
import tern.rpc.transport.InMemoryTransport;

/**
 * Tests that tenants whose methods do not return cannot occupy all method threads or all stream threads.
 */
class SlowTenantsTest {

    private static final int THREADS = 40;
    private static final int QUEUE = 30;
    private static final String SMALL = "small";

    /** The service that the tests call. */
    public interface Work {

        String hold(String name);

        String quick(String name);

        CompletableFuture<String> later(String name);

        /** Blocks on each request until the test releases it. */
        StreamObserver<String> holdEach(StreamObserver<String> answers);

        /** Answers each request. */
        StreamObserver<String> echoEach(StreamObserver<String> answers);
    }

    private static final class Worker implements Work {

        private final Semaphore holding = new Semaphore(0);
        private final Semaphore streams = new Semaphore(0);
        private final Semaphore release = new Semaphore(0);
        private final Semaphore releaseSmall = new Semaphore(0);
        private final CompletableFuture<String> answer = new CompletableFuture<>();

        @Override
        public String hold(String name) {
            holding.release();
            (name.equals(SMALL) ? releaseSmall : release).acquireUninterruptibly();
            return name;
        }

        @Override
        public String quick(String name) {
            return name;
        }

        @Override
        public CompletableFuture<String> later(String name) {
            holding.release();
            return answer;
        }

        @Override
        public StreamObserver<String> holdEach(StreamObserver<String> answers) {
            streams.release();
            return each(answers, this::hold);
        }

        @Override
        public StreamObserver<String> echoEach(StreamObserver<String> answers) {
            return each(answers, this::quick);
        }

        private static StreamObserver<String> each(
                StreamObserver<String> answers, java.util.function.UnaryOperator<String> answer) {
            return new StreamObserver<>() {
                @Override
                public void onNext(String value) {
                    answers.onNext(answer.apply(value));
                }

                @Override
                public void onError(Throwable failure) {
                    answers.onError(failure);
                }

                @Override
                public void onCompleted() {
                    answers.onCompleted();
                }
            };
        }
    }

    private final AtomicLong now = new AtomicLong(1_000);
    private final InMemoryTransport transport = new InMemoryTransport(new JdkSerializer(), now::get);
    private final SimpleMeterRegistry registry = new SimpleMeterRegistry();
    private final Worker worker = new Worker();
    private final ExecutorService callers = Executors.newCachedThreadPool();
    private final List<RpcClient> clients = new ArrayList<>();
    private @Nullable RpcServer server;

    private void serve(Consumer<RpcServer.Builder> settings) {
        RpcServer.Builder builder = RpcServer.builder(transport)
                .export(ServiceExport.of(Work.class, worker))
                .workers(THREADS, QUEUE)
                .clock(now::get)
                .meters(new RpcMeters(registry, Slo.DEFAULT));
        settings.accept(builder);
        server = builder.build();
        server.start();
    }

    /** Creates a client with its own connection, so that it is a separate tenant. */
    private Work tenant() {
        RpcClient client = RpcClient.builder()
                .transport(transport)
                .clock(now::get)
                .timeout(Duration.ofHours(1))
                .build();
        clients.add(client);
        return client.refer(ServiceReference.to(Work.class, new StaticEndpoints(List.of(new Endpoint("memory", 0))))
                .protocol(InMemoryTransport.PROTOCOL)
                .build());
    }

    @AfterEach
    void stop() throws Exception {
        worker.release.release(1_000_000);
        worker.releaseSmall.release(1_000_000);
        worker.answer.complete("at last");
        await("nobody is inside", () -> inside() == 0);
        clients.forEach(RpcClient::close);
        Objects.requireNonNull(server).close();
        callers.shutdownNow();
        assertThat(callers.awaitTermination(30, TimeUnit.SECONDS)).isTrue();
    }

    /** Makes a call whose method does not return, and waits until the method runs. */
    private Future<?> hold(Work tenant) throws InterruptedException {
        Future<?> call = callers.submit(() -> tenant.hold("held"));
        assertThat(worker.holding.tryAcquire(30, TimeUnit.SECONDS)).isTrue();
        return call;
    }

    /** Makes calls while all threads are busy, and waits until the calls are queued. */
    private List<Future<String>> queue(Work tenant, int calls) {
        List<Future<String>> made = new ArrayList<>();
        int before = Objects.requireNonNull(server).workers().queued();
        for (int i = 1; i <= calls; i++) {
            made.add(callers.submit(() -> tenant.hold("queued")));
            int wanted = before + i;
            await("it waits", () -> Objects.requireNonNull(server).workers().queued() == wanted);
        }
        return made;
    }

    private <T> T inTime(Callable<T> call) throws Exception {
        return callers.submit(call).get(10, TimeUnit.SECONDS);
    }

    /** Advances the clock until the queued calls have waited longer than the server allows. */
    private void waitInVain() {
        now.addAndGet(TimeUnit.MILLISECONDS.toNanos(60));
        transport.sweep();
        await("nobody waits", () -> refused(Refusal.WAIT) > 0 && inside() == THREADS);
    }

    private double refused(Refusal reason) {
        return registry.get(RpcMeter.SERVER_REFUSED.key())
                .tag(RpcMeter.REASON, reason.key())
                .functionCounter()
                .count();
    }

    private double inside() {
        return registry.get(RpcMeter.SERVER_CONCURRENCY.key()).gauge().value();
    }

    private double active() {
        return registry.get(RpcMeter.SERVER_WORKERS_ACTIVE.key()).gauge().value();
    }

    private void allCallsOfAnotherSucceed() throws Exception {
        Work other = tenant();
        for (int i = 0; i < 100; i++) {
            assertThat(inTime(() -> other.quick("served"))).isEqualTo("served");
        }
    }

    @ParameterizedTest
    @CsvSource({"true", "false"})
    void tenantThatHoldsNothingIsServedWhileAnotherHoldsAllThreads(boolean keepsThreads) throws Exception {
        serve(settings -> {
            if (!keepsThreads) { // A keep-alive time of zero makes the server behave as if it used virtual threads.
                settings.threads(Thread::new, Duration.ZERO);
            }
        });
        Work flooding = tenant();
        for (int i = 0; i < THREADS; i++) {
            hold(flooding);
        }
        queue(flooding, QUEUE);

        allCallsOfAnotherSucceed();
    }

    @ParameterizedTest
    @CsvSource({"2, 20", "4, 10", "8, 5"})
    void tenantThatHoldsNothingIsServedWhileSeveralHoldAllThreads(int tenants, int each) throws Exception {
        serve(settings -> {});
        List<Work> flooding = new ArrayList<>();
        for (int i = 0; i < tenants; i++) {
            Work tenant = tenant();
            flooding.add(tenant);
            for (int j = 0; j < each; j++) {
                hold(tenant);
            }
        }
        for (int i = 0; i < 3; i++) {
            flooding.forEach(tenant -> callers.submit(() -> tenant.hold("more")));
        }
        await("most of them wait", () -> inside() == THREADS + 3 * tenants || refused(Refusal.QUEUE) > 0);

        allCallsOfAnotherSucceed();
    }

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

    @Test
    void otherMethodsRunWithoutAPermitWhileManyTenantsHoldAllThreadsInOneMethod() throws Exception {
        serve(settings -> settings.limit(() -> new FixedLimit(THREADS)));
        holdByManyTenants(THREADS);

        allCallsOfAnotherSucceed();

        assertThat(inside()).isEqualTo(THREADS);
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
        transport.sweep(); // The sweep fails the expired calls while their methods are still running.
        await("their callers know", () -> expired.stream().allMatch(Future::isDone));

        allCallsOfAnotherSucceed();
    }

    @Test
    void callsOfDisconnectedCallersCountUntilTheirMethodReturns() throws Exception {
        serve(settings -> {});
        Work flooding = tenant();
        for (int i = 0; i < THREADS; i++) {
            hold(flooding);
        }
        queue(flooding, 1);
        now.addAndGet(Duration.ofHours(2).toNanos());
        transport.sweep(); // The sweep fails the expired calls while their methods are still running.
        await("nobody waits", () -> inside() == THREADS);

        callers.submit(() -> flooding.hold("one more"));
        await("it waits", () -> inside() == THREADS + 1);

        allCallsOfAnotherSucceed();
    }

    @Test
    void tenantAloneGetsNoSpareThreads() throws Exception {
        serve(settings -> {});
        Work alone = tenant();
        for (int i = 0; i < THREADS; i++) {
            hold(alone);
        }

        List<Future<String>> waiting = queue(alone, QUEUE);

        assertThat(active()).isEqualTo(THREADS);
        worker.release.release(THREADS + QUEUE);
        for (Future<String> each : waiting) {
            assertThat(each.get(10, TimeUnit.SECONDS)).isEqualTo("queued");
        }
    }

    @Test
    void callsThatWaitWithoutAThreadLeaveTheirTenantItsSpareThreads() throws Exception {
        serve(settings -> {});
        Work flooding = tenant();
        Work asynchronous = tenant();
        for (int i = 0; i < 60; i++) {
            asynchronous.later("unanswered").isDone();
            assertThat(worker.holding.tryAcquire(30, TimeUnit.SECONDS)).isTrue();
        }
        await("their workers have left", () -> active() == 0);
        for (int i = 0; i < THREADS; i++) {
            hold(flooding);
        }

        assertThat(inTime(() -> asynchronous.quick("served"))).isEqualTo("served");
    }

    @Test
    void floodingTenantMayUseTheQueueWhileOtherCallsSucceed() throws Exception {
        serve(settings -> {});
        Work flooding = tenant();
        for (int i = 0; i < THREADS; i++) {
            hold(flooding);
        }
        allCallsOfAnotherSucceed();

        queue(flooding, 4);

        assertThat(refused(Refusal.SHARE)).isZero();
    }

    @Test
    void threadsThatATenantGivesBackGoToOthersWhileTheyAreInNeed() throws Exception {
        serve(settings -> {});
        Work flooding = tenant();
        for (int i = 0; i < THREADS; i++) {
            hold(flooding);
        }
        queue(flooding, 1);
        waitInVain();
        allCallsOfAnotherSucceed();

        int held = THREADS;
        for (; held > 0; held--) {
            RpcException refused = refusalOf(flooding, held);
            if (refused == null) {
                break; // The server has accepted the call.
            }
            assertThat(refused.code()).isEqualTo(StatusCode.RESOURCE_EXHAUSTED);
            assertThat(refused.wasExecuted()).isEqualTo(Executed.NO);
            assertThat(refused).hasMessageContaining("holds " + held).hasMessageContaining("rpc.server.threads");
            worker.release.release();
            int left = held - 1;
            await("one has left", () -> inside() == left);
        }

        assertThat(held).as("two thirds of all threads").isBetween(30, 35);
        assertThat(refused(Refusal.SHARE)).isEqualTo(THREADS - held);
    }

    private @Nullable RpcException refusalOf(Work tenant, int held) throws Exception {
        Future<RpcException> call = callers.submit(
                () -> catchThrowableOfType(RpcException.class, () -> tenant.hold("one more than " + held)));
        await("it is refused or runs", () -> call.isDone() || worker.holding.availablePermits() > 0);
        return call.isDone() ? call.get() : null;
    }

    @Test
    void tenantThatHoldsFarLessThanAnotherIsNotRefusedForItsShare() throws Exception {
        serve(settings -> {});
        Work flooding = tenant();
        for (int i = 0; i < THREADS; i++) {
            hold(flooding);
        }
        queue(flooding, 1);
        waitInVain();
        allCallsOfAnotherSucceed();
        Work small = tenant();
        for (int i = 0; i < 5; i++) {
            hold(small);
        }
        // With the last of these calls, the small tenant has more than twice as many calls as there are free threads.
        for (int i = 0; i < 6; i++) {
            callers.submit(() -> small.hold("waits"));
            int all = THREADS + 6 + i;
            await("it waits", () -> inside() == all);
        }

        assertThat(refused(Refusal.SHARE)).isZero();
        assertThat(refusalOf(flooding, THREADS))
                .hasMessageContaining("holds 40 of 51 calls of 2 tenants, and other tenants");
    }

    @ParameterizedTest
    @CsvSource({"false", "true"})
    void burstOfATenantThatIsCrowdedOutWaitsForItsOwnSpareThreadsOrAnIdleThread(boolean othersEnd) throws Exception {
        serve(settings -> {});
        Work flooding = tenant();
        for (int i = 0; i < THREADS; i++) {
            hold(flooding);
        }
        queue(flooding, QUEUE);
        Work small = tenant();
        List<Future<String>> calls = new ArrayList<>();
        for (int i = 0; i < 5; i++) {
            calls.add(callers.submit(() -> small.hold(SMALL)));
            assertThat(worker.holding.tryAcquire(30, TimeUnit.SECONDS)).isTrue();
        }

        calls.add(callers.submit(() -> small.hold(SMALL)));
        await("it waits", () -> inside() == THREADS + QUEUE + 6);
        assertThat(active()).isEqualTo(THREADS + 5);

        if (othersEnd) {
            worker.release.release(THREADS + QUEUE);
            await("the regular threads are idle", () -> inside() == 6 && active() == 5);
            now.addAndGet(TimeUnit.MILLISECONDS.toNanos(60));
            transport.sweep();
            await("it runs", () -> active() == 6);
        } else {
            worker.releaseSmall.release();
            assertThat(worker.holding.tryAcquire(30, TimeUnit.SECONDS)).isTrue();
        }
        worker.releaseSmall.release(6);
        for (Future<String> each : calls) {
            assertThat(each.get(10, TimeUnit.SECONDS)).isEqualTo(SMALL);
        }
        assertThat(refused(Refusal.QUEUE)).isZero();
    }

    @Test
    void tenantMayHoldAllAgainASecondAfterOthersWereInNeed() throws Exception {
        serve(settings -> {});
        Work flooding = tenant();
        for (int i = 0; i < THREADS; i++) {
            hold(flooding);
        }
        queue(flooding, 1);
        waitInVain();
        allCallsOfAnotherSucceed();
        assertThat(refusalOf(flooding, THREADS)).isNotNull();

        now.addAndGet(Duration.ofSeconds(2).toNanos());

        queue(flooding, 1);
        assertThat(refused(Refusal.SHARE)).isEqualTo(1);
    }

    @Test
    void refusalsAndTheMeterNameAllTenantsOfAFlood() throws Exception {
        serve(settings -> {});
        Work one = tenant();
        Work two = tenant();
        for (int i = 0; i < THREADS / 2; i++) {
            hold(one);
            hold(two);
        }
        queue(one, 1);
        queue(two, 1);
        waitInVain();
        allCallsOfAnotherSucceed();

        RpcException refusedOne = refusalOf(one, THREADS / 2);
        RpcException refusedTwo = refusalOf(two, THREADS / 2);

        String both = "memory holds 20 and a connection in memory holds 20 of ";
        assertThat(refusalOf(one, THREADS / 2)).hasMessageContaining(both);
        assertThat(refusedOne).hasMessageContaining("its tenant a connection in memory");
        assertThat(refusedTwo).hasMessageContaining(both);
        FunctionCounter flooded = registry.get(RpcMeter.SERVER_FLOODED.key())
                .tag(RpcMeter.TENANT, "a connection in memory")
                .functionCounter();
        assertThat(flooded.count()).isEqualTo(3);
    }

    private static final class Answers implements StreamObserver<String> {
        private final CompletableFuture<String> first = new CompletableFuture<>();

        @Override
        public void onNext(String value) {
            first.complete(value);
        }

        @Override
        public void onError(Throwable failure) {
            first.completeExceptionally(failure);
        }

        @Override
        public void onCompleted() {
            first.cancel(false);
        }
    }

    @ParameterizedTest
    @CsvSource({"1, 40", "4, 10"})
    void streamsWhoseRequestsAreHeldLeaveThreadsToThoseOfOthers(int tenants, int each) throws Exception {
        serve(settings -> {});
        for (int i = 0; i < tenants; i++) {
            Work flooding = tenant();
            for (int j = 0; j < each; j++) {
                StreamObserver<String> requests = flooding.holdEach(new Answers());
                assertThat(worker.streams.tryAcquire(30, TimeUnit.SECONDS)).isTrue();
                await("its method has returned", () -> active() == 0);
                requests.onNext("held");
                assertThat(worker.holding.tryAcquire(30, TimeUnit.SECONDS)).isTrue();
            }
        }

        for (int i = 0; i < 20; i++) {
            Answers answers = new Answers();
            StreamObserver<String> requests = tenant().echoEach(answers);
            requests.onNext("served");
            assertThat(answers.first.get(10, TimeUnit.SECONDS)).isEqualTo("served");
            requests.onCompleted();
        }
    }

    private interface Condition {
        boolean holds() throws Exception;
    }

    private static void await(String what, Condition condition) {
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(30);
        try {
            while (!condition.holds()) {
                assertThat(System.nanoTime() - end).as(what).isNegative();
                Thread.onSpinWait();
            }
        } catch (Exception e) {
            throw new AssertionError(what, e);
        }
    }
}
