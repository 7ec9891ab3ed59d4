package tern.rpc.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import tern.rpc.Invocation;
import tern.rpc.Metadata;
import tern.rpc.Response;
import tern.rpc.RpcException;
import tern.rpc.RpcException.Executed;
import tern.rpc.RpcMethod;
import tern.rpc.Status;
import tern.rpc.StatusCode;
import tern.rpc.endpoint.DnsEndpoints;
import tern.rpc.endpoint.Endpoint;
import tern.rpc.endpoint.Instance;
import tern.rpc.endpoint.StaticEndpoints;
import tern.rpc.metrics.RpcMeters;
import tern.rpc.metrics.Slo;
import tern.rpc.transport.Answer;
import tern.rpc.transport.PendingCall;
import tern.rpc.transport.RetryPushBack;

/** Tests when a call is hedged and how it ends. Only the test advances the clock and the timer. */
class HedgedCallTest {

    private static final Endpoint ONE = new Endpoint("one", 1);
    private static final Endpoint TWO = new Endpoint("two", 2);

    public interface Service {
        @RpcMethod(readOnly = true)
        CompletableFuture<String> find();

        @RpcMethod(readOnly = true)
        String findNow();

        CompletableFuture<String> store();
    }

    private final AtomicLong now = new AtomicLong();
    private final ManualTimer timer = new ManualTimer();
    private final FakeNetwork network = new FakeNetwork();
    private final SimpleMeterRegistry registry = new SimpleMeterRegistry();
    private final RpcClient client = RpcClient.builder()
            .clock(now::get)
            .timer(timer)
            .meters(new RpcMeters(registry, Slo.DEFAULT))
            .transport(network)
            .timeout(Duration.ofDays(1))
            .build();

    @AfterEach
    void close() {
        client.close();
    }

    private static Answer answer(String value) {
        return new Answer() {
            @Override
            public Response decode(Invocation call) {
                return Response.of(value);
            }

            @Override
            public void discard() {
                // The answer has no resources to release.
            }
        };
    }

    private Service hedged(Endpoint... endpoints) {
        return hedged(client, endpoints);
    }

    private static Service hedged(RpcClient caller, Endpoint... endpoints) {
        return caller.refer(ServiceReference.to(Service.class, new StaticEndpoints(List.of(endpoints)))
                .protocol(FakeNetwork.PROTOCOL)
                .defaults(MethodSettings.NONE.withHedging(true))
                .build());
    }

    /**
     * Makes a hundred calls with the given response time, so that the client knows the usual response time and the
     * budget allows five hedges.
     */
    private void train(Service service, Duration took) {
        network.taking = (endpoint, call) -> {
            now.addAndGet(took.toNanos());
            call.answer(answer("trained"));
        };
        for (int i = 0; i < 50; i++) {
            service.find().join();
            service.findNow();
        }
        // After 300 ms, the client recomputes the percentile of the response times.
        now.addAndGet(Duration.ofMillis(300).toNanos());
        network.taking = (endpoint, call) -> {};
        network.sent.clear();
    }

    private PendingCall first() {
        return network.sent.get(0).call();
    }

    /**
     * Runs the hedges that are due, and blocks until the callback threads have sent them. Returns the second attempt.
     */
    private PendingCall second() throws InterruptedException {
        double before = hedges();
        CountDownLatch sent = new CountDownLatch(1);
        network.taking = (endpoint, call) -> sent.countDown();
        timer.runAll();
        assertThat(sent.await(10, TimeUnit.SECONDS)).isTrue();
        while (hedges() == before) { // The client counts a hedge only after sending it.
            Thread.onSpinWait();
        }
        return network.sent.get(1).call();
    }

    private double hedges() {
        return registry.get("rpc.client.hedges").functionCounter().count();
    }

    /** The timer's tasks contain the arguments of the calls. */
    @Test
    void timerForgetsTheHedgeOfACallThatHasEnded() {
        ScheduledThreadPoolExecutor forgetful = RpcClient.newTimer();
        try (RpcClient other = RpcClient.builder()
                .clock(now::get)
                .timer(forgetful)
                .transport(network)
                .timeout(Duration.ofDays(1))
                .build()) {
            Service service = hedged(other, ONE, TWO);
            List<CompletableFuture<String>> slow = new ArrayList<>();
            for (int i = 0; i < 30; i++) {
                slow.add(service.find());
            }
            now.addAndGet(Duration.ofMinutes(10).toNanos());
            // this call begins a new measurement period for the hedges; the thirty earlier calls end in this period
            slow.add(service.find());
            List.copyOf(network.sent).forEach(sent -> sent.call().answer(answer("late")));
            slow.forEach(CompletableFuture::join);
            now.addAndGet(Duration.ofMillis(300).toNanos());
            network.sent.clear();

            CompletableFuture<String> result = service.find();
            assertThat(forgetful.getQueue()).as("a hedge in ten minutes").hasSize(1);
            first().answer(answer("first"));

            assertThat(result.join()).isEqualTo("first");
            assertThat(forgetful.getQueue()).isEmpty();
        }
    }

    @Test
    void slowCallIsSentToAnotherProviderAndTheFirstAnswerCounts() throws Exception {
        Service service = hedged(ONE, TWO);
        train(service, Duration.ofMillis(40));

        CompletableFuture<String> result = service.find();
        assertThat(timer.waiting()).hasSize(1);
        assertThat(timer.waiting().get(0).nanos)
                .isBetween(
                        Duration.ofMillis(40).toNanos(), Duration.ofMillis(45).toNanos());
        PendingCall second = second();
        second.answer(answer("second"));

        assertThat(result.get()).isEqualTo("second");
        assertThat(network.sent).extracting(FakeNetwork.Sent::endpoint).doesNotHaveDuplicates();
        assertThat(first().hasFailed()).as("the loser is cancelled").isTrue();
        assertThat(hedges()).isEqualTo(1);
    }

    private double responseTime(Endpoint endpoint) {
        return client.references().get(0).cluster().providers().stream()
                .filter(provider -> provider.endpoint().equals(endpoint))
                .findFirst()
                .orElseThrow()
                .cost();
    }

    @Test
    void timeOfTheLoserCountsForItsProvider() throws Exception {
        Service service = hedged(ONE, TWO);
        train(service, Duration.ofMillis(40));
        CompletableFuture<String> result = service.find();
        PendingCall second = second();
        Endpoint slow = network.sent.get(0).endpoint();
        assertThat(responseTime(slow)).isLessThan(2);

        now.addAndGet(Duration.ofMillis(400).toNanos());
        second.answer(answer("second"));

        assertThat(result.get()).isEqualTo("second");
        assertThat(responseTime(slow)).isBetween(9.0, 11.0);
    }

    @Test
    void slowerAttemptIsNotRecordedIfItsTimeWasShort() throws Exception {
        Service service = hedged(ONE, TWO);
        train(service, Duration.ofMillis(40));
        CompletableFuture<String> result = service.find();
        second();
        Endpoint late = network.sent.get(1).endpoint();
        double before = responseTime(late);

        now.addAndGet(Duration.ofMillis(5).toNanos());
        first().answer(answer("first"));

        assertThat(result.get()).isEqualTo("first");
        assertThat(responseTime(late)).isLessThanOrEqualTo(before);
    }

    @Test
    void blockingCallIsHedgedToo() throws Exception {
        Service service = hedged(ONE, TWO);
        train(service, Duration.ofMillis(40));
        network.taking = (endpoint, call) -> {
            if (network.sent.size() == 1) {
                new Thread(timer::runAll).start();
            } else {
                call.answer(answer("second"));
            }
        };

        assertThat(service.findNow()).isEqualTo("second");
        assertThat(first().hasFailed()).isTrue();
    }

    @Test
    void hedgeWaitsForTenMillisecondsAtLeast() {
        Service service = hedged(ONE, TWO);
        train(service, Duration.ofMillis(1));

        service.find();

        assertThat(timer.waiting().get(0).nanos).isEqualTo(Duration.ofMillis(10).toNanos());
    }

    @Test
    void answerInTimeCancelsTheHedge() {
        Service service = hedged(ONE, TWO);
        train(service, Duration.ofMillis(40));

        CompletableFuture<String> result = service.find();
        first().answer(answer("first"));

        assertThat(result.join()).isEqualTo("first");
        assertThat(timer.waiting()).isEmpty();
    }

    @Test
    void methodThatIsNotIdempotentIsNeverHedged() {
        Service service = hedged(ONE, TWO);
        train(service, Duration.ofMillis(40));

        service.store();

        assertThat(timer.waiting()).isEmpty();
    }

    @Test
    void hedgingOfOneMethodThatIsNotIdempotentStopsTheStart() {
        assertThatThrownBy(() -> client.refer(ServiceReference.to(Service.class, new StaticEndpoints(List.of(ONE)))
                        .protocol(FakeNetwork.PROTOCOL)
                        .method("store", MethodSettings.NONE.withHedging(true))
                        .build()))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("store")
                .hasMessageContaining("not idempotent");
    }

    @Test
    void nothingIsHedgedByDefault() {
        Service service = client.refer(ServiceReference.to(Service.class, new StaticEndpoints(List.of(ONE, TWO)))
                .protocol(FakeNetwork.PROTOCOL)
                .build());
        train(service, Duration.ofMillis(40));

        service.find();

        assertThat(timer.waiting()).isEmpty();
    }

    @Test
    void nothingIsHedgedBeforeTheUsualTimeIsKnown() {
        Service service = hedged(ONE, TWO);

        service.find();

        assertThat(timer.waiting()).isEmpty();
    }

    @Test
    void atMostFiveOfAHundredCallsAreHedged() throws Exception {
        Service service = hedged(ONE, TWO);
        train(service, Duration.ofMillis(40));
        List<CompletableFuture<String>> calls = new ArrayList<>();
        for (int i = 0; i < 20; i++) {
            calls.add(service.find());
        }
        network.taking = (endpoint, call) -> call.answer(answer("second"));

        timer.runAll();
        for (FakeNetwork.Sent each : List.copyOf(network.sent)) {
            each.call().answer(answer("first"));
        }
        for (CompletableFuture<String> call : calls) {
            call.get(10, TimeUnit.SECONDS);
        }

        assertThat(hedges()).isBetween(1.0, 6.0); // The hedging budget is 5 % of 120 calls, that is, 6 hedges.
        System.out.printf("R17 additional calls by hedging: %.0f of 120 (goal at most 5 %%)%n", hedges());
    }

    @Test
    void failureOfOneAttemptWaitsForTheOther() throws Exception {
        Service service = hedged(ONE, TWO);
        train(service, Duration.ofMillis(40));
        CompletableFuture<String> result = service.find();
        PendingCall second = second();

        first().fail(RpcException.refusal(StatusCode.UNAVAILABLE, "gone", Executed.MAYBE));
        second.answer(answer("second"));

        assertThat(result.get()).isEqualTo("second");
        assertThat(network.sent).as("no retry besides the hedge").hasSize(2);
    }

    @Test
    void failureOfBothSaysThatTheCallMayHaveRun() throws Exception {
        Service service = hedged(ONE, TWO);
        train(service, Duration.ofMillis(40));
        CompletableFuture<String> result = service.find();
        PendingCall second = second();

        first().fail(RpcException.refusal(StatusCode.UNAVAILABLE, "gone", Executed.MAYBE));
        second.fail(RpcException.refusal(StatusCode.RESOURCE_EXHAUSTED, "full", Executed.NO));

        assertThatThrownBy(result::get)
                .isInstanceOf(ExecutionException.class)
                .cause()
                .isInstanceOfSatisfying(
                        RpcException.class,
                        failure -> assertThat(failure.wasExecuted()).isEqualTo(Executed.MAYBE));
    }

    @Test
    void cancellationEndsBothAttempts() throws Exception {
        Service service = hedged(ONE, TWO);
        train(service, Duration.ofMillis(40));
        CompletableFuture<String> result = service.find();
        PendingCall second = second();

        result.cancel(true);

        assertThat(first().hasFailed()).isTrue();
        assertThat(second.hasFailed()).isTrue();
    }

    @Test
    void singleProviderGetsNoHedge() throws Exception {
        Service service = hedged(ONE);
        train(service, Duration.ofMillis(40));
        CompletableFuture<String> result = service.find();
        timer.runAll();

        first().answer(answer("first"));

        assertThat(result.get(10, TimeUnit.SECONDS)).isEqualTo("first");
        assertThat(hedges()).isZero();
    }

    @Test
    void pushBackOfANegativeTimeStopsTheCall() {
        Service service = hedged(ONE, TWO);
        train(service, Duration.ofMillis(40));
        CompletableFuture<String> result = service.find();

        first().fail(new RpcException(
                new Status(StatusCode.UNAVAILABLE, "leave me"),
                Executed.NO,
                new Metadata().add(RetryPushBack.HEADER, "-1")));

        assertThatThrownBy(result::join).hasMessageContaining("leave me");
        assertThat(network.sent).hasSize(1);
        assertThat(timer.waiting()).isEmpty();
    }

    @Test
    void callOfAClosedClientWasNotExecuted() {
        Service service = hedged(ONE, TWO);
        train(service, Duration.ofMillis(40));

        client.close();

        assertThatThrownBy(() -> service.find().join()).cause().satisfies(HedgedCallTest::isNotSent);
        assertThatThrownBy(service::findNow).satisfies(HedgedCallTest::isNotSent);
        assertThat(network.sent).isEmpty();
    }

    private static void isNotSent(Throwable failure) {
        assertThat(failure).isInstanceOfSatisfying(RpcException.class, rpc -> {
            assertThat(rpc.code()).isEqualTo(StatusCode.UNAVAILABLE);
            assertThat(rpc.wasExecuted()).isEqualTo(Executed.NO);
            assertThat(rpc).hasMessageContaining("the client is closed");
        });
    }

    @Test
    void lookupsThatBlockDelayNeitherHedgesNorOtherLookups() throws Exception {
        CountDownLatch ended = new CountDownLatch(1);
        CountDownLatch found = new CountDownLatch(1);
        CountDownLatch hedged = new CountDownLatch(1);
        try (RpcClient real = RpcClient.builder()
                .clock(now::get)
                .transport(network)
                .timeout(Duration.ofDays(1))
                .build()) {
            Service service = real.refer(ServiceReference.to(Service.class, new StaticEndpoints(List.of(ONE, TWO)))
                    .protocol(FakeNetwork.PROTOCOL)
                    .defaults(MethodSettings.NONE.withHedging(true))
                    .build());
            train(service, Duration.ofMillis(1));
            CountDownLatch blocked = new CountDownLatch(1);
            DnsEndpoints slow = names(real, host -> {
                blocked.countDown();
                try {
                    ended.await();
                } catch (InterruptedException e) {
                    Thread.currentThread().interrupt(); // The client has been closed.
                }
                throw new UnknownHostException(host);
            });
            slow.start(snapshot -> {});
            assertThat(blocked.await(60, TimeUnit.SECONDS)).isTrue();
            slow.refresh();

            network.taking = (endpoint, call) -> {
                if (network.sent.size() == 2) {
                    hedged.countDown();
                }
            };
            service.find();
            names(real, host -> new InetAddress[] {InetAddress.getByName("10.0.0.1")})
                    .start(snapshot -> found.countDown());

            assertThat(hedged.await(60, TimeUnit.SECONDS)).isTrue();
            assertThat(found.await(60, TimeUnit.SECONDS)).isTrue();
        } finally {
            ended.countDown();
        }
    }

    private static DnsEndpoints names(RpcClient client, DnsEndpoints.Lookup lookup) {
        return new DnsEndpoints(
                List.of(Instance.of(new Endpoint("orders.internal", 1))), lookup, client.timer(), Duration.ofDays(1));
    }
}
