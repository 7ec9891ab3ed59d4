package tern.rpc.transport;

import static org.assertj.core.api.Assertions.assertThat;
import static tern.rpc.transport.TransportTest.await;

import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Flow;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.stream.IntStream;
import tern.rpc.ServerContext;
import tern.rpc.StreamObserver;
import tern.rpc.client.RpcClient;
import tern.rpc.server.RpcServer;

/** The server, the client and the service for the stream tests. */
interface StreamContract {

    Duration LONG = Duration.ofSeconds(20);
    int CHUNK_BYTES = 16 << 10;

    /** Returns the service. The test sets the code of the service's methods. */
    StreamServer service();

    /** Starts a server that exports the service. */
    RpcServer serve(Consumer<RpcServer.Builder> settings);

    /** Returns a proxy that calls the most recently started server. */
    StreamService refer(Consumer<RpcClient.Builder> settings);

    /** Starts a server and returns a proxy that calls it. */
    StreamService proxy();

    /** Returns the number of calls in flight at the server. */
    int inFlight();

    /** Returns the latch that blocks test code. The latch is also counted down at the end of the test. */
    CountDownLatch letGoLatch();

    <T> Future<T> inBackground(Callable<T> call);

    default void awaitNothingInFlight() {
        await("no call in flight", () -> inFlight() == 0);
    }

    static List<String> numbers(int count) {
        return IntStream.range(0, count).mapToObj(String::valueOf).toList();
    }

    static byte[] bytes(String text) {
        return text.getBytes(java.nio.charset.StandardCharsets.UTF_8);
    }

    static ServerContext context() {
        return Objects.requireNonNull(ServerContext.current());
    }

    /** Reads the whole stream and returns a stage that completes with the number of values. */
    static CompletionStage<Integer> counting(Flow.Publisher<String> values) {
        CompletableFuture<Integer> counted = new CompletableFuture<>();
        values.subscribe(new Flow.Subscriber<>() {
            private int count;

            @Override
            public void onSubscribe(Flow.Subscription subscription) {
                subscription.request(Long.MAX_VALUE);
            }

            @Override
            public void onNext(String value) {
                count++;
            }

            @Override
            public void onError(Throwable failure) {
                counted.completeExceptionally(failure);
            }

            @Override
            public void onComplete() {
                counted.complete(count);
            }
        });
        return counted;
    }

    /** Answers each request with the request's own value. */
    static StreamObserver<byte[]> echoing(StreamObserver<byte[]> answers) {
        return new StreamObserver<>() {
            @Override
            public void onNext(byte[] value) {
                answers.onNext(value);
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

    default void awaitLetGo() {
        try {
            assertThat(letGoLatch().await(30, TimeUnit.SECONDS)).isTrue();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
