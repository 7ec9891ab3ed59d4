package tern.rpc.grpc;

import io.grpc.Attributes;
import io.grpc.Context;
import io.grpc.Grpc;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.ServerCall;
import io.grpc.ServerCallHandler;
import io.grpc.Status;
import java.net.SocketAddress;
import java.time.Duration;
import java.util.concurrent.Executor;
import java.util.concurrent.Flow;
import java.util.concurrent.ForkJoinPool;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import tern.rpc.NanoClock;
import tern.rpc.RpcException;
import tern.rpc.SeldomWarning;
import tern.rpc.ServerContext;
import tern.rpc.Thrown;

/**
 * One call to a gRPC service. Only one thread at a time calls the listener, in the call's gRPC context. A request is
 * delivered to the listener on the thread that receives the request. A cancellation is delivered on a common-pool
 * thread, because event loops must not run service code.
 */
final class GrpcCall<Q, A> extends ServerCall<Q, A> implements Flow.Subscriber<Object> {

    private static final Logger LOG = LoggerFactory.getLogger(GrpcCall.class);

    /**
     * Limits the rate at which failures after the end of a call are logged. Otherwise, a caller could fill the log by
     * ending many calls.
     */
    private static final SeldomWarning FAILED_LATE = new SeldomWarning(LOG, NanoClock.SYSTEM, Duration.ofMillis(250));
    /**
     * The maximum number of messages that a service may send after its call was cancelled. After that, sending throws
     * an exception. Without the exception, a service that keeps sending would not notice the cancellation, because its
     * listener is not called while the service's code is running.
     */
    private static final int MAX_DROPPED = 100;

    private static final String GZIP = "gzip";
    private static final String IDENTITY = "identity";

    private final MethodDescriptor<Q, A> method;
    private final Messages<Q, A> messages;
    private final ServerContext serving;
    private final Context.CancellableContext context;
    private final Answers answers;
    private final Callbacks callbacks = new Callbacks();
    private final Attributes attributes;

    private Flow.@Nullable Subscription requests; // guarded by this
    private int demand; // the number of messages requested before the subscription was created; guarded by this

    private @Nullable Listener<Q> listener; // only tasks in "callbacks" use the fields "listener" and "notified"
    private boolean notified; // true after the listener has been notified that the call has ended
    private int
            dropped; // the number of messages sent after the cancellation; only one thread at a time uses this field
    private boolean compressed; // only one thread at a time uses this field
    private volatile boolean closed;
    private volatile boolean cancelled;

    GrpcCall(
            MethodDescriptor<Q, A> method,
            Messages<Q, A> messages,
            ServerContext serving,
            Context.CancellableContext context,
            Answers answers) {
        this.method = method;
        this.messages = messages;
        this.serving = serving;
        this.context = context;
        this.answers = answers;
        SocketAddress remote = serving.remoteAddress();
        this.attributes = remote == null
                ? Attributes.EMPTY
                : Attributes.newBuilder()
                        .set(Grpc.TRANSPORT_ATTR_REMOTE_ADDR, remote)
                        .build();
    }

    void start(ServerCallHandler<Q, A> handler, Flow.Publisher<Object> published) {
        Metadata headers = GrpcMetadata.from(serving.metadata());
        callback(() -> listener = handler.startCall(this, headers));
        serving.onCancel(() -> cancelled("the caller no longer waits for the answer"));
        answers.onReady(() -> callback(() -> deliver(Listener::onReady)));
        published.subscribe(this);
    }

    // ---- Listener calls

    private interface Event<Q> {
        void deliver(Listener<Q> listener);
    }

    private void callback(Runnable task) {
        callbacks.run(() -> inContext(task));
    }

    private void inContext(Runnable task) {
        Context before = context.attach();
        try {
            task.run();
        } catch (Throwable e) {
            failed(e);
        } finally {
            context.detach(before);
        }
    }

    /** Delivers an event to the listener, unless the call has ended. */
    private void deliver(Event<Q> event) {
        Listener<Q> current = listener;
        if (current != null && !closed && !cancelled) {
            event.deliver(current);
        }
    }

    /** Delivers the call's last event to the listener. Later events are ignored. */
    private void deliverEnd(Event<Q> event) {
        Listener<Q> current = listener;
        if (!notified && current != null) {
            notified = true;
            event.deliver(current);
        }
    }

    @Override
    public void onSubscribe(Flow.Subscription subscription) {
        int asked;
        synchronized (this) {
            requests = subscription;
            asked = demand;
        }
        if (asked > 0) {
            subscription.request(asked);
        }
    }

    @Override
    public void onNext(Object request) {
        callback(() -> deliver(current -> current.onMessage(messages.request(request))));
    }

    @Override
    public void onComplete() {
        callback(() -> deliver(Listener::onHalfClose));
    }

    /** Called when the stream of requests ends early, because the call has ended or a request was invalid. */
    @Override
    public void onError(Throwable reason) {
        cancelled(String.valueOf(Thrown.message(reason)));
    }

    /** Cancels the call. May be called from any thread, including an event loop, and more than once. */
    private void cancelled(String reason) {
        if (closed || cancelled) {
            return;
        }
        cancelled = true;
        Throwable cause = Status.CANCELLED.withDescription(reason).asRuntimeException();
        Executor elsewhere = ForkJoinPool.commonPool();
        // The context is cancelled immediately, even while the service is busy.
        elsewhere.execute(() -> context.cancel(cause));
        callbacks.run(serving.wrap(() -> inContext(() -> deliverEnd(Listener::onCancel))), elsewhere);
    }

    /** Called when the service, an interceptor or a marshaller throws an exception. */
    private void failed(Throwable thrown) {
        if (cancelled && isCancellation(thrown)) {
            LOG.debug("{} ended because its caller no longer waits", method.getFullMethodName(), thrown);
            return;
        }
        if (closed || cancelled) {
            FAILED_LATE.warn(() -> method.getFullMethodName() + " failed after its call had ended", thrown);
            return;
        }
        answers.fail(GrpcStatus.exception(thrown));
        cancelled(Thrown.text(thrown));
    }

    /**
     * Returns whether the cancellation has caused the exception. Possible reasons: the service could not send its next
     * message, or the service's own call to another service was cancelled as well.
     */
    private static boolean isCancellation(Throwable thrown) {
        return Thrown.find(thrown, RpcException.class) != null
                || Status.fromThrowable(thrown).getCode() == Status.Code.CANCELLED;
    }

    // ---- Service calls

    @Override
    public void request(int messagesWanted) {
        if (messagesWanted < 0) {
            throw new IllegalArgumentException(method.getFullMethodName() + ": " + messagesWanted
                    + " messages were requested; expected 0 or more");
        }
        Flow.Subscription current;
        synchronized (this) {
            current = requests;
            if (current == null) {
                demand = (int) Math.min(Integer.MAX_VALUE, (long) demand + messagesWanted);
            }
        }
        if (current != null && messagesWanted > 0) {
            current.request(messagesWanted);
        }
    }

    @Override
    public void sendHeaders(Metadata headers) {
        if (!cancelled) {
            answers.headers(headers);
        }
    }

    @Override
    public void sendMessage(A message) {
        if (closed) {
            throw new IllegalStateException(method.getFullMethodName() + " sends an answer after its end");
        }
        if (cancelled) {
            drop();
            return;
        }
        try {
            answers.send(messages.response(message));
        } catch (Throwable e) {
            failed(e);
        }
    }

    /**
     * Drops a message that the service sends in a cancelled call.
     *
     * @throws io.grpc.StatusRuntimeException CANCELLED if the service continues to send for too long, so that the
     *     service's thread becomes free
     */
    private void drop() {
        dropped++;
        if (dropped > MAX_DROPPED) {
            throw Status.CANCELLED
                    .withDescription(method.getFullMethodName() + " sends messages although its call was cancelled")
                    .asRuntimeException();
        }
    }

    @Override
    public boolean isReady() {
        return !closed && !cancelled && answers.isReady();
    }

    @Override
    public void close(Status status, Metadata trailers) {
        if (closed) {
            throw new IllegalStateException(method.getFullMethodName() + " has ended before");
        }
        if (cancelled) {
            closed = true;
            return;
        }
        closed = true;
        GrpcMetadata.addTo(serving.responseMetadata(), trailers);
        if (status.isOk()) {
            answers.complete();
        } else {
            answers.fail(GrpcStatus.exception(status, trailers));
        }
        callbacks.run(() -> {
            inContext(() -> deliverEnd(Listener::onComplete));
            context.cancel(null);
        });
    }

    @Override
    public boolean isCancelled() {
        return cancelled;
    }

    @Override
    public void setCompression(String compressor) {
        if (!compressor.equals(GZIP) && !compressor.equals(IDENTITY)) {
            throw new IllegalArgumentException(method.getFullMethodName() + " asks for the compression '" + compressor
                    + "'; expected gzip or identity");
        }
        compressed = compressor.equals(GZIP);
        serving.compressResponse(compressed);
    }

    @Override
    public void setMessageCompression(boolean enabled) {
        serving.compressResponse(enabled && compressed);
    }

    @Override
    public Attributes getAttributes() {
        return attributes;
    }

    @Override
    public MethodDescriptor<Q, A> getMethodDescriptor() {
        return method;
    }
}
