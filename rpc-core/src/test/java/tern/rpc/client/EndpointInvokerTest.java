package tern.rpc.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.function.BiConsumer;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import tern.rpc.CallOptions;
import tern.rpc.RpcException;
import tern.rpc.RpcException.Executed;
import tern.rpc.StatusCode;
import tern.rpc.cluster.ClusterSettings;
import tern.rpc.cluster.Policies;
import tern.rpc.endpoint.Attributes;
import tern.rpc.endpoint.Endpoint;
import tern.rpc.endpoint.Instance;
import tern.rpc.endpoint.StaticEndpoints;
import tern.rpc.transport.Answer;
import tern.rpc.transport.PendingCall;

/** Tests which connection gets a call that the first connection has refused. */
class EndpointInvokerTest extends ScriptedProviders {

    @Test
    void asynchronousCallEndsIfItsConnectionCannotBeOpened() {
        // a client opens its first connections one after another, so most of these connections are not open yet
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
            assertThat(failure)
                    .hasMessageContaining("on purpose; none of the 8 addresses can be reached; the others: 10.0.0.");
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
    void callRefusedByADeadProviderWaitsForAnOpeningConnection() {
        connection(TWO).available = false;
        connection(TWO).connecting = true;
        refuses(ONE, StatusCode.UNAVAILABLE, () -> connection(ONE).available = false);

        proxy(ONE, TWO).call();

        assertThat(asked).containsExactly(ONE);
    }

    @Test
    void callRefusedByABusyProviderDoesNotWaitForAnOpeningConnection() {
        connection(TWO).available = false;
        connection(TWO).connecting = true;
        refuses(ONE, StatusCode.RESOURCE_EXHAUSTED, () -> {});
        Service proxy = proxy(ONE, TWO);

        RpcException failure = catchThrowableOfType(RpcException.class, proxy::call);

        assertThat(failure.code()).isEqualTo(StatusCode.RESOURCE_EXHAUSTED);
        assertThat(asked).containsExactly(ONE);
    }

    @Test
    void callRefusedByADrainedConnectionGoesToItsSuccessor() {
        refuses(ONE, StatusCode.UNAVAILABLE, () -> {
            connection(ONE).available = false;
            connection(ONE).connecting = true;
            connection(ONE).taking = (connection, call) -> call.answer(Answer.NOTHING);
        });

        proxy(ONE).call();

        assertThat(asked).containsExactly(ONE);
    }

    /** The call must succeed even if the connection is replaced before the caller's thread sees the failure. */
    @Test
    void callOfALostConnectionGoesToAReadySuccessor() {
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
            // Does nothing, because this connection does not cancel calls on the server.
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

    private Service proxy(Instance... instances) {
        return client.refer(ServiceReference.to(Service.class, StaticEndpoints.of(List.of(instances)))
                .protocol(FakeTransport.PROTOCOL)
                .build());
    }

    @Test
    void refusalOfTheOnlyProviderWithTheTagIsNotRepeated() {
        refuses(ONE, StatusCode.RESOURCE_EXHAUSTED, () -> {});
        Service proxy =
                proxy(new Instance(ONE, Attributes.DEFAULT.withTags(Map.of(Attributes.TAG, "gray"))), Instance.of(TWO));
        Service gray = CallOptions.none().tag("gray").on(proxy);

        assertThat(catchThrowableOfType(RpcException.class, gray::call).code())
                .isEqualTo(StatusCode.RESOURCE_EXHAUSTED);
        assertThat(asked).containsExactly(ONE);
    }

    @Test
    void refusalIsNotRepeatedIfAllOtherProvidersHaveWeightZero() {
        refuses(ONE, StatusCode.RESOURCE_EXHAUSTED, () -> {});
        Service proxy = proxy(Instance.of(ONE), new Instance(TWO, Attributes.ofWeight(0)));

        assertThat(catchThrowableOfType(RpcException.class, proxy::call).code())
                .isEqualTo(StatusCode.RESOURCE_EXHAUSTED);
        assertThat(asked).containsExactly(ONE);
    }

    @Test
    void callOfALostProviderGoesToAProviderWithWeightZero() {
        refuses(ONE, StatusCode.UNAVAILABLE, () -> connection(ONE).available = false);

        proxy(Instance.of(ONE), new Instance(TWO, Attributes.ofWeight(0))).call();

        assertThat(asked).containsExactly(ONE);
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
    void failureOfACallWithoutAnAnswerNamesTheProviderAndTheTimeout() {
        assertThatThrownBy(patient(Duration.ofMillis(50))::call)
                .hasMessageContaining("waited for a provider until its deadline")
                .hasMessageContaining("one:1: ");
    }

    @Test
    void failureOfAFilteredCallWithoutAnAnswerAlsoNamesTheProviderAndTheTimeout() {
        connection(ONE).available = false;
        try (RpcClient filtered = RpcClient.builder()
                .transport(new FakeTransport(this::connection))
                .filter((call, next) -> next.invoke(call))
                .build()) {
            Service service = filtered.refer(
                    reference(ONE).timeout(Duration.ofMillis(50)).waitForReady().build());

            for (int i = 0; i < 5; i++) {
                assertThatThrownBy(service::call)
                        .hasMessageContaining("waited for a provider until its deadline")
                        .hasMessageContaining("one:1: ");
            }
        }
    }

    @Test
    void optionsOfACallWinOverTheReference() {
        refuses(ONE, StatusCode.UNAVAILABLE, () -> {});
        Service proxy = patient(Duration.ofSeconds(20));

        assertThatThrownBy(CallOptions.none().waitForReady(false).on(proxy)::call)
                .hasMessageContaining("on purpose");
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
}
