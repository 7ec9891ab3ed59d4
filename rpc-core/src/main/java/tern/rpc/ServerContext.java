package tern.rpc;

import java.net.SocketAddress;
import java.security.Principal;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.LoggerFactory;

/**
 * The context of the call that the current thread serves: its caller, metadata and remaining time. The context is
 * available to the service's method and the server filters, and to code on other threads through
 * {@link #wrap(Runnable)}. Thread-safe, except for the headers and metadata that it returns.
 */
public final class ServerContext {

    /**
     * Limits the number of log lines about listeners that throw exceptions. Callers can cause any number of such
     * exceptions by cancelling calls.
     */
    private static final SeldomWarning FAILED_LISTENER =
            new SeldomWarning(LoggerFactory.getLogger(ServerContext.class), NanoClock.SYSTEM);

    private static final ThreadLocal<@Nullable ServerContext> CURRENT = new ThreadLocal<>();

    private final Invocation call;
    private final Exchange exchange;
    private final CallLedger ledger;
    private final @Nullable Principal principal;
    private final Metadata responseHeaders;
    private final Metadata responseMetadata;
    // The context of the whole call: this object, unless this object is the context of a wrapped task.
    private final ServerContext whole;
    // The cancel listeners; used only in the context of the whole call, and guarded by this context.
    private @Nullable List<Runnable> listeners;
    // true if the call has been cancelled; used only in the context of the whole call
    private volatile boolean cancelled;
    // true if the filters have passed the call to the method; used only in the context of the whole call
    private volatile boolean begun;

    /** Creates a context without a ledger. */
    public ServerContext(Invocation call, Exchange exchange) {
        this(call, exchange, CallLedger.none());
    }

    public ServerContext(Invocation call, Exchange exchange, CallLedger ledger) {
        this(call, exchange, ledger, exchange.peerPrincipal());
    }

    /** @param principal the caller; null if unknown */
    public ServerContext(Invocation call, Exchange exchange, CallLedger ledger, @Nullable Principal principal) {
        this.principal = principal;
        this.call = call;
        this.exchange = exchange;
        this.ledger = ledger;
        this.responseHeaders = new Metadata();
        this.responseMetadata = new Metadata();
        this.whole = this;
    }

    /** Creates a context of the same call for a task that runs on another thread. */
    private ServerContext(ServerContext whole, CallLedger part) {
        this.principal = whole.principal;
        this.call = whole.call;
        this.exchange = whole.exchange;
        this.ledger = part;
        this.responseHeaders = whole.responseHeaders;
        this.responseMetadata = whole.responseMetadata;
        this.whole = whole.whole;
    }

    /** The protocol-specific part of a call. Each transport implements it. */
    public interface Exchange {

        /** Returns the protocol name as it appears in meters, for example {@code dubbo}. */
        String protocol();

        /** Returns the caller's address; null if the caller is in the same process. */
        @Nullable
        SocketAddress remoteAddress();

        /** Returns the subject of the caller's certificate, verified by TLS; null if there is none. */
        default @Nullable Principal peerPrincipal() {
            return null;
        }

        /**
         * Sends headers before the first answer. Only the first call of this method has an effect. Does nothing if the
         * protocol has no such headers.
         */
        default void sendHeaders(Metadata headers) {}

        /** Sets whether later answers are compressed if the caller accepts compression. */
        default void compressResponse(boolean compressed) {}

        /** Returns whether the request was compressed. For a stream, this refers to the last request read. */
        default boolean isRequestCompressed() {
            return false;
        }
    }

    /** Returns the context of the call that the current thread serves; null if the thread serves no call. */
    public static @Nullable ServerContext current() {
        return CURRENT.get();
    }

    /**
     * Sets the current context of the calling thread.
     *
     * @param context the new context; null for none
     * @return the previous context, which the caller must restore afterwards
     */
    public static @Nullable ServerContext replace(@Nullable ServerContext context) {
        ServerContext before = CURRENT.get();
        if (context != before) {
            // The context is cleared by setting null. The thread-local entry is not removed, because the next call
            // would have to create it again.
            CURRENT.set(context);
        }
        return before;
    }

    /** Records that the filters have passed the call to the method. Any thread may call this. */
    public void methodBegins() {
        whole.begun = true;
    }

    /** Returns whether the filters have passed the call to the method. Always false if the server has no filters. */
    public boolean hasMethodBegun() {
        return whole.begun;
    }

    /**
     * Wraps a task so that it runs later, on any thread, with the context of this call. When the task ends, its
     * operations are added to the call's ledger.
     */
    public Runnable wrap(Runnable task) {
        return () -> run(task, ledger::child);
    }

    /**
     * Wraps a task for an executor. The time until a thread starts the task is recorded as {@link Phase#EXECUTOR}.
     *
     * @param executor the executor name, for diagnoses
     */
    public Runnable wrap(Runnable task, String executor) {
        long submitted = ledger.now();
        AsyncOperation queued = AsyncOperation.queued(ledger, executor, submitted);
        long idleBefore = ledger.idleNanos();
        return () -> {
            queued.started();
            run(task, () -> {
                CallLedger part = ledger.child(idleBefore);
                part.add(Phase.EXECUTOR, part.now() - submitted, executor);
                return part;
            });
        };
    }

    private void run(Runnable task, Supplier<CallLedger> parts) {
        ServerContext before = current();
        if (before != null && before.whole == whole) {
            task.run(); // the thread already has this call's context and ledger
            return;
        }
        CallLedger part = parts.get();
        replace(part.isOpen() ? new ServerContext(this, part) : this);
        try {
            task.run();
        } finally {
            replace(before);
            part.joinAndLeave();
        }
    }

    /** Returns the ledger of the call or the wrapped task. Only the current thread may write to the ledger. */
    public CallLedger ledger() {
        return ledger;
    }

    public ServiceKey service() {
        return call.service();
    }

    public MethodDescriptor method() {
        return call.method();
    }

    /** Returns the request's headers. */
    public Metadata metadata() {
        return call.metadata();
    }

    /**
     * Returns the headers to send before the first answer (Triple, gRPC, Connect). The dubbo protocol sends these
     * headers with the answer. Changes after {@link #sendHeaders()} or after the first answer of a stream are not sent.
     */
    public Metadata responseHeaders() {
        return responseHeaders;
    }

    /**
     * Sends the response headers immediately, before the first answer. Only the first call of this method has an
     * effect. Has no effect on the dubbo protocol.
     *
     * @throws RpcException if the headers cannot be sent over the call's protocol
     */
    public void sendHeaders() {
        exchange.sendHeaders(responseHeaders);
    }

    /**
     * Sets whether later answers are compressed if the protocol and the caller support it. By default, answers are not
     * compressed.
     */
    public void compressResponse(boolean compressed) {
        exchange.compressResponse(compressed);
    }

    /** Returns whether the request was compressed. For a stream of requests, this refers to the last request read. */
    public boolean isRequestCompressed() {
        return exchange.isRequestCompressed();
    }

    /**
     * Returns the metadata to send at the end of the answer. The answer can be a result or an exception. The metadata
     * is sent as trailers on Triple and gRPC, and as attachments on dubbo.
     */
    public Metadata responseMetadata() {
        return responseMetadata;
    }

    /** Returns the time when the caller stops waiting; {@link Deadline#none()} if the call has no time limit. */
    public Deadline deadline() {
        return call.deadline();
    }

    /**
     * Returns the protocol: {@code dubbo}, {@code tri}, {@code grpc-web}, {@code connect}, {@code http}, {@code local}
     * or {@code console}.
     */
    public String protocol() {
        return exchange.protocol();
    }

    /** Returns the caller's address; null if the caller is in the same process. */
    public @Nullable SocketAddress remoteAddress() {
        return exchange.remoteAddress();
    }

    /**
     * Returns the caller: the principal that an {@link RpcAuthorizer} returned or, if no authorizer returned a
     * principal, the subject of the caller's certificate. Returns null if the caller is unknown.
     */
    public @Nullable Principal principal() {
        return principal;
    }

    /** Returns the subject of the caller's certificate, verified by TLS; null if there is none. */
    public @Nullable Principal peerPrincipal() {
        return exchange.peerPrincipal();
    }

    /**
     * Returns whether the caller has stopped waiting. Possible reasons: the deadline has passed, the caller has
     * cancelled the call, or the connection was lost. The server may also have ended the stream, for example because
     * the caller read too slowly. When the caller stops waiting, the nested calls that the method has made through Tern
     * are also cancelled. Later nested calls fail.
     */
    public boolean isCancelled() {
        return whole.cancelled;
    }

    /**
     * Runs the listener when the call is cancelled, or immediately if the call is already cancelled. The listener runs
     * on the thread that cancels the call, usually an event loop, and must not block. The listener may make
     * asynchronous calls.
     */
    public void onCancel(Runnable listener) {
        synchronized (whole) {
            if (!whole.cancelled) {
                if (whole.listeners == null) {
                    whole.listeners = new ArrayList<>(1);
                }
                whole.listeners.add(listener);
                return;
            }
        }
        listener.run();
    }

    /**
     * Removes a listener that {@link #onCancel} has added. Does nothing if the listener is unknown or has already been
     * run.
     */
    public void removeOnCancel(Runnable listener) {
        synchronized (whole) {
            List<Runnable> present = whole.listeners;
            // the search starts at the end, because the latest listener is usually removed first
            for (int i = present == null ? 0 : present.size(); present != null && i > 0; i--) {
                if (present.get(i - 1) == listener) {
                    present.remove(i - 1);
                    return;
                }
            }
        }
    }

    /** Cancels the call and runs its listeners. Called when the caller has stopped waiting for the answer. */
    public void cancel() {
        List<Runnable> notified;
        synchronized (whole) {
            if (whole.cancelled) {
                return;
            }
            whole.cancelled = true;
            notified = whole.listeners == null ? List.of() : whole.listeners;
            whole.listeners = null;
        }
        for (Runnable listener : notified) {
            try {
                listener.run();
            } catch (Throwable e) {
                FAILED_LISTENER.warn(() -> call + ": a cancel listener failed", e);
            }
        }
    }
}
