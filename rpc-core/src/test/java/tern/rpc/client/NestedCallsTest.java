package tern.rpc.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import java.net.SocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Flow;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tern.rpc.Deadline;
import tern.rpc.Invocation;
import tern.rpc.Metadata;
import tern.rpc.RpcException;
import tern.rpc.RpcException.Executed;
import tern.rpc.ServerContext;
import tern.rpc.ServiceDescriptor;
import tern.rpc.ServiceKey;
import tern.rpc.StatusCode;
import tern.rpc.endpoint.Endpoint;
import tern.rpc.endpoint.StaticEndpoints;
import tern.rpc.serialization.JdkSerializer;
import tern.rpc.server.RpcServer;
import tern.rpc.server.ServiceExport;
import tern.rpc.transport.InMemoryTransport;

/** Tests the calls that a method makes while it serves another call. */
@Timeout(60)
class NestedCallsTest {

    interface Shop {
        CompletableFuture<String> buy(String how);
    }

    /** The service that the shop calls. */
    interface Bank {
        String pay();

        CompletableFuture<String> payLater();

        Flow.Publisher<String> payments();
    }

    private static ServerContext context() {
        return Objects.requireNonNull(ServerContext.current());
    }

    private final BlockingQueue<String> events = new LinkedBlockingQueue<>();
    private final CountDownLatch closed = new CountDownLatch(1);
    private final List<AutoCloseable> open = new ArrayList<>();
    private final Bank bank = serve(Bank.class, new SlowBank());
    private final Bank filteredBank = filtered();
    private final Shop shop = serve(Shop.class, new BuyingShop());

    /** A bank whose calls end only when they are cancelled. */
    private final class SlowBank implements Bank {

        @Override
        public String pay() {
            awaitCancellation();
            return "paid";
        }

        @Override
        public CompletableFuture<String> payLater() {
            begins();
            return new CompletableFuture<>();
        }

        @Override
        public Flow.Publisher<String> payments() {
            begins();
            return subscriber -> {};
        }

        private void begins() {
            events.add("begun");
            context().onCancel(() -> events.add("cancelled"));
        }

        private void awaitCancellation() {
            begins();
            context().onCancel(closed::countDown);
            await(closed);
        }
    }

    private final class BuyingShop implements Shop {

        @Override
        public CompletableFuture<String> buy(String how) {
            if (how.startsWith("afterwards ")) {
                CountDownLatch cancelled = new CountDownLatch(1);
                context().onCancel(cancelled::countDown);
                events.add("waits");
                await(cancelled);
            }
            switch (how.substring(how.indexOf(' ') + 1)) {
                case "blocking" -> record(catchThrowableOfType(RpcException.class, bank::pay));
                case "filtered" -> record(catchThrowableOfType(RpcException.class, filteredBank::pay));
                case "later" -> bank.payLater().whenComplete((paid, failure) -> record(failure));
                case "filtered later" -> filteredBank.payLater().whenComplete((paid, failure) -> record(failure));
                case "stream" -> bank.payments().subscribe(new StreamRecorder());
                default -> throw new AssertionError(how);
            }
            return new CompletableFuture<>();
        }

        private void record(@Nullable Throwable failure) {
            RpcException error = (RpcException) Objects.requireNonNull(failure);
            events.add(error.code() + " " + error.wasExecuted());
        }

        private final class StreamRecorder implements Flow.Subscriber<String> {
            @Override
            public void onSubscribe(Flow.Subscription subscription) {
                subscription.request(1);
            }

            @Override
            public void onNext(String item) {
                events.add(item);
            }

            @Override
            public void onError(Throwable failure) {
                record(failure);
            }

            @Override
            public void onComplete() {
                events.add("complete");
            }
        }
    }

    private static void await(CountDownLatch latch) {
        try {
            assertThat(latch.await(30, TimeUnit.SECONDS)).isTrue();
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    private <T> T serve(Class<T> type, T service) {
        InMemoryTransport transport = new InMemoryTransport(new JdkSerializer());
        RpcServer server = RpcServer.builder(transport)
                .export(ServiceExport.of(type, service))
                .build();
        open.add(server);
        server.start();
        return refer(type, RpcClient.builder().transport(transport));
    }

    private Bank filtered() {
        InMemoryTransport transport = new InMemoryTransport(new JdkSerializer());
        RpcServer server = RpcServer.builder(transport)
                .export(ServiceExport.of(Bank.class, new SlowBank()))
                .build();
        open.add(server);
        server.start();
        return refer(Bank.class, RpcClient.builder().transport(transport).filter((call, next) -> next.invoke(call)));
    }

    private <T> T refer(Class<T> type, RpcClient.Builder builder) {
        RpcClient client = builder.timeout(Duration.ofMinutes(1)).build();
        open.add(client);
        return client.refer(ServiceReference.to(type, new StaticEndpoints(List.of(new Endpoint("memory", 0))))
                .protocol(InMemoryTransport.PROTOCOL)
                .build());
    }

    @AfterEach
    void close() throws Exception {
        closed.countDown();
        for (AutoCloseable each : open) {
            each.close();
        }
    }

    private String next() throws InterruptedException {
        return String.valueOf(events.poll(30, TimeUnit.SECONDS));
    }

    @ParameterizedTest
    @ValueSource(strings = {"blocking", "filtered", "later", "filtered later", "stream"})
    void cancellationOfACallCancelsTheCallsThatItsMethodMakes(String how) throws Exception {
        CompletableFuture<String> bought = shop.buy("now " + how);
        assertThat(next()).isEqualTo("begun");

        bought.cancel(false);

        assertThat(List.of(next(), next())).containsExactlyInAnyOrder("cancelled", "CANCELLED MAYBE");
    }

    @ParameterizedTest
    @ValueSource(strings = {"blocking", "filtered", "later", "filtered later", "stream"})
    void callsThatBeginAfterTheCancellationAreNotSent(String how) throws Exception {
        CompletableFuture<String> bought = shop.buy("afterwards " + how);
        assertThat(next()).isEqualTo("waits");

        bought.cancel(false);

        assertThat(next()).isEqualTo("CANCELLED NO");
        assertThat(events).isEmpty();
    }

    @Test
    void callThatWaitsForAProviderEndsWithTheServedCall() throws Exception {
        FakeNetwork network = new FakeNetwork();
        Endpoint one = new Endpoint("one", 1);
        network.at(one).available = false;
        RpcClient client = RpcClient.builder()
                .transport(network)
                .timeout(Duration.ofMinutes(1))
                .build();
        open.add(client);
        Bank absent = client.refer(ServiceReference.to(Bank.class, new StaticEndpoints(List.of(one)))
                .protocol(FakeNetwork.PROTOCOL)
                .waitForReady()
                .build());
        ServerContext served = served(Deadline.none());
        CompletableFuture<RpcException> failed = new CompletableFuture<>();
        Thread caller = new Thread(() -> {
            ServerContext.replace(served);
            failed.complete(catchThrowableOfType(RpcException.class, absent::pay));
        });
        caller.start();
        while (caller.getState() != Thread.State.TIMED_WAITING) {
            Thread.onSpinWait();
        }

        served.cancel();

        RpcException failure = failed.get(30, TimeUnit.SECONDS);
        assertThat(failure.code()).isEqualTo(StatusCode.CANCELLED);
        assertThat(failure.wasExecuted()).isEqualTo(Executed.NO);
    }

    @Test
    void endOfTheTimeDoesNotCancelTheCallBecauseItHasTheSameDeadline() {
        AtomicLong now = new AtomicLong();
        ServerContext late = served(Deadline.at(10));
        NestedCall.begin(late, now::get, () -> events.add("cancelled"));
        now.set(10);

        late.cancel();

        assertThat(events).isEmpty();
    }

    @Test
    void callThatHasEndedIsNoLongerCancelled() {
        ServerContext served = served(Deadline.none());
        NestedCall first =
                Objects.requireNonNull(NestedCall.begin(served, System::nanoTime, () -> events.add("first")));
        NestedCall.begin(served, System::nanoTime, () -> events.add("second"));

        first.end();
        served.cancel();

        assertThat(events).containsExactly("second");
    }

    @Test
    void callOutsideOfAServedCallHasNoObserver() {
        assertThat(NestedCall.begin(null, System::nanoTime, () -> events.add("cancelled")))
                .isNull();
    }

    private static ServerContext served(Deadline deadline) {
        Invocation call = new Invocation(
                new ServiceKey(Shop.class.getName(), "", ""),
                ServiceDescriptor.of(Shop.class).methods().get(0),
                new Object[0],
                new Metadata(),
                deadline,
                Runnable::run);
        return new ServerContext(call, new ServerContext.Exchange() {
            @Override
            public String protocol() {
                return "tri";
            }

            @Override
            public @Nullable SocketAddress remoteAddress() {
                return null;
            }
        });
    }
}
