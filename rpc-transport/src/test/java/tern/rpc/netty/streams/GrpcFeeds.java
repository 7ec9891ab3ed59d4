package tern.rpc.netty.streams;

import com.example.ledger.Entry;
import io.grpc.Server;
import io.grpc.ServerServiceDefinition;
import io.grpc.netty.NettyServerBuilder;
import io.grpc.stub.ServerCallStreamObserver;
import io.grpc.stub.ServerCalls;
import io.grpc.stub.StreamObserver;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.ArrayDeque;
import java.util.Queue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import tern.rpc.RpcException;

/** A server based on grpc-java with the methods of {@link Feeds}. */
final class GrpcFeeds implements AutoCloseable {

    private final ExecutorService executor = Executors.newFixedThreadPool(8);
    private final Server server;

    /**
     * @param window the initial flow-control window of streams and of connections, in bytes; the window of a connection
     *     is at least 65,535
     */
    GrpcFeeds(int window) {
        ServerServiceDefinition.Builder service = ServerServiceDefinition.builder(Feeds.class.getName());
        GrpcMethods.FEEDS
                .down()
                .forEach(method -> service.addMethod(
                        method,
                        ServerCalls.asyncServerStreamingCall((period, answers) -> LedgerFeeds.statementWhileReady(
                                FeedPlan.of(period), (ServerCallStreamObserver<Entry>) answers))));
        GrpcMethods.FEEDS
                .up()
                .forEach(method -> service.addMethod(
                        method, ServerCalls.asyncClientStreamingCall(answer -> new LedgerFeeds().import_(answer))));
        GrpcMethods.BOTH.forEach(
                name -> service.addMethod(GrpcMethods.both(name), ServerCalls.asyncBidiStreamingCall(Echo::new)));
        server = NettyServerBuilder.forAddress(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0))
                .executor(executor)
                .flowControlWindow(window)
                .maxConcurrentCallsPerConnection(Integer.MAX_VALUE)
                .addService(service.build())
                .build();
        try {
            server.start();
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
    }

    int port() {
        return server.getPort();
    }

    /**
     * Sends each received message back while the stream is ready. Requests the next message after it has sent the
     * previous one.
     */
    private static final class Echo implements StreamObserver<Entry> {

        private final ServerCallStreamObserver<Entry> answers;
        private final FeedsServer.Reader reader = new FeedsServer.Reader();
        private final Queue<Entry> unsent = new ArrayDeque<>();
        private boolean requestsEnded;
        private boolean ended;

        Echo(StreamObserver<Entry> answers) {
            this.answers = (ServerCallStreamObserver<Entry>) answers;
            this.answers.disableAutoRequest();
            this.answers.setOnCancelHandler(() -> ended = true);
            this.answers.setOnReadyHandler(this::send);
            this.answers.request(1);
        }

        @Override
        public void onNext(Entry entry) {
            if (ended) {
                return;
            }
            try {
                reader.read(entry);
            } catch (RpcException e) {
                ended = true;
                answers.onError(io.grpc.Status.ABORTED.asRuntimeException());
                return;
            }
            unsent.add(entry);
            send();
        }

        private void send() {
            while (!ended && answers.isReady()) {
                @Nullable Entry next = unsent.poll();
                if (next == null) {
                    if (requestsEnded) {
                        ended = true;
                        answers.onCompleted();
                    }
                    return;
                }
                answers.onNext(next);
                answers.request(1);
            }
        }

        @Override
        public void onError(Throwable failure) {
            ended = true;
        }

        @Override
        public void onCompleted() {
            requestsEnded = true;
            send();
        }
    }

    @Override
    public void close() throws InterruptedException {
        server.shutdownNow();
        if (!server.awaitTermination(20, TimeUnit.SECONDS)) {
            throw new IllegalStateException("the server did not end");
        }
        executor.shutdownNow();
    }
}
