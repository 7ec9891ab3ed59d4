package tern.rpc.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import tern.rpc.Invocation;
import tern.rpc.Metadata;
import tern.rpc.MethodDescriptor;
import tern.rpc.Response;
import tern.rpc.RpcException;
import tern.rpc.RpcException.Executed;
import tern.rpc.Status;
import tern.rpc.StatusCode;
import tern.rpc.cluster.ClusterSettings;
import tern.rpc.cluster.Policies;
import tern.rpc.endpoint.Attributes;
import tern.rpc.endpoint.Balancer;
import tern.rpc.endpoint.Candidate;
import tern.rpc.endpoint.Endpoint;
import tern.rpc.endpoint.EndpointSnapshot;
import tern.rpc.endpoint.EndpointSource;
import tern.rpc.endpoint.Instance;
import tern.rpc.endpoint.Outcome;
import tern.rpc.endpoint.StaticEndpoints;
import tern.rpc.transport.Answer;
import tern.rpc.transport.PendingCall;
import tern.rpc.transport.RemoteFailures;

/**
 * Tests which providers get calls to a method that only some providers have, because two releases of the service run
 * side by side. Only the test advances the clock.
 */
class ReleasesTest {

    private static final List<Endpoint> FOUR = IntStream.range(0, 4)
            .mapToObj(i -> new Endpoint("10.0.0." + (i + 1), 20_880))
            .toList();

    /** The new release of a service. */
    public interface Orders {
        String find();

        String cancel();

        String cancel(String reason);

        CompletableFuture<String> cancelLater();

        default String label() {
            return "local";
        }
    }

    private final AtomicLong now = new AtomicLong();
    private final ManualTimer timer = new ManualTimer();
    private final FakeNetwork network = new FakeNetwork();
    private final Set<Endpoint> old = ConcurrentHashMap.newKeySet();
    private final Set<String> added = ConcurrentHashMap.newKeySet(); // the methods that the old release lacks
    private String text = "Orders has no method cancel; it has find";
    private StatusCode code = StatusCode.UNIMPLEMENTED;
    private Executed executed = Executed.NO;
    private final RpcClient client = RpcClient.builder()
            .clock(now::get)
            .timer(timer)
            .transport(network)
            .timeout(Duration.ofDays(1))
            .build();

    @BeforeEach
    void answerCalls() {
        network.taking = this::answer;
        added.addAll(List.of("cancel()", "cancelLater()", "label()"));
    }

    @AfterEach
    void close() {
        client.close();
    }

    private ServiceReference.Builder<Orders> reference(EndpointSource source) {
        return ServiceReference.to(Orders.class, source).protocol(FakeNetwork.PROTOCOL);
    }

    private Orders orders(Endpoint... endpoints) {
        return client.refer(reference(new StaticEndpoints(List.of(endpoints))).build());
    }

    private Orders ofFour() {
        return orders(FOUR.toArray(Endpoint[]::new));
    }

    private void answer(Endpoint endpoint, PendingCall call) {
        MethodDescriptor method = call.call().method();
        if (old.contains(endpoint) && added.contains(method.distinctName())) {
            RpcException told = new RpcException(new Status(code, text), executed, new Metadata());
            call.fail(RemoteFailures.answered(call.call(), endpoint, told));
            return;
        }
        call.answer(new Answer() {
            @Override
            public Response decode(Invocation decoded) {
                return Response.of("remote");
            }

            @Override
            public void discard() {
                // The answer has no resources to release.
            }
        });
    }

    private long sentTo(Endpoint endpoint, String method) {
        synchronized (network.sent) {
            return network.sent.stream()
                    .filter(sent -> sent.endpoint().equals(endpoint))
                    .filter(sent -> sent.call().call().method().distinctName().equals(method))
                    .count();
        }
    }

    private void passMillis(long millis) {
        now.addAndGet(TimeUnit.MILLISECONDS.toNanos(millis));
    }

    private void cancel(Orders orders, int calls) {
        for (int i = 0; i < calls; i++) {
            assertThat(orders.cancel()).isEqualTo("remote");
            passMillis(10);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"p2c", "round-robin", "consistent-hash"})
    void oldReleasesAreAskedOnceAndNoCallFails(String policy) {
        old.addAll(FOUR.subList(0, 3));
        Orders orders = client.refer(reference(new StaticEndpoints(FOUR))
                .cluster(ClusterSettings.DEFAULT.withPolicy(Policies.named(policy)))
                .build());

        cancel(orders, 400);

        assertThat(FOUR.subList(0, 3))
                .allSatisfy(endpoint -> assertThat(sentTo(endpoint, "cancel()")).isLessThanOrEqualTo(1));
        assertThat(sentTo(FOUR.get(3), "cancel()")).isEqualTo(400);
    }

    @Test
    void otherMethodsAndOverloadsStillUseTheOldRelease() {
        old.add(FOUR.get(0));
        Orders orders = orders(FOUR.get(0), FOUR.get(1));
        cancel(orders, 100);

        for (int i = 0; i < 100; i++) {
            assertThat(orders.find()).isEqualTo("remote");
            assertThat(orders.cancel("late")).isEqualTo("remote");
        }

        assertThat(sentTo(FOUR.get(0), "find()")).isBetween(20L, 80L);
        assertThat(sentTo(FOUR.get(0), "cancel(Ljava/lang/String;)")).isBetween(20L, 80L);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "UNIMPLEMENTED | NO | Orders has no method cancel; it has find",
                "INVALID_ARGUMENT | NO | Orders/cancel takes 1 argument, not 0",
                "INVALID_ARGUMENT | NO | Orders has no method cancel(int); it has cancel(String), cancel(long)",
                "INVALID_ARGUMENT | NO | Fail to decode request due to: Service not found:Orders, cancel",
                "UNIMPLEMENTED | MAYBE | Method not found: tern.rpc.client.ReleasesTest$Orders/cancel",
                "UNIMPLEMENTED | MAYBE | unknown method cancel for service tern.rpc.client.ReleasesTest$Orders",
                "UNIMPLEMENTED | MAYBE | Method tern.rpc.client.ReleasesTest$Orders/cancel is unimplemented",
                "UNIMPLEMENTED | MAYBE | The server does not implement the method"
                        + " /tern.rpc.client.ReleasesTest$Orders/cancel",
                "UNIMPLEMENTED | MAYBE | Method not found!",
            })
    void messagesOfAllServersMeanAMissingMethod(StatusCode told, Executed state, String message) {
        code = told;
        executed = state;
        text = message;
        old.add(FOUR.get(0));
        Orders orders = orders(FOUR.get(0), FOUR.get(1));
        for (int i = 0; i < 40; i++) {
            assertThat(orders.find()).isEqualTo("remote");
        }

        cancel(orders, 100);

        assertThat(sentTo(FOUR.get(0), "cancel()")).isEqualTo(1);
        assertThat(sentTo(FOUR.get(1), "cancel()")).isEqualTo(100);
    }

    @Test
    void methodThatReportsAnotherServersMissingMethodIsNotRepeated() {
        executed = Executed.MAYBE;
        text = "Method not found: other.Service/cancel";
        old.add(FOUR.get(0));
        Orders orders = orders(FOUR.get(0), FOUR.get(1));
        for (int i = 0; i < 40; i++) {
            assertThat(orders.find()).isEqualTo("remote");
        }

        int failed = 0;
        for (int i = 0; i < 100; i++) {
            try {
                orders.cancel();
            } catch (RpcException e) {
                failed++;
            }
        }

        assertThat(failed).isEqualTo(1);
        assertThat(sentTo(FOUR.get(0), "cancel()") + sentTo(FOUR.get(1), "cancel()"))
                .isEqualTo(100);
    }

    @Test
    void errorSaysThatNoProviderHasTheMethodAndLaterCallsFailAtOnce() {
        old.addAll(FOUR);
        Orders orders = ofFour();

        RpcException first = catchThrowableOfType(RpcException.class, orders::cancel);

        assertThat(network.sent).hasSize(4);
        assertThat(first)
                .hasMessageContaining("has no method cancel; it has find")
                .hasMessageEndingWith("; all 4 providers were asked, and none of them has the method");
        assertThat(first.status().description()).isEqualTo(text);
        assertThat(first.wasExecuted()).isEqualTo(Executed.NO);
        assertThatThrownBy(orders::cancel).hasMessageContaining("all 4 providers were asked");
        assertThat(network.sent).hasSize(5);
    }

    @Test
    void errorNamesTheProvidersThatCouldNotBeAsked() {
        old.add(FOUR.get(0));
        network.at(FOUR.get(1)).available = false;
        Orders orders = orders(FOUR.get(0), FOUR.get(1));

        assertThatThrownBy(orders::cancel)
                .hasMessageContaining(
                        "; providers asked: 1 of 2, none of which has the method; the others cannot be reached:"
                                + " 10.0.0.2:20880");
    }

    @Test
    void providerIsAskedAgainAfterGrowingPauses() {
        old.add(FOUR.get(0));
        Orders orders = orders(FOUR.get(0), FOUR.get(1));
        cancel(orders, 100);
        assertThat(sentTo(FOUR.get(0), "cancel()")).isEqualTo(1);

        passMillis(10_000);
        cancel(orders, 100);
        assertThat(sentTo(FOUR.get(0), "cancel()")).isEqualTo(2);

        passMillis(10_000);
        cancel(orders, 100);
        assertThat(sentTo(FOUR.get(0), "cancel()")).isEqualTo(2);

        old.clear();
        passMillis(20_000);
        cancel(orders, 400);
        assertThat(sentTo(FOUR.get(0), "cancel()")).isGreaterThan(100);
    }

    @Test
    void providerIsAskedAgainAtOnceAfterItsAttributesChange() {
        old.add(FOUR.get(0));
        ChangingSource source = new ChangingSource();
        Orders orders = client.refer(reference(source).build());
        source.list(Instance.of(FOUR.get(0)), Instance.of(FOUR.get(1)));
        cancel(orders, 100);

        source.list(new Instance(FOUR.get(0), Attributes.ofWeight(90)), Instance.of(FOUR.get(1)));
        passMillis(200);
        cancel(orders, 100);
        assertThat(sentTo(FOUR.get(0), "cancel()"))
                .as("a weight says nothing about a release")
                .isEqualTo(1);

        old.clear();
        source.list(new Instance(FOUR.get(0), Attributes.DEFAULT.withRevision("2")), Instance.of(FOUR.get(1)));
        passMillis(200);
        cancel(orders, 200);
        assertThat(sentTo(FOUR.get(0), "cancel()")).isGreaterThan(50);
    }

    @Test
    void callsWithoutAReleaseInTheirZoneLeaveTheZone() {
        old.addAll(FOUR.subList(0, 2));
        ChangingSource source = new ChangingSource();
        Orders orders = client.refer(reference(source)
                .cluster(ClusterSettings.DEFAULT.withZone("near"))
                .build());
        source.list(
                new Instance(FOUR.get(0), Attributes.DEFAULT.withZone("near")),
                new Instance(FOUR.get(1), Attributes.DEFAULT.withZone("near")),
                new Instance(FOUR.get(2), Attributes.DEFAULT.withZone("far")));

        cancel(orders, 100);

        assertThat(sentTo(FOUR.get(2), "cancel()")).isEqualTo(100);
    }

    @Test
    void balancerOfTheApplicationChoosesAmongTheProvidersThatHaveTheMethod() {
        old.add(FOUR.get(0));
        Orders orders = client.refer(reference(new StaticEndpoints(FOUR))
                .cluster(ClusterSettings.DEFAULT.withPolicy(candidates -> new Balancer() {
                    @Override
                    public Candidate pick(long key, Candidate excluded, long nowNanos) {
                        return candidates.get(0);
                    }

                    @Override
                    public void ended(Candidate picked, Outcome outcome, long tookNanos) {
                        // This balancer ignores outcomes.
                    }
                }))
                .build());

        cancel(orders, 100);

        assertThat(sentTo(FOUR.get(0), "cancel()")).isEqualTo(1);
        assertThat(sentTo(FOUR.get(1), "cancel()")).isEqualTo(100);
    }

    @Test
    void asynchronousCallsInFlightAreRepeatedOutsideOfTheBudget() {
        Orders orders = ofFour();
        network.taking = (endpoint, call) -> {};
        List<CompletableFuture<String>> calls =
                IntStream.range(0, 200).mapToObj(i -> orders.cancelLater()).toList();
        List<FakeNetwork.Sent> inFlight = List.copyOf(network.sent);

        old.addAll(FOUR.subList(0, 2));
        network.taking = this::answer;
        inFlight.forEach(sent -> answer(sent.endpoint(), sent.call()));

        assertThat(calls).allSatisfy(call -> assertThat(call.join()).isEqualTo("remote"));
    }

    @Test
    void callThatMayWaitWaitsForTheProviderThatHasTheMethod() {
        old.add(FOUR.get(0));
        network.at(FOUR.get(1)).available = false;
        Orders orders = patient(new StaticEndpoints(FOUR.subList(0, 2)));
        CompletableFuture<String> waiting = orders.cancelLater();
        assertThat(sentTo(FOUR.get(0), "cancelLater()")).isEqualTo(1);
        assertThat(orders.find()).isEqualTo("remote");
        timer.runAll();
        assertThat(waiting).isNotDone();

        network.at(FOUR.get(1)).available = true;
        timer.runAll();

        assertThat(waiting.join()).isEqualTo("remote");
        assertThat(sentTo(FOUR.get(1), "cancelLater()")).isEqualTo(1);
    }

    @Test
    void bodyOfADefaultMethodRunsInTheCallerOnlyIfNoProviderHasTheMethod() {
        old.addAll(FOUR.subList(0, 3));
        text = "Orders has no method label; it has find";
        Orders orders = ofFour();

        for (int i = 0; i < 20; i++) {
            assertThat(orders.label()).isEqualTo("remote");
        }
        old.addAll(FOUR);
        passMillis(1_000);

        assertThat(orders.label()).isEqualTo("local");
    }

    @Test
    void fallbackAnswersAMethodThatNoProviderHas() {
        old.addAll(FOUR);
        Orders orders = client.refer(reference(new StaticEndpoints(FOUR))
                .fallback(new Orders() {
                    @Override
                    public String find() {
                        return "fallback";
                    }

                    @Override
                    public String cancel() {
                        return "fallback";
                    }

                    @Override
                    public String cancel(String reason) {
                        return "fallback";
                    }

                    @Override
                    public CompletableFuture<String> cancelLater() {
                        return CompletableFuture.completedFuture("fallback");
                    }
                })
                .build());

        assertThat(orders.cancel()).isEqualTo("fallback");
        assertThat(orders.cancelLater().join()).isEqualTo("fallback");
        old.remove(FOUR.get(2));
        passMillis(20_000);
        assertThat(orders.cancel()).isEqualTo("remote");

        text = "service Orders:2.0 is not exported here; exported services: Orders";
        added.add("find()");
        old.addAll(FOUR);
        assertThatThrownBy(orders::find).hasMessageContaining("is not exported here");
    }

    @Test
    void callThatMayWaitIsNotSentToAProcessThatOnlyAcceptsConnections() {
        network.at(FOUR.get(0)).heard = false;
        Orders orders = patient(new StaticEndpoints(FOUR.subList(0, 1)));
        CompletableFuture<String> served = orders.cancelLater();
        timer.runAll();
        assertThat(network.sent).isEmpty();
        assertThat(network.at(FOUR.get(0)).probes).isPositive();

        network.at(FOUR.get(0)).heard = true;
        timer.runAll();
        assertThat(served.join()).isEqualTo("remote");

        network.at(FOUR.get(0)).heard = false;
        CompletableFuture<String> late = orders.cancelLater();
        assertThatItWaitedInVain(late, "10.0.0.1:20880: accepts connections but has sent nothing");
    }

    @Test
    void callThatMayWaitIsNotSentToAProviderThatIsAboutToStop() {
        ChangingSource source = new ChangingSource();
        Orders orders = patient(source);
        source.list(new Instance(FOUR.get(0), Attributes.DEFAULT.withDraining(true)));
        CompletableFuture<String> served = orders.cancelLater();
        timer.runAll();
        assertThat(network.sent).isEmpty();

        passMillis(10_000);
        source.list(new Instance(FOUR.get(0), Attributes.DEFAULT.withDraining(true)), Instance.of(FOUR.get(1)));
        timer.runAll();
        assertThat(served.join()).isEqualTo("remote");
        assertThat(sentTo(FOUR.get(1), "cancelLater()")).isEqualTo(1);

        passMillis(10_000);
        source.list(new Instance(FOUR.get(0), Attributes.DEFAULT.withDraining(true)));
        timer.runAll();
        assertThatItWaitedInVain(orders.cancelLater(), "10.0.0.1:20880: about to stop");
    }

    @Test
    void callThatMayWaitIsNotSentToAProviderOfAnotherProtocol() {
        ChangingSource source = new ChangingSource();
        Orders orders = patient(source);
        source.list(Instance.of(new Endpoint("10.0.0.1", 20_880, "10.0.0.1", "other")));

        assertThatItWaitedInVain(orders.cancelLater(), "all have other protocols (other://10.0.0.1:20880)");
        assertThat(network.sent).isEmpty();
    }

    private Orders patient(EndpointSource source) {
        return client.refer(reference(source).waitForReady().build());
    }

    private void assertThatItWaitedInVain(CompletableFuture<String> call, String reason) {
        timer.runAll();
        assertThat(call).isNotDone();
        passMillis(TimeUnit.DAYS.toMillis(1));
        timer.runAll();
        assertThatThrownBy(call::join).cause().isInstanceOfSatisfying(RpcException.class, failure -> {
            assertThat(failure.code()).isEqualTo(StatusCode.DEADLINE_EXCEEDED);
            assertThat(failure.wasExecuted()).isEqualTo(Executed.NO);
            assertThat(failure).hasMessageContaining(reason);
        });
    }

    /** A source whose list the test changes. */
    private static final class ChangingSource implements EndpointSource {

        private Consumer<EndpointSnapshot> listener = snapshot -> {};

        @Override
        public void start(Consumer<EndpointSnapshot> interested) {
            listener = interested;
        }

        void list(Instance... instances) {
            listener.accept(EndpointSnapshot.heard(List.of(instances), Instant.now()));
        }
    }
}
