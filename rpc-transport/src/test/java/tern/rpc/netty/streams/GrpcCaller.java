package tern.rpc.netty.streams;

import com.example.ledger.Entry;
import com.example.ledger.Receipt;
import com.google.protobuf.Message;
import io.grpc.CallOptions;
import io.grpc.ClientCall;
import io.grpc.ManagedChannel;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.Status;
import io.grpc.netty.GrpcSslContexts;
import io.grpc.netty.NettyChannelBuilder;
import io.netty.handler.ssl.SslContext;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.List;
import java.util.concurrent.TimeUnit;
import javax.net.ssl.SSLException;
import org.jspecify.annotations.Nullable;
import tern.rpc.StatusCode;
import tern.rpc.netty.streams.FeedPlan.Way;

/**
 * A client based on grpc-java. The client sends messages while the stream is ready, and requests answers one by one.
 */
final class GrpcCaller implements FeedCaller {

    private final GrpcMethods methods;
    private final int window;
    private final ManagedChannel channel;

    /**
     * @param window the initial flow-control window of streams and of the connection, in bytes; the window of the
     *     connection is at least 65,535
     */
    GrpcCaller(int port, GrpcMethods methods, int window, boolean tls) {
        this.methods = methods;
        this.window = window;
        NettyChannelBuilder builder = NettyChannelBuilder.forAddress(
                        new InetSocketAddress(InetAddress.getLoopbackAddress(), port))
                .flowControlWindow(window);
        if (tls) {
            builder.sslContext(trusting());
        } else {
            builder.usePlaintext();
        }
        this.channel = builder.build();
    }

    private static SslContext trusting() {
        try {
            return GrpcSslContexts.forClient()
                    .trustManager(FeedsSettings.authority().trust())
                    .build();
        } catch (SSLException e) {
            throw new IllegalStateException(e);
        }
    }

    @Override
    public void begin(Feed feed) {
        GrpcMethods called = feed.plan.mistake() == null ? methods : GrpcMethods.MISFITS;
        switch (feed.plan.way()) {
            case DOWN -> call(feed, of(called.down(), feed), feed.plan.period());
            case UP -> call(feed, of(called.up(), feed), null);
            case BOTH -> call(feed, of(called.both(), feed), null);
        }
    }

    private static <T> T of(List<? extends T> choice, Feed feed) {
        return choice.get(feed.plan.id() % choice.size());
    }

    private <Q, A> void call(Feed feed, MethodDescriptor<Q, A> method, @Nullable Q only) {
        CallOptions options = CallOptions.DEFAULT;
        if (feed.plan.deadline() != null) {
            options = options.withDeadlineAfter(feed.plan.deadline().toNanos(), TimeUnit.NANOSECONDS);
        }
        ClientCall<Q, A> call = channel.newCall(method, options);
        feed.cancelledBy(() -> call.cancel("by plan", null));
        Metadata headers = new Metadata();
        if (feed.plan.mistake() != null) {
            headers.put(
                    Metadata.Key.of(Misfits.KIND, Metadata.ASCII_STRING_MARSHALLER),
                    feed.plan.mistake().name());
        }
        call.start(new Listener<>(feed, call), headers);
        if (only != null) {
            call.sendMessage(only);
            call.halfClose();
        }
        if (feed.plan.way() == Way.UP) {
            call.request(2);
        } else {
            feed.askFirst(() -> call.request(Integer.MAX_VALUE), () -> call.request(1));
        }
    }

    @Override
    public void close() throws InterruptedException {
        channel.shutdownNow();
        if (!channel.awaitTermination(10, TimeUnit.SECONDS)) {
            throw new IllegalStateException("the channel did not end");
        }
    }

    @Override
    public String toString() {
        return "grpc-java and " + methods + ", windows of " + window;
    }

    private static final class Listener<Q, A> extends ClientCall.Listener<A> {

        private final Feed feed;
        private final ClientCall<Q, A> call;
        private boolean requestsEnded;

        Listener(Feed feed, ClientCall<Q, A> call) {
            this.feed = feed;
            this.call = call;
            this.requestsEnded = feed.plan.way() == Way.DOWN;
        }

        @Override
        @SuppressWarnings("unchecked")
        public void onReady() {
            while (!requestsEnded && call.isReady()) {
                if (feed.hasMore()) {
                    Entry request = feed.give();
                    if (feed.isCancelled()) {
                        return;
                    }
                    call.sendMessage((Q) request);
                } else {
                    requestsEnded = true;
                    call.halfClose();
                }
            }
        }

        @Override
        public void onMessage(A answer) {
            boolean cancels = false;
            if (answer instanceof Entry entry) {
                cancels = feed.take(entry);
            } else if (feed.plan.way() == Way.UP) {
                feed.take((Receipt) (Message) answer);
            } else {
                cancels = feed.take(((Receipt) (Message) answer).getBalance());
            }
            if (cancels) {
                call.cancel("by plan", null);
            } else {
                feed.askNext(() -> call.request(1));
            }
        }

        @Override
        public void onClose(Status status, Metadata trailers) {
            if (status.isOk()) {
                feed.ended(StatusCode.OK);
            } else {
                feed.failed(status.asRuntimeException());
            }
        }
    }
}
