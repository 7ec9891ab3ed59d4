package tern.rpc.server;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Flow;
import java.util.concurrent.SubmissionPublisher;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.slf4j.MDC;
import tern.rpc.RpcException;
import tern.rpc.client.RpcClient;
import tern.rpc.client.ServiceReference;
import tern.rpc.endpoint.Endpoint;
import tern.rpc.endpoint.StaticEndpoints;
import tern.rpc.serialization.JdkSerializer;
import tern.rpc.transport.InMemoryTransport;

/** Tests that one call cannot see the thread-local state of another call. */
@Timeout(60)
class ThreadStateTest {

    private static final ThreadLocal<String> CALLER = new ThreadLocal<>();

    /**
     * A service whose methods read the name that a previous call has left on the thread, and then leave a different
     * name on the thread.
     */
    public interface Careless {

        String value();

        String fails();

        CompletionStage<String> later();

        CompletionStage<Boolean> interrupts();

        Flow.Publisher<String> many();

        CompletionStage<String> collect(Flow.Publisher<String> names);
    }

    private final AtomicBoolean first = new AtomicBoolean(true);
    private final List<String> found = new CopyOnWriteArrayList<>();
    private final InMemoryTransport transport = new InMemoryTransport(new JdkSerializer());
    private @Nullable RpcServer server;
    private @Nullable RpcClient client;

    private String leave(String name) {
        found.add(CALLER.get() + "/" + MDC.get("caller"));
        CALLER.set(name);
        MDC.put("caller", name);
        return name;
    }

    private final class Leaving implements Careless {

        @Override
        public String value() {
            return leave("value");
        }

        @Override
        public String fails() {
            throw new IllegalStateException(leave("fails"));
        }

        @Override
        public CompletionStage<String> later() {
            return CompletableFuture.completedFuture(leave("later"));
        }

        @Override
        public CompletionStage<Boolean> interrupts() {
            boolean interrupted = Thread.interrupted();
            while (first.get() && Objects.requireNonNull(server).workers().queued() == 0) {
                // Waits until another call is queued, so that this thread runs the queued call next.
                Thread.onSpinWait();
            }
            first.set(false);
            Thread.currentThread().interrupt();
            return CompletableFuture.completedFuture(interrupted);
        }

        @Override
        public Flow.Publisher<String> many() {
            leave("many");
            return subscriber -> subscriber.onSubscribe(new Flow.Subscription() {
                @Override
                public void request(long items) {
                    leave("request");
                    subscriber.onComplete();
                }

                @Override
                public void cancel() {
                    // This publisher publishes nothing, so there is nothing to cancel.
                }
            });
        }

        @Override
        public CompletionStage<String> collect(Flow.Publisher<String> names) {
            leave("collect");
            CompletableFuture<String> all = new CompletableFuture<>();
            names.subscribe(new Flow.Subscriber<>() {
                @Override
                public void onSubscribe(Flow.Subscription subscription) {
                    subscription.request(Long.MAX_VALUE);
                }

                @Override
                public void onNext(String name) {
                    leave("next");
                }

                @Override
                public void onError(Throwable failure) {
                    all.completeExceptionally(failure);
                }

                @Override
                public void onComplete() {
                    all.complete("all");
                }
            });
            return all;
        }
    }

    private Careless serve() {
        server = RpcServer.builder(transport)
                .export(ServiceExport.of(Careless.class, new Leaving()))
                .workers(1, 10)
                .maxQueueWait(Duration.ofSeconds(20))
                .clearThreads(CALLER::remove)
                .build();
        server.start();
        client = RpcClient.builder()
                .transport(transport)
                .timeout(Duration.ofSeconds(20))
                .build();
        return client.refer(ServiceReference.to(Careless.class, new StaticEndpoints(List.of(new Endpoint("memory", 0))))
                .protocol(InMemoryTransport.PROTOCOL)
                .build());
    }

    @AfterEach
    void close() {
        Objects.requireNonNull(client).close();
        Objects.requireNonNull(server).close();
    }

    @Test
    void noCallSeesThreadStateOfAnotherCall() throws Exception {
        Careless service = serve();

        for (int round = 0; round < 3; round++) {
            service.value();
            try {
                service.fails();
            } catch (RuntimeException expected) {
                assertThat(expected).isNotInstanceOf(RpcException.class);
            }
            service.later().toCompletableFuture().get(20, TimeUnit.SECONDS);
        }

        assertThat(found).hasSize(9).containsOnly("null/null");
    }

    @Test
    void noCallFindsAnInterruptThatWasForAnother() throws Exception {
        Careless service = serve();

        CompletableFuture<Boolean> before = service.interrupts().toCompletableFuture();
        CompletableFuture<Boolean> after = service.interrupts().toCompletableFuture();

        assertThat(before.get(20, TimeUnit.SECONDS)).isFalse();
        assertThat(after.get(20, TimeUnit.SECONDS)).isFalse();
    }

    @Test
    void noCallSeesThreadStateOfAStream() throws Exception {
        Careless service = serve();

        for (int round = 0; round < 3; round++) {
            CountDownLatch over = new CountDownLatch(1);
            service.many().subscribe(new Flow.Subscriber<>() {
                @Override
                public void onSubscribe(Flow.Subscription subscription) {
                    subscription.request(1);
                }

                @Override
                public void onNext(String item) {
                    // The publisher publishes no items.
                }

                @Override
                public void onError(Throwable failure) {
                    over.countDown();
                }

                @Override
                public void onComplete() {
                    over.countDown();
                }
            });
            assertThat(over.await(20, TimeUnit.SECONDS)).isTrue();
            found.clear();
            try (SubmissionPublisher<String> names = new SubmissionPublisher<>()) {
                CompletionStage<String> collected = service.collect(names);
                names.submit("a");
                names.close();
                collected.toCompletableFuture().get(20, TimeUnit.SECONDS);
            }
            assertThat(found.get(0)).isEqualTo("null/null");
            service.value();
            assertThat(found.get(found.size() - 1)).isEqualTo("null/null");
        }
    }
}
