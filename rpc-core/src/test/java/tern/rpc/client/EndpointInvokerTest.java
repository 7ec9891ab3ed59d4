package tern.rpc.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.BiConsumer;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import tern.rpc.CallOptions;
import tern.rpc.RpcException;
import tern.rpc.RpcException.Executed;
import tern.rpc.StatusCode;
import tern.rpc.cluster.ClusterSettings;
import tern.rpc.cluster.Policies;
import tern.rpc.endpoint.Endpoint;
import tern.rpc.endpoint.StaticEndpoints;
import tern.rpc.transport.Answer;
import tern.rpc.transport.IdleConnection;
import tern.rpc.transport.PendingCall;

/** Tests which connection gets a call after the first connection has refused it. */
class EndpointInvokerTest {

    private static final Endpoint ONE = new Endpoint("one", 1);
    private static final Endpoint TWO = new Endpoint("two", 2);

    /** The service that the tests call. */
    public interface Service {
        void call();

        CompletableFuture<String> later();
    }

    /** A connection whose state and reaction to calls are set by the test. */
    private static final class Connection extends IdleConnection {
        private BiConsumer<Connection, PendingCall> taking = (taken, call) -> call.answer(Answer.NOTHING);
        private long queuedBytes;
        private int attempts;
        private int attemptsUntilAvailable = Integer.MAX_VALUE;

        Connection(Endpoint endpoint) {
            super(endpoint);
        }

        @Override
        public void connectSoon() {
            attempts++;
            available |= attempts >= attemptsUntilAvailable;
        }

        @Override
        public long queuedBytes() {
            return queuedBytes;
        }

        @Override
        public void send(PendingCall call) {
            taking.accept(this, call);
        }
    }

    private final Map<Endpoint, Connection> connections = new ConcurrentHashMap<>();
    private volatile boolean refusesToOpen; // true if no further connection can be opened
    private final List<Endpoint> asked = new ArrayList<>();

    private final AtomicLong aheadNanos = new AtomicLong(); // how far the client's clock is ahead

    private final RpcClient client = RpcClient.builder()
            .transport(new FakeTransport(this::open))
            .clock(() -> System.nanoTime() + aheadNanos.get())
            .build();

    @AfterEach
    void close() {
        client.close();
    }

    private Connection open(Endpoint endpoint) {
        if (refusesToOpen && !connections.containsKey(endpoint)) {
            throw new IllegalStateException("the keys cannot be used");
        }
        return connections.computeIfAbsent(endpoint, Connection::new);
    }

    private Service proxy(Endpoint... endpoints) {
        return client.refer(ServiceReference.to(Service.class, new StaticEndpoints(List.of(endpoints)))
                .protocol("fake")
                .build());
    }

    private Connection connection(Endpoint endpoint) {
        return connections.computeIfAbsent(endpoint, Connection::new);
    }

    /**
     * Makes the endpoint refuse every call with a failure that marks the call as not executed. The {@code meanwhile}
     * action runs before each refusal.
     */
    private void refuses(Endpoint endpoint, StatusCode code, Runnable meanwhile) {
        connection(endpoint).taking = (connection, call) -> {
            asked.add(connection.endpoint);
            meanwhile.run();
            call.fail(RpcException.refusal(code, "on purpose", Executed.NO));
        };
    }

    @Test
    void asynchronousCallEndsIfItsConnectionCannotBeOpened() {
        // a client opens its first connections one after another, so most of these are not open yet
        Service proxy = proxy(IntStream.range(0, 2_000)
                .mapToObj(i -> new Endpoint("10.0." + i / 250 + "." + i % 250, 1))
                .toArray(Endpoint[]::new));
        refusesToOpen = true;
        connections.values().forEach(connection -> connection.available = false);
        connections.keySet().forEach(endpoint -> refuses(endpoint, StatusCode.UNAVAILABLE, () -> {}));

        Set<String> messages = new HashSet<>();
        for (int i = 0; i < 200; i++) {
            CompletableFuture<String> result = proxy.later();
            assertThatThrownBy(result::join).cause().isInstanceOfSatisfying(RpcException.class, failure -> {
                assertThat(failure.code()).isEqualTo(StatusCode.UNAVAILABLE);
                assertThat(failure.wasExecuted()).isEqualTo(Executed.NO);
                messages.add(failure.getMessage());
            });
        }
        assertThat(messages).anyMatch(message -> message.contains("can be opened: ") && message.contains("the keys"));
        assertThat(client.references().get(0).cluster().providers())
                .allSatisfy(provider -> assertThat(provider.inFlight()).isZero());
    }

    @Test
    void failureNamesEachAddressWhenNoneCanBeReached() {
        Endpoint[] dead = IntStream.range(0, 8)
                .mapToObj(i -> new Endpoint("10.0.0." + i, 1))
                .toArray(Endpoint[]::new);
        for (Endpoint endpoint : dead) {
            refuses(endpoint, StatusCode.UNAVAILABLE, () -> {});
            connection(endpoint).available = false;
        }
        Service proxy = proxy(dead);

        assertThatThrownBy(proxy::call).isInstanceOfSatisfying(RpcException.class, failure -> {
            assertThat(failure.wasExecuted()).isEqualTo(Executed.NO);
            assertThat(failure).hasMessageContaining("on purpose; the 8 addresses are all out of reach, also 10.0.0.");
            assertThat(failure).hasMessageEndingWith(" and 2 more");
        });
    }

    @Test
    void failureNamesOneAddressWhileAnotherOneCanBeReached() {
        Endpoint refusing = new Endpoint("10.0.0.1", 1);
        Endpoint other = new Endpoint("10.0.0.2", 1);
        refuses(refusing, StatusCode.UNAVAILABLE, () -> {});
        refuses(other, StatusCode.UNAVAILABLE, () -> {});
        Service proxy = proxy(refusing, other);

        assertThatThrownBy(proxy::call).hasMessageEndingWith("on purpose");
    }

    @Test
    void callThatADeadProviderDidNotTakeWaitsForOneThatIsBeingConnectedTo() {
        connection(TWO).available = false;
        connection(TWO).connecting = true;
        refuses(ONE, StatusCode.UNAVAILABLE, () -> connection(ONE).available = false);

        proxy(ONE, TWO).call();

        assertThat(asked).containsExactly(ONE);
    }

    @Test
    void refusalOfABusyProviderDoesNotWaitForOneThatIsBeingConnectedTo() {
        connection(TWO).available = false;
        connection(TWO).connecting = true;
        refuses(ONE, StatusCode.RESOURCE_EXHAUSTED, () -> {});
        Service proxy = proxy(ONE, TWO);

        RpcException failure = catchThrowableOfType(RpcException.class, proxy::call);

        assertThat(failure.code()).isEqualTo(StatusCode.RESOURCE_EXHAUSTED);
        assertThat(asked).containsExactly(ONE);
    }

    @Test
    void callThatADrainedConnectionDidNotTakeGoesToItsSuccessor() {
        refuses(ONE, StatusCode.UNAVAILABLE, () -> {
            connection(ONE).available = false;
            connection(ONE).connecting = true;
            connection(ONE).taking = (connection, call) -> call.answer(Answer.NOTHING);
        });

        proxy(ONE).call();

        assertThat(asked).containsExactly(ONE);
    }

    /**
     * The call must succeed even if the caller's thread notices the failure only after the connection has been
     * replaced.
     */
    @Test
    void callOfALostConnectionGoesToASuccessorThatIsReadyAlready() {
        refuses(
                ONE,
                StatusCode.UNAVAILABLE,
                () -> connection(ONE).taking = (connection, call) -> call.answer(Answer.NOTHING));
        connection(ONE).taking = carriedBy(new LostCarrier(), connection(ONE).taking);

        proxy(ONE).call();

        assertThat(asked).containsExactly(ONE);
    }

    private static BiConsumer<Connection, PendingCall> carriedBy(
            PendingCall.Carrier carrier, BiConsumer<Connection, PendingCall> taking) {
        return (connection, call) -> {
            call.carriedBy(carrier);
            taking.accept(connection, call);
        };
    }

    /** A connection that has lost its socket. */
    private static final class LostCarrier implements PendingCall.Carrier {
        @Override
        public void abandoned(PendingCall call) {
            // nothing to inform
        }

        @Override
        public boolean isGone() {
            return true;
        }
    }

    @Test
    void successorOfADrainedConnectionIsPreferredToADeadProvider() {
        connection(TWO).available = false;
        refuses(TWO, StatusCode.UNAVAILABLE, () -> {});
        refuses(ONE, StatusCode.UNAVAILABLE, () -> {
            connection(ONE).available = false;
            connection(ONE).connecting = true;
            connection(ONE).taking = (connection, call) -> call.answer(Answer.NOTHING);
        });
        Service proxy = proxy(ONE, TWO);

        proxy.call();

        assertThat(asked).containsExactly(ONE);
    }

    @Test
    void refusalOfTheOnlyProviderIsNotRepeated() {
        refuses(ONE, StatusCode.UNAVAILABLE, () -> {});
        Service proxy = proxy(ONE);

        assertThat(catchThrowableOfType(RpcException.class, proxy::call).code()).isEqualTo(StatusCode.UNAVAILABLE);
        assertThat(asked).containsExactly(ONE);
    }

    private Service patient(Duration timeout) {
        connection(ONE).available = false;
        return client.refer(ServiceReference.to(Service.class, new StaticEndpoints(List.of(ONE)))
                .protocol("fake")
                .timeout(timeout)
                .waitForReady()
                .build());
    }

    @Test
    void callThatWaitsForReadyStartsAttemptsUntilThereIsAProvider() {
        connection(ONE).attemptsUntilAvailable = 3;

        patient(Duration.ofSeconds(20)).call();

        assertThat(connection(ONE).attempts).isEqualTo(3);
    }

    @Test
    void asynchronousCallWaitsForReadyToo() {
        connection(ONE).attemptsUntilAvailable = 3;

        assertThat(patient(Duration.ofSeconds(20)).later()).succeedsWithin(Duration.ofSeconds(20));
    }

    @Test
    void callThatWaitsInVainNamesTheProviderAndTheTimeout() {
        assertThatThrownBy(patient(Duration.ofMillis(50))::call)
                .hasMessageContaining("waited for a provider until its deadline")
                .hasMessageContaining("one:1: ");
    }

    @Test
    void optionsOfACallWinOverTheReference() {
        refuses(ONE, StatusCode.UNAVAILABLE, () -> {});
        Service proxy = patient(Duration.ofSeconds(20));

        assertThatThrownBy(CallOptions.none().waitForReady(false).on(proxy)::call)
                .hasMessageContaining("on purpose");
    }

    @Test
    void idempotentCallIsCopiedToAProviderThatFailed() {
        // After provider ONE has failed, the client sends it only copies of calls, to detect its recovery. The caller
        // gets provider TWO's answer.
        Service proxy = client.refer(ServiceReference.to(Service.class, new StaticEndpoints(List.of(ONE, TWO)))
                .protocol("fake")
                .method("call", MethodSettings.NONE.withIdempotent(true))
                .build());
        connection(ONE).taking = (connection, call) -> {
            asked.add(ONE);
            call.fail(RpcException.refusal(StatusCode.UNAVAILABLE, "on purpose", Executed.YES));
        };
        int failed = 0;
        for (int i = 0; i < 200; i++) {
            try {
                proxy.call();
            } catch (RpcException e) {
                failed++;
            }
        }

        assertThat(failed).isEqualTo(1);
        assertThat(asked).as("calls at the failing provider").isNotEmpty();
    }

    @Test
    void noCopyIsSentToAProviderThatDoesNotReadItsRequests() {
        Service proxy = client.refer(ServiceReference.to(Service.class, new StaticEndpoints(List.of(ONE, TWO)))
                .protocol("fake")
                .method("call", MethodSettings.NONE.withIdempotent(true))
                .build());
        connection(ONE).taking = (connection, call) -> {
            asked.add(ONE);
            connection.queuedBytes = 100 << 10;
            call.fail(RpcException.refusal(StatusCode.UNAVAILABLE, "on purpose", Executed.YES));
        };
        int failed = 0;
        for (int i = 0; i < 200; i++) {
            try {
                proxy.call();
            } catch (RpcException e) {
                failed++;
            }
            aheadNanos.addAndGet(TimeUnit.MILLISECONDS.toNanos(100));
        }

        assertThat(asked).as("calls at the failing provider").hasSize(failed);
    }

    @Test
    void copyWaitsLongerForItsAnswerThanTheCall() {
        List<Duration> waits = new ArrayList<>();
        Service proxy = client.refer(ServiceReference.to(Service.class, new StaticEndpoints(List.of(ONE, TWO)))
                .protocol("fake")
                .timeout(Duration.ofSeconds(2))
                .method("call", MethodSettings.NONE.withIdempotent(true))
                .build());
        connection(ONE).taking = (connection, call) -> {
            waits.add(Duration.ofNanos(call.call().deadline().remainingNanos(call.startedNanos())));
            call.fail(RpcException.refusal(StatusCode.UNAVAILABLE, "on purpose", Executed.YES));
        };
        for (int i = 0; i < 200 && waits.size() < 2; i++) {
            try {
                proxy.call();
            } catch (RpcException expected) {
                // the first call at the failing provider
            }
            aheadNanos.addAndGet(TimeUnit.MILLISECONDS.toNanos(100));
        }

        assertThat(waits.get(0)).isLessThanOrEqualTo(Duration.ofSeconds(2));
        assertThat(waits.get(1)).isGreaterThan(Duration.ofSeconds(10));
    }

    private Service idempotent(boolean waits, Endpoint... endpoints) {
        return client.refer(ServiceReference.to(Service.class, new StaticEndpoints(List.of(endpoints)))
                .protocol("fake")
                .defaults(MethodSettings.NONE.withIdempotent(true).withWaitForReady(waits))
                .timeout(Duration.ofMillis(waits ? 50 : 20_000))
                .build());
    }

    /**
     * The first call, at any of the endpoints, fails and may have run. Further calls are refused with the given code.
     */
    private void losesTheFirstCall(StatusCode code, Runnable afterwards, Endpoint... endpoints) {
        for (Endpoint endpoint : endpoints) {
            connection(endpoint).taking = (connection, call) -> {
                boolean first = asked.isEmpty();
                asked.add(endpoint);
                afterwards.run();
                call.fail(RpcException.refusal(
                        first ? StatusCode.UNAVAILABLE : code,
                        first ? "lost" : "refused",
                        first ? Executed.MAYBE : Executed.NO));
            };
        }
    }

    @Test
    void refusalOfTheSecondAttemptDoesNotHideThatTheFirstMayHaveRun() {
        losesTheFirstCall(StatusCode.UNIMPLEMENTED, () -> {}, ONE, TWO);

        RpcException failure = catchThrowableOfType(RpcException.class, idempotent(false, ONE, TWO)::call);

        assertThat(asked).hasSizeGreaterThan(1);
        assertThat(failure.wasExecuted()).isEqualTo(Executed.MAYBE);
        assertThat(failure).hasMessage("UNIMPLEMENTED: refused; an earlier attempt of the call may have run");
    }

    @Test
    void refusalOfTheSecondAsynchronousAttemptDoesNotHideThatTheFirstMayHaveRun() {
        losesTheFirstCall(StatusCode.UNAVAILABLE, () -> {}, ONE, TWO);
        CompletableFuture<String> result = idempotent(false, ONE, TWO).later();

        assertThat(result)
                .failsWithin(Duration.ofSeconds(20))
                .withThrowableOfType(ExecutionException.class)
                .havingCause()
                .isInstanceOfSatisfying(
                        RpcException.class,
                        failure -> assertThat(failure.wasExecuted()).isEqualTo(Executed.MAYBE));
    }

    @Test
    void deadlineThatPassesWhileARepeatedCallWaitsDoesNotHideThatItMayHaveRun() {
        losesTheFirstCall(StatusCode.UNAVAILABLE, () -> connection(ONE).available = false, ONE);
        Service service = idempotent(true, ONE);

        RpcException failure = catchThrowableOfType(RpcException.class, service::call);

        assertThat(failure.code()).isEqualTo(StatusCode.DEADLINE_EXCEEDED);
        assertThat(failure.wasExecuted()).isEqualTo(Executed.MAYBE);
        assertThat(Fallback.covers(failure)).isFalse();
    }

    @Test
    void deadlineThatPassesWhileARepeatedAsynchronousCallWaitsDoesNotHideThatItMayHaveRun() {
        losesTheFirstCall(StatusCode.UNAVAILABLE, () -> connection(ONE).available = false, ONE);

        assertThat(idempotent(true, ONE).later())
                .failsWithin(Duration.ofSeconds(20))
                .withThrowableOfType(ExecutionException.class)
                .havingCause()
                .isInstanceOfSatisfying(RpcException.class, failure -> {
                    assertThat(failure.code()).isEqualTo(StatusCode.DEADLINE_EXCEEDED);
                    assertThat(failure.wasExecuted()).isEqualTo(Executed.MAYBE);
                });
    }

    @Test
    void callsOfAClosedClientFailAtOnceAndSaySo() {
        Service impatient = idempotent(false, ONE);
        Service patient = client.refer(ServiceReference.to(Service.class, new StaticEndpoints(List.of(ONE)))
                .protocol("fake")
                .timeout(Duration.ofDays(1))
                .waitForReady()
                .build());
        client.close();

        assertThatThrownBy(impatient::call).hasMessageContaining("the client is closed");
        assertThatThrownBy(patient::call).hasMessageContaining("the client is closed");
        assertThat(patient.later())
                .failsWithin(Duration.ofSeconds(20))
                .withThrowableThat()
                .withMessageContaining("the client is closed");
        assertThatThrownBy(() -> idempotent(false, ONE))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageStartingWith("the client is closed; ");
    }

    @Test
    void asynchronousCallThatWaitsForAProviderEndsWhenTheClientIsClosed() {
        CompletableFuture<String> result = patient(Duration.ofDays(1)).later();

        client.close();

        assertThat(result)
                .failsWithin(Duration.ofSeconds(20))
                .withThrowableThat()
                .withMessageContaining("the client is closed");
    }

    @Test
    void runningCallThatTheCloseEndsSaysThatTheClientIsClosedAndThatItMayHaveRun() {
        connection(ONE).taking = (connection, call) -> {
            client.close();
            call.fail(RpcException.refusal(StatusCode.UNAVAILABLE, "the connection was closed", Executed.MAYBE));
        };
        Service service = idempotent(false, ONE);

        RpcException failure = catchThrowableOfType(RpcException.class, service::call);

        assertThat(failure.wasExecuted()).isEqualTo(Executed.MAYBE);
        assertThat(failure).hasMessageContaining("the client is closed");
    }

    /** A service with an overloaded method. Only one overload has the parameter {@code b}. */
    public interface Overloaded {
        void add(int a);

        void add(int a, int b);
    }

    @Test
    void hashKeyThatOneOverloadLacksIsRefusedWithTheReason() {
        assertThatThrownBy(() -> client.refer(ServiceReference.to(Overloaded.class, new StaticEndpoints(List.of(ONE)))
                        .protocol("fake")
                        .method("add", MethodSettings.NONE.withHashKey("b"))
                        .build()))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageStartingWith("an overload of ")
                .hasMessageEndingWith("it has [a]; all overloads need this parameter");
    }

    @Test
    void hashKeyThatNoMethodHasIsRefused() {
        assertThatThrownBy(() -> client.refer(ServiceReference.to(Service.class, new StaticEndpoints(List.of(ONE)))
                        .protocol("fake")
                        .defaults(MethodSettings.NONE.withHashKey("user"))
                        .build()))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("has a parameter 'user', which its hash key names; its methods have [");
    }

    /** A service whose calls have an argument. */
    public interface Stock {
        void take(String item);
    }

    @Test
    void firstArgumentIsTheKeyOfConsistentHashIfNoneIsNamed() {
        Endpoint[] endpoints = IntStream.range(0, 8)
                .mapToObj(i -> new Endpoint("10.0.1." + i, 1))
                .toArray(Endpoint[]::new);
        for (Endpoint endpoint : endpoints) {
            connection(endpoint).taking = (connection, call) -> {
                asked.add(connection.endpoint);
                call.answer(Answer.NOTHING);
            };
        }
        Stock stock = client.refer(ServiceReference.to(Stock.class, new StaticEndpoints(List.of(endpoints)))
                .protocol("fake")
                .cluster(ClusterSettings.DEFAULT.withPolicy(Policies.named(Policies.CONSISTENT_HASH)))
                .build());

        for (int i = 0; i < 20; i++) {
            stock.take("apple");
        }
        assertThat(Set.copyOf(asked)).hasSize(1);
        for (int i = 0; i < 100; i++) {
            stock.take("item" + i);
        }
        assertThat(Set.copyOf(asked)).hasSizeGreaterThan(1);
    }

    @Test
    void groupOrVersionThatStandsForSeveralIsRefused() {
        for (String several : List.of("*", "a,b")) {
            assertThatThrownBy(() -> ServiceReference.to(Service.class, new StaticEndpoints(List.of(ONE)))
                            .group(several)
                            .build())
                    .hasMessageContaining("the group '" + several + "' of the reference to ");
            assertThatThrownBy(() -> ServiceReference.to(Service.class, new StaticEndpoints(List.of(ONE)))
                            .version(several)
                            .build())
                    .hasMessageContaining("use one reference for each version");
        }
    }
}
