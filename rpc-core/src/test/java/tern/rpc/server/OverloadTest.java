package tern.rpc.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.opentest4j.IncompleteExecutionException;
import org.slf4j.LoggerFactory;
import tern.rpc.RpcException;
import tern.rpc.RpcException.Executed;
import tern.rpc.ServiceDescriptor;
import tern.rpc.StatusCode;
import tern.rpc.client.RpcClient;
import tern.rpc.client.ServiceReference;
import tern.rpc.endpoint.Endpoint;
import tern.rpc.endpoint.StaticEndpoints;
import tern.rpc.limit.FixedLimit;
import tern.rpc.limit.Refusal;
import tern.rpc.transport.InMemoryTransport;

/**
 * Tests which calls an overloaded server refuses, and which messages it sends. Also tests that the server leaks no
 * resources.
 */
class OverloadTest extends MeteredServer {

    public interface Work {

        String hold(String name);

        String quick(String name);

        CompletableFuture<String> later(String name);

        String fails(String name);

        String quotes(String argument);
    }

    /** A critical service, which must answer under any load. */
    public interface Probe {

        String ask();
    }

    private static final class Worker implements Work {

        private final Semaphore holding = new Semaphore(0);
        private final CountDownLatch release = new CountDownLatch(1);
        private final AtomicInteger ran = new AtomicInteger();
        private final CompletableFuture<String> answer = new CompletableFuture<>();

        @Override
        public String hold(String name) {
            holding.release();
            try {
                if (!release.await(30, TimeUnit.SECONDS)) {
                    throw new IllegalStateException("nobody let it go");
                }
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
            return name;
        }

        @Override
        public String quick(String name) {
            ran.incrementAndGet();
            return name;
        }

        @Override
        public CompletableFuture<String> later(String name) {
            holding.release();
            return answer;
        }

        @Override
        public String fails(String name) {
            throw new UnsupportedOperationException(name);
        }

        @Override
        public String quotes(String argument) {
            // An exception whose class is unknown to callers.
            throw new IncompleteExecutionException("cannot read " + argument);
        }
    }

    private final Worker worker = new Worker();
    private final ExecutorService callers = Executors.newCachedThreadPool();
    private final List<Future<?>> held = new ArrayList<>();
    private @Nullable RpcClient client;

    private Work serve(Consumer<RpcServer.Builder> settings) {
        start(ServiceExport.of(Work.class, worker), settings);
        client = RpcClient.builder()
                .transport(transport)
                .clock(now::get)
                .timeout(Duration.ofSeconds(10))
                .build();
        return refer(Work.class);
    }

    private <T> T refer(Class<T> type) {
        return Objects.requireNonNull(client)
                .refer(ServiceReference.to(type, new StaticEndpoints(List.of(new Endpoint("memory", 0))))
                        .protocol(InMemoryTransport.PROTOCOL)
                        .build());
    }

    @AfterEach
    void stop() throws Exception {
        worker.release.countDown();
        worker.answer.complete("at last");
        for (Future<?> call : held) {
            call.get(30, TimeUnit.SECONDS);
        }
        Objects.requireNonNull(client).close();
        server().close();
        callers.shutdownNow();
        assertThat(callers.awaitTermination(30, TimeUnit.SECONDS)).isTrue();
    }

    private <T> Future<T> hold(Callable<T> call) throws InterruptedException {
        Future<T> begun = callers.submit(call);
        held.add(begun);
        assertThat(worker.holding.tryAcquire(30, TimeUnit.SECONDS)).isTrue();
        return begun;
    }

    /**
     * Waits until the given number of calls is queued. The number of admitted calls would not show this, because a call
     * is counted as admitted shortly before it is queued.
     */
    private void awaitQueued(int calls) {
        await(calls + " are in the queue", () -> server().workers().queued() == calls);
    }

    private static RpcException refusalOf(Runnable call) {
        RpcException failure = catchThrowableOfType(RpcException.class, call::run);
        assertThat(failure.code()).isEqualTo(StatusCode.RESOURCE_EXHAUSTED);
        assertThat(failure.wasExecuted()).isEqualTo(Executed.NO);
        assertThat(failure.getStackTrace()).isEmpty();
        return failure;
    }

    @Test
    void limitOfTheServerRefusesNamingItsProperty() throws Exception {
        Work work = serve(settings -> settings.workers(4, 4).limit(() -> new FixedLimit(2)));
        hold(() -> work.hold("one"));
        hold(() -> work.hold("two"));

        RpcException failure = refusalOf(() -> work.quick("three"));

        assertThat(failure).hasMessageContaining("the limit is 2").hasMessageContaining("rpc.server.max-concurrency");
        assertThat(refused(Refusal.LIMIT)).isEqualTo(1);
        assertThat(worker.ran.get()).isZero();
    }

    @Test
    void limitOfTheServerChangesWhileItRuns() throws Exception {
        Work work = serve(settings -> settings.workers(4, 4).limit(() -> new FixedLimit(2)));
        ServerControls controls = server().controls();
        hold(() -> work.hold("one"));
        hold(() -> work.hold("two"));

        controls.limit(new FixedLimit(3));
        assertThat(work.quick("three")).isEqualTo("three");
        controls.limit(new FixedLimit(1, "a rule"));
        assertThat(refusalOf(() -> work.quick("four"))).hasMessageContaining("the limit is 1 (fixed, set by a rule)");
        controls.limit(null);
        assertThat(work.quick("five")).isEqualTo("five");
    }

    @Test
    void limitOfAMethodIsAddedChangedAndRemovedWhileTheServerRuns() throws Exception {
        Work work = serve(settings -> settings.workers(4, 4));
        ServerControls controls = server().controls();
        hold(() -> work.hold("one"));

        controls.limit(Work.class.getName(), "hold", new FixedLimit(1));
        hold(() -> work.hold("two"));
        assertThat(refusalOf(() -> work.hold("three")))
                .hasMessageContaining("set by rpc.server.services.<name>.methods.hold.max-concurrency");
        controls.limit(Work.class.getName(), "hold", new FixedLimit(2));
        hold(() -> work.hold("four"));
        controls.limit(Work.class.getName(), "hold", null);
        assertThat(work.quick("another method")).isEqualTo("another method");

        worker.release.countDown();
        for (Future<?> call : held) {
            call.get(30, TimeUnit.SECONDS);
        }
        assertThat(work.hold("five")).isEqualTo("five");
        assertThatThrownBy(() -> controls.limit(Work.class.getName(), "unknown", new FixedLimit(1)))
                .hasMessageContaining("unknown, which is not exported");
    }

    @Test
    void waitForAWorkerChangesWhileTheServerRuns() throws Exception {
        Work work = serve(settings -> settings.workers(1, 4));
        server().controls().maxQueueWait(Duration.ofMillis(20));
        hold(() -> work.hold("running"));
        Future<RpcException> queued =
                callers.submit(() -> catchThrowableOfType(RpcException.class, () -> work.quick("queued")));
        awaitQueued(1);

        now.addAndGet(Duration.ofMillis(30).toNanos());
        transport.sweep();

        assertThat(queued.get(30, TimeUnit.SECONDS)).hasMessageContaining("20 ms");
    }

    @Test
    void placesAreReleasedAtAnyEndOfACall() throws Exception {
        Work work = serve(settings -> settings.workers(1, 4).limit(() -> new FixedLimit(3)));
        work.quick("answered");
        assertThatThrownBy(() -> work.fails("failed")).isInstanceOf(UnsupportedOperationException.class);
        hold(() -> work.hold("running"));
        Future<RpcException> queued =
                callers.submit(() -> catchThrowableOfType(RpcException.class, () -> work.quick("queued")));
        awaitQueued(1);

        now.addAndGet(Duration.ofMillis(60).toNanos());
        transport.sweep();

        assertThat(queued.get(30, TimeUnit.SECONDS)).hasMessageContaining("50 ms");
        assertThat(refused(Refusal.WAIT)).isEqualTo(1);
        await("only the running call is inside", () -> inside() == 1);
        worker.release.countDown();
        await("nobody is inside", () -> inside() == 0);
    }

    @Test
    void permitOfACallerThatLeftTheQueueIsReleased() throws Exception {
        Work work = serve(settings -> settings.workers(1, 4).limit(() -> new FixedLimit(3)));
        hold(() -> work.hold("running"));

        CompletableFuture<String> queued = work.later("queued");
        awaitQueued(1);

        transport.close();

        assertThatThrownBy(queued::join).hasMessageContaining("closed");
        await("only the running call is inside", () -> inside() == 1);
        worker.release.countDown();
        await("nobody is inside", () -> inside() == 0);
        held.clear(); // The callers have already received their answers, so the futures need no check after the test.
    }

    @Test
    void callIsRefusedAtItsDeadlineWhileItWaitsAndIsNeverRun() throws Exception {
        Work work = serve(settings -> settings.workers(1, 4).maxQueueWait(Duration.ofMinutes(1)));
        hold(() -> work.hold("running"));
        Future<RpcException> queued =
                callers.submit(() -> catchThrowableOfType(RpcException.class, () -> work.quick("queued")));
        awaitQueued(1);

        now.addAndGet(Duration.ofSeconds(10).toNanos());
        transport.sweep();

        RpcException failure = queued.get(30, TimeUnit.SECONDS);
        assertThat(failure.code()).isEqualTo(StatusCode.DEADLINE_EXCEEDED);
        assertThat(refused(Refusal.DEADLINE)).isEqualTo(1);
        worker.release.countDown();
        await("nobody is inside", () -> inside() == 0);
        assertThat(worker.ran.get()).isZero();
        held.clear(); // The call failed at its deadline, so its future needs no check after the test.
    }

    @Test
    void limitOfAMethodLeavesOtherMethodsAlone() throws Exception {
        String service = ServiceDescriptor.of(Work.class).name();
        Work work = serve(settings -> settings.limit(service, "hold", () -> new FixedLimit(1)));
        hold(() -> work.hold("one"));

        RpcException failure = refusalOf(() -> work.hold("two"));

        assertThat(failure).hasMessageContaining("1 of 1").hasMessageContaining("methods.hold.max-concurrency");
        assertThat(refused(Refusal.METHOD)).isEqualTo(1);
        assertThat(work.quick("three")).isEqualTo("three");
        worker.release.countDown();
        await("the place is free again", () -> {
            try {
                return work.hold("four").equals("four");
            } catch (RpcException e) {
                return false;
            }
        });
    }

    @Test
    void asynchronousCallHoldsThePlaceOfItsMethodUntilItIsCompleted() throws Exception {
        String service = ServiceDescriptor.of(Work.class).name();
        Work work = serve(settings -> settings.limit(service, "later", () -> new FixedLimit(1)));
        hold(() -> work.later("one").join());
        await("its worker has left", () -> server().workers().active() == 0);

        assertThatThrownBy(() -> work.later("two").join()).hasMessageContaining("1 of 1");

        worker.answer.complete("done");
        await("the place is free again", () -> {
            try {
                return work.later("three").join().equals("done");
            } catch (RuntimeException e) {
                return false;
            }
        });
    }

    @Test
    void asynchronousCallHoldsItsPlaceUntilItIsCompleted() throws Exception {
        Work work = serve(settings -> settings.limit(() -> new FixedLimit(2)));
        hold(() -> work.later("one").join());
        hold(() -> work.later("two").join());
        await("workers have left", () -> server().workers().active() == 0);

        assertThat(inside()).isEqualTo(2);
        refusalOf(() -> work.quick("three"));

        worker.answer.complete("done");
        await("nobody is inside", () -> inside() == 0);
        assertThat(work.quick("four")).isEqualTo("four");
    }

    @Test
    void asynchronousCallGivesItsPlaceBackAtItsDeadline() throws Exception {
        Work work = serve(settings -> settings.limit(() -> new FixedLimit(2)));
        CompletableFuture<String> call = work.later("one");
        assertThat(worker.holding.tryAcquire(30, TimeUnit.SECONDS)).isTrue();
        await("its worker has left", () -> server().workers().active() == 0);

        now.addAndGet(Duration.ofSeconds(10).toNanos());
        transport.sweep();

        assertThatThrownBy(call::join).hasMessageContaining("still running after 10000 ms");
        await("nobody is inside", () -> inside() == 0);
        worker.answer.complete("too late");
        assertThat(inside()).isZero();
    }

    @Test
    void asynchronousCallsBeyondTheThreadsAreNoQueue() throws Exception {
        Work work = serve(settings -> settings.workers(2, 2));
        for (int i = 0; i < 100; i++) {
            work.later("call").isDone();
            assertThat(worker.holding.tryAcquire(30, TimeUnit.SECONDS)).isTrue();
        }

        await("all wait without a worker", () -> inside() == 100);
        assertThat(work.quick("one more")).isEqualTo("one more");
        worker.answer.complete("done");
        await("nobody is inside", () -> inside() == 0);
    }

    @Test
    void limitOfAMethodThatIsNotExportedStopsTheStart() {
        serve(settings -> {});

        assertThatThrownBy(() -> RpcServer.builder(transport)
                        .export(ServiceExport.of(Work.class, worker))
                        .limit(ServiceDescriptor.of(Work.class).name(), "unknown", () -> new FixedLimit(1))
                        .build())
                .hasMessageContaining("unknown");
    }

    @Test
    void criticalServiceAnswersWhileAllWorkersAreBusyAndTheQueueIsFull() throws Exception {
        ServiceExport probe = ServiceExport.of(Probe.class, (Probe) () -> "alive");
        Work work = serve(settings -> settings.workers(1, 1)
                .export(new ServiceExport(probe.service(), probe.key(), probe.bodies(), probe.weight(), true)));
        hold(() -> work.hold("running"));
        held.add(callers.submit(() -> work.hold("queued")));
        awaitQueued(1);
        refusalOf(() -> work.quick("refused"));

        assertThat(refer(Probe.class).ask()).isEqualTo("alive");
    }

    @Test
    void tracesOfAMethodThatAlwaysFailsAreHeldBack() {
        try (Logged logged = new Logged()) {
            Work work = serve(settings -> {});
            for (int i = 0; i < 100; i++) {
                assertThatThrownBy(() -> work.fails("always")).isInstanceOf(UnsupportedOperationException.class);
            }
            now.addAndGet(Duration.ofSeconds(1).toNanos());
            assertThatThrownBy(() -> work.fails("again")).isInstanceOf(UnsupportedOperationException.class);

            assertThat(logged.events.list).hasSize(2);
            assertThat(logged.events.list.get(1).getFormattedMessage()).contains("99 more");
        }
    }

    @Test
    void argumentInTheMessageOfAnExceptionForgesNoLineOfTheLog() {
        try (Logged logged = new Logged()) {
            Work work = serve(settings -> {});
            for (int i = 0; i < 2; i++) { // The server logs the first failure with its stack trace, but not the second.
                assertThatThrownBy(() -> work.quotes("1\n2026-01-01 ERROR forged"))
                        .isInstanceOf(RuntimeException.class);
            }

            assertThat(logged.events.list).hasSize(2);
            assertThat(logged.events.list.get(1).getFormattedMessage())
                    .contains("cannot read 1", "ERROR forged")
                    .doesNotContain("\n");
        }
    }

    /** Collects the log lines about methods that failed. */
    private static final class Logged implements AutoCloseable {
        private final Logger logger = (Logger) LoggerFactory.getLogger(MethodHandler.class);
        private final ListAppender<ILoggingEvent> events = new ListAppender<>();

        Logged() {
            events.start();
            logger.addAppender(events);
        }

        @Override
        public void close() {
            logger.detachAppender(events);
        }
    }
}
