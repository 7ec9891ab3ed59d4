package tern.rpc.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import io.micrometer.core.instrument.FunctionTimer;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Flow;
import java.util.concurrent.SubmissionPublisher;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.slf4j.LoggerFactory;
import tern.rpc.CallLedger;
import tern.rpc.NamedTimes;
import tern.rpc.Phase;
import tern.rpc.RpcException;
import tern.rpc.RunningCall;
import tern.rpc.ServerContext;
import tern.rpc.StatusCode;
import tern.rpc.client.RpcClient;
import tern.rpc.client.ServiceReference;
import tern.rpc.endpoint.Endpoint;
import tern.rpc.endpoint.StaticEndpoints;
import tern.rpc.metrics.RpcMeters;
import tern.rpc.metrics.Slo;
import tern.rpc.metrics.SlowCalls;
import tern.rpc.serialization.JdkSerializer;
import tern.rpc.transport.InMemoryTransport;
import tern.rpc.transport.Items;
import tern.rpc.transport.Probe;

/** Tests the ledgers of served calls through their visible effects: meters, the log, and the list of running calls. */
@Timeout(60)
class LedgerOfCallsTest {

    interface ScheduleService {
        String schedule(int redisGets);

        CompletionStage<String> later();

        String inParts();

        String asks();

        CompletionStage<String> asksLater();

        String waitsForAnswer();

        Flow.Publisher<Integer> stream();

        String blocks();
    }

    interface AuthService {
        String check();

        CompletionStage<String> checkLater();

        String refuse();

        CompletionStage<String> refuseLater();
    }

    private final AtomicLong time = new AtomicLong();
    private final SimpleMeterRegistry registry = new SimpleMeterRegistry();
    private final RpcMeters meters = new RpcMeters(registry, new Slo(500, Duration.ofMillis(100)));
    private final InMemoryTransport transport = new InMemoryTransport(new JdkSerializer(), time::get);
    private final AtomicReference<CompletableFuture<String>> promised = new AtomicReference<>();
    private final AtomicReference<CompletableFuture<String>> checked = new AtomicReference<>();
    private final AtomicReference<String> askedBy = new AtomicReference<>();
    private final AtomicReference<Flow.Publisher<Integer>> streamed = new AtomicReference<>(Items.of(1, 2));
    private final CountDownLatch entered = new CountDownLatch(1);
    private final CountDownLatch released = new CountDownLatch(1);
    private final ListAppender<ILoggingEvent> log = new ListAppender<>();
    private RpcClient client;
    private RpcServer server;
    private ScheduleService schedules;
    private AuthService authority;

    @BeforeEach
    void listen() {
        log.start();
        ((Logger) LoggerFactory.getLogger(SlowCalls.class)).addAppender(log);
        start(true);
    }

    private void start(boolean ledger) {
        client = RpcClient.builder()
                .transport(transport)
                .timeout(Duration.ofMinutes(1))
                .clock(time::get)
                .build();
        authority = reference(AuthService.class);
        schedules = reference(ScheduleService.class);
        server = RpcServer.builder(transport)
                .export(ServiceExport.of(ScheduleService.class, new Schedules()))
                .export(ServiceExport.of(AuthService.class, new Authority()))
                .meters(meters)
                .ledger(ledger)
                .clock(time::get)
                .build();
        server.start();
    }

    private <T> T reference(Class<T> type) {
        return client.refer(ServiceReference.to(type, new StaticEndpoints(List.of(new Endpoint("memory", 0))))
                .protocol(InMemoryTransport.PROTOCOL)
                .build());
    }

    @AfterEach
    void close() {
        released.countDown();
        ((Logger) LoggerFactory.getLogger(SlowCalls.class)).detachAppender(log);
        client.close();
        server.close();
    }

    private void pass(long millis) {
        time.addAndGet(TimeUnit.MILLISECONDS.toNanos(millis));
    }

    private void operation(Phase phase, long millis) {
        CallLedger ledger = CallLedger.current();
        Phase outer = ledger.enter(phase);
        pass(millis);
        ledger.leave(outer);
    }

    private final class Schedules implements ScheduleService {

        @Override
        public String schedule(int redisGets) {
            operation(Phase.JDBC_CONNECTION, 180);
            for (int i = 0; i < 3; i++) {
                operation(Phase.SQL, 20);
            }
            for (int i = 0; i < redisGets; i++) {
                operation(Phase.REDIS, 1);
            }
            pass(12);
            return "done";
        }

        @Override
        public CompletionStage<String> later() {
            pass(2);
            CompletableFuture<String> answer = new CompletableFuture<>();
            promised.set(answer);
            return answer;
        }

        @Override
        public String inParts() {
            CallLedger ledger = CallLedger.current();
            Phase before = ledger.turnTo(Phase.UNATTRIBUTED);
            CompletableFuture.runAsync(ServerContext.current().wrap(() -> operation(Phase.SQL, 30)))
                    .join();
            ledger.turnTo(before);
            return "done";
        }

        @Override
        public String asks() {
            pass(3);
            return authority.check();
        }

        @Override
        public CompletionStage<String> asksLater() {
            return authority.checkLater();
        }

        @Override
        public String waitsForAnswer() {
            CompletableFuture<String> answer = authority.checkLater().toCompletableFuture();
            CompletableFuture.runAsync(() -> {
                awaitTrue(() -> server.runningCalls().stream()
                        .anyMatch(call -> call.method().equals("ScheduleService.waitsForAnswer")
                                && call.phase() == Phase.UNATTRIBUTED));
                awaitTrue(() -> checked.get() != null);
                pass(70);
                checked.get().complete("yes");
            });
            return answer.join();
        }

        @Override
        public Flow.Publisher<Integer> stream() {
            pass(4);
            return streamed.get();
        }

        @Override
        public String blocks() {
            Phase outer = CallLedger.current().enter(Phase.JDBC_CONNECTION);
            entered.countDown();
            try {
                released.await();
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            } finally {
                CallLedger.current().leave(outer);
            }
            return "at last";
        }
    }

    private final class Authority implements AuthService {

        @Override
        public String check() {
            server.runningCalls().stream()
                    .filter(call -> call.method().equals("ScheduleService.asks"))
                    .forEach(call -> askedBy.set(call.ledger().running(Phase.RPC)));
            pass(25);
            return "yes";
        }

        @Override
        public CompletionStage<String> checkLater() {
            CompletableFuture<String> answer = new CompletableFuture<>();
            checked.set(answer);
            return answer;
        }

        @Override
        public String refuse() {
            pass(25);
            throw new RpcException(StatusCode.UNAVAILABLE, "no more");
        }

        @Override
        public CompletionStage<String> refuseLater() {
            return CompletableFuture.completedFuture(refuse());
        }
    }

    /** Waits until the condition is true. A call is counted a short time after its answer has been sent. */
    private static void awaitTrue(BooleanSupplier condition) {
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(20);
        while (!condition.getAsBoolean()) {
            assertThat(System.nanoTime() - end).as("time left").isNegative();
            LockSupport.parkNanos(100_000);
        }
    }

    private void awaitCalls(String method, int count) {
        awaitTrue(
                () -> meters.phases().stream().anyMatch(sums -> sums.method().equals(method) && sums.calls() == count));
    }

    private double millis(String method, Phase phase) {
        FunctionTimer timer = registry.find("rpc.server.phase")
                .tags("method", method, "phase", phase.key())
                .functionTimer();
        return timer == null ? 0 : timer.totalTime(TimeUnit.MILLISECONDS);
    }

    private double operations(String method, Phase phase) {
        return registry.get("rpc.server.operations")
                .tags("method", method, "phase", phase.key())
                .functionCounter()
                .count();
    }

    @Test
    void metersHaveTheTimeOfEachPhaseAndCountItsOperations() {
        schedules.schedule(40);
        awaitCalls("schedule", 1);
        schedules.schedule(1);
        awaitCalls("schedule", 2);

        assertThat(millis("schedule", Phase.JDBC_CONNECTION)).isEqualTo(360);
        assertThat(millis("schedule", Phase.SQL)).isEqualTo(120);
        assertThat(millis("schedule", Phase.REDIS)).isEqualTo(41);
        assertThat(millis("schedule", Phase.OWN)).isEqualTo(24);
        assertThat(operations("schedule", Phase.SQL)).isEqualTo(6);
        assertThat(operations("schedule", Phase.REDIS)).isEqualTo(41);
        assertThat(registry.get("rpc.server.phase")
                        .tags("service", ScheduleService.class.getName(), "method", "schedule", "phase", "sql")
                        .functionTimer()
                        .count())
                .as("calls with statements")
                .isEqualTo(2);
        assertThat(registry.find("rpc.server.operations").tags("phase", "own").functionCounter())
                .isNull();
    }

    @Test
    void remoteCallOfAServedCallIsKnownByItsProviderWhileItRuns() {
        schedules.asks();

        assertThat(askedBy).hasValue("AuthService.check at memory");
    }

    @Test
    void slowCallSaysWhereItsTimeWent() {
        schedules.schedule(40);
        awaitTrue(() -> !log.list.isEmpty());

        assertThat(log.list)
                .extracting(event -> event.getLevel() + " " + event.getFormattedMessage())
                .containsExactly(
                        "WARN ScheduleService.schedule took 292 ms (target 100 ms): jdbc-connection 180 ms (1),"
                                + " sql 60 ms (3), redis 40 ms (40), own 12 ms");
    }

    /**
     * Returns the failure of a call with a timeout of one minute. The caller cancels the call the given number of
     * milliseconds before its deadline.
     */
    private Throwable failureOfCallCancelledBeforeItsDeadline(long millis) {
        AtomicReference<Throwable> failed = new AtomicReference<>();
        meters.observe((method, ledger, took, now, failure) -> failed.set(failure));
        CompletableFuture<String> answer = schedules.later().toCompletableFuture();
        awaitTrue(() -> promised.get() != null);

        pass(TimeUnit.MINUTES.toMillis(1) - millis - 2);
        answer.cancel(true);

        awaitTrue(() -> failed.get() != null);
        return failed.get();
    }

    @Test
    void callerThatGivesUpShortlyBeforeTheDeadlineHasReachedItsDeadline() {
        assertThat(failureOfCallCancelledBeforeItsDeadline(8))
                .isInstanceOfSatisfying(
                        RpcException.class,
                        failure -> assertThat(failure.code()).isEqualTo(StatusCode.DEADLINE_EXCEEDED))
                .hasMessageContaining("ScheduleService/later was still running after 59992 ms");
    }

    @Test
    void callerThatLeavesLongBeforeTheDeadlineIsGone() {
        assertThat(failureOfCallCancelledBeforeItsDeadline(30_000))
                .isInstanceOfSatisfying(
                        RpcException.class,
                        failure -> assertThat(failure.code()).isEqualTo(StatusCode.CANCELLED));
    }

    @Test
    void slowCallsAreNotAllWritten() {
        for (int i = 1; i <= 5; i++) {
            schedules.schedule(0);
            awaitCalls("schedule", i);
        }
        pass(10_000);
        schedules.schedule(0);
        awaitTrue(() -> log.list.size() == 2);

        assertThat(log.list.get(1).getFormattedMessage())
                .endsWith("; 4 more calls missed the target since the last such line");
    }

    @Test
    void callInTimeIsNotWritten() {
        schedules.asks();
        awaitCalls("asks", 1);

        assertThat(log.list).isEmpty();
    }

    @Test
    void waitForAFutureResultIsUnattributed() {
        CompletableFuture<String> answer = schedules.later().toCompletableFuture();
        awaitTrue(() -> server.runningCalls().stream().anyMatch(call -> call.phase() == Phase.UNATTRIBUTED));
        pass(55);
        promised.get().complete("late");
        answer.join();
        awaitCalls("later", 1);

        assertThat(millis("later", Phase.OWN)).isEqualTo(2);
        assertThat(millis("later", Phase.UNATTRIBUTED)).isEqualTo(55);
    }

    @Test
    void wrappedTaskOfAnotherThreadCountsInTheCall() {
        schedules.inParts();
        awaitCalls("inParts", 1);

        assertThat(millis("inParts", Phase.SQL)).isEqualTo(30);
        assertThat(operations("inParts", Phase.SQL)).isEqualTo(1);
        assertThat(millis("inParts", Phase.UNATTRIBUTED)).isZero();
        assertThat(millis("inParts", Phase.OWN)).isZero();
    }

    @Test
    void callToAnotherServiceIsAPhase() {
        schedules.asks();
        awaitCalls("asks", 1);
        awaitCalls("check", 1);

        assertThat(millis("asks", Phase.RPC)).isEqualTo(25);
        assertThat(operations("asks", Phase.RPC)).isEqualTo(1);
        assertThat(millis("asks", Phase.OWN)).isEqualTo(3);
        assertThat(millis("check", Phase.OWN)).isEqualTo(25);
    }

    @Test
    void failedCallsToAnotherServiceAreNamedWithTheirStatus() {
        CallLedger ledger = new CallLedger(time::get);
        CallLedger before = CallLedger.replace(ledger);
        try {
            assertThatThrownBy(authority::refuse).isInstanceOf(RpcException.class);
            assertThatThrownBy(
                            () -> authority.refuseLater().toCompletableFuture().join())
                    .hasCauseInstanceOf(RpcException.class);
        } finally {
            CallLedger.replace(before);
        }

        assertThat(ledger.named())
                .hasSize(2)
                .extracting(NamedTimes.Entry::name)
                .allMatch(name -> name.startsWith("AuthService.refuse") && name.endsWith(" (failed UNAVAILABLE)"));
    }

    @Test
    void asynchronousCallToAnotherServiceExplainsTheWait() {
        CompletableFuture<String> answer = schedules.asksLater().toCompletableFuture();
        awaitTrue(() -> checked.get() != null
                && server.runningCalls().stream()
                                .filter(call -> call.phase() == Phase.UNATTRIBUTED)
                                .count()
                        == 2);
        pass(40);
        checked.get().complete("yes");
        answer.join();
        awaitCalls("asksLater", 1);

        assertThat(millis("asksLater", Phase.RPC)).isEqualTo(40);
        assertThat(millis("asksLater", Phase.UNATTRIBUTED)).isZero();
    }

    @Test
    void waitingForTheFutureOfACallIsNotTheCallsOwnTime() {
        schedules.waitsForAnswer();
        awaitCalls("waitsForAnswer", 1);

        assertThat(millis("waitsForAnswer", Phase.RPC)).isEqualTo(70);
        assertThat(millis("waitsForAnswer", Phase.OWN)).isZero();
        assertThat(millis("waitsForAnswer", Phase.UNATTRIBUTED)).isZero();
    }

    @Test
    void streamsKeepALedgerToo() {
        Probe<Integer> probe = Probe.ofAll();
        schedules.stream().subscribe(probe);
        awaitCalls("stream", 1);

        // If the method runs on a callback thread, the worker may still be running, so the 4 ms of the method are
        // counted for both threads.
        assertThat(millis("stream", Phase.OWN)).isIn(4.0, 8.0);
        assertThat(log.list).isEmpty();
    }

    @Test
    void runningCallsReportTheirCurrentWait() throws InterruptedException {
        CompletableFuture<String> answer = CompletableFuture.supplyAsync(schedules::blocks);
        entered.await();
        pass(30);

        List<RunningCall> running = server.runningCalls();

        assertThat(running).hasSize(1);
        assertThat(running.get(0).method()).isEqualTo("ScheduleService.blocks");
        assertThat(running.get(0).phase()).isEqualTo(Phase.JDBC_CONNECTION);
        assertThat(running.get(0).phaseNanos()).isEqualTo(TimeUnit.MILLISECONDS.toNanos(30));
        released.countDown();
        assertThat(answer.join()).isEqualTo("at last");
        awaitTrue(() -> server.runningCalls().isEmpty());
    }

    @Test
    void openStreamIsNoRunningCall() throws InterruptedException {
        CountDownLatch received = new CountDownLatch(1);
        CountDownLatch completed = new CountDownLatch(1);
        try (SubmissionPublisher<Integer> open = new SubmissionPublisher<>()) {
            streamed.set(open);
            schedules.stream().subscribe(new Flow.Subscriber<>() {
                @Override
                public void onSubscribe(Flow.Subscription subscription) {
                    subscription.request(2);
                }

                @Override
                public void onNext(Integer item) {
                    received.countDown();
                }

                @Override
                public void onError(Throwable failure) {}

                @Override
                public void onComplete() {
                    completed.countDown();
                }
            });
            awaitTrue(open::hasSubscribers);
            open.submit(1);
            received.await();

            assertThat(server.runningCalls()).isEmpty();
        }
        completed.await();
    }

    @Test
    void callThatTimedOutRunsUntilItsWorkerIsBack() throws InterruptedException {
        CompletableFuture<String> answer = CompletableFuture.supplyAsync(schedules::blocks);
        entered.await();
        pass(61_000);
        transport.sweep();

        assertThatThrownBy(answer::join).hasCauseInstanceOf(RpcException.class);
        awaitTrue(() -> !log.list.isEmpty());
        assertThat(log.list.get(0).getFormattedMessage())
                .isEqualTo("ScheduleService.blocks took 61000 ms (target 100 ms) and ended as DEADLINE_EXCEEDED:"
                        + " jdbc-connection 61000 ms (1)");
        assertThat(server.runningCalls()).hasSize(1);
        released.countDown();
        awaitTrue(() -> server.runningCalls().isEmpty());
    }

    @Test
    void withoutLedgersCallsAreServedAllTheSame() {
        close();
        start(false);

        assertThat(schedules.schedule(1)).isEqualTo("done");
        schedules.asks();

        assertThat(server.runningCalls()).isEmpty();
        assertThat(registry.find("rpc.server.phase").functionTimers()).isEmpty();
        assertThat(log.list).isEmpty();
    }

    /**
     * In this test, the worker counts the answered call late: after the drain has begun to wait for the count, or has
     * ended without waiting.
     */
    @Test
    void drainWaitsUntilAnAnsweredCallIsCounted() throws Exception {
        AtomicReference<Thread> draining = new AtomicReference<>();
        AtomicBoolean counted = new AtomicBoolean();
        AtomicBoolean countedAtItsEnd = new AtomicBoolean();
        meters.observe((method, ledger, took, now, failure) -> {
            Thread.State state = Thread.State.NEW;
            while (state != Thread.State.TIMED_WAITING && state != Thread.State.TERMINATED) {
                Thread.onSpinWait();
                Thread drain = draining.get();
                state = drain == null ? Thread.State.NEW : drain.getState();
            }
            counted.set(true);
        });
        Thread drain = new Thread(() -> {
            server.drain(Duration.ofMinutes(1));
            countedAtItsEnd.set(counted.get());
        });

        authority.check();
        draining.set(drain);
        drain.start();
        drain.join();

        assertThat(countedAtItsEnd).isTrue();
    }
}
