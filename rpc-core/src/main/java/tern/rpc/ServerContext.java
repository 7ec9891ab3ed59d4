package tern.rpc;

import java.net.SocketAddress;
import java.security.Principal;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The call being served by this thread: who calls, what came with it, how long is left. Set around the service's
 * method and its filters; code on other threads gets it by {@link #wrap(Runnable)}. Thread-safe except for
 * {@link #responseMetadata()}.
 */
public final class ServerContext {

    private static final Logger LOG = LoggerFactory.getLogger(ServerContext.class);
    private static final ThreadLocal<@Nullable ServerContext> CURRENT = new ThreadLocal<>();

    private final Invocation call;
    private final Exchange exchange;
    private final CallLedger ledger;
    private final @Nullable Principal principal;
    private final Metadata responseHeaders;
    private final Metadata responseMetadata;
    private final ServerContext whole; // of the same call; this itself but for wrapped tasks
    private @Nullable List<Runnable> listeners; // of the whole; guarded by it
    private volatile boolean cancelled; // of the whole
    private volatile boolean begun; // of the whole

    /** Keeps no ledger. */
    public ServerContext(Invocation call, Exchange exchange) {
        this(call, exchange, CallLedger.none());
    }

    public ServerContext(Invocation call, Exchange exchange, CallLedger ledger) {
        this(call, exchange, ledger, exchange.peerPrincipal());
    }

    /** @param principal who calls; null if nobody knows */
    public ServerContext(Invocation call, Exchange exchange, CallLedger ledger, @Nullable Principal principal) {
        this.principal = principal;
        this.call = call;
        this.exchange = exchange;
        this.ledger = ledger;
        this.responseHeaders = new Metadata();
        this.responseMetadata = new Metadata();
        this.whole = this;
    }

    /** The same call on another thread. */
    private ServerContext(ServerContext whole, CallLedger part) {
        this.principal = whole.principal;
        this.call = whole.call;
        this.exchange = whole.exchange;
        this.ledger = part;
        this.responseHeaders = whole.responseHeaders;
        this.responseMetadata = whole.responseMetadata;
        this.whole = whole.whole;
    }

    /** What a protocol knows of a call, and can do for it. Implemented by transports. */
    public interface Exchange {

        /** As in meters: {@code dubbo}. */
        String protocol();

        /** Null when the caller is in the same process. */
        @Nullable
        SocketAddress remoteAddress();

        /** Whom the caller's certificate names, as checked by TLS; null when it showed none. */
        default @Nullable Principal peerPrincipal() {
            return null;
        }

        /** Sends headers before the first answer; the first time only. Does nothing where a protocol has none. */
        default void sendHeaders(Metadata headers) {}

        /** Whether answers from here on are compressed, if the caller takes that. */
        default void compressResponse(boolean compressed) {}

        /** Whether the request, or the last of them that was read, came compressed. */
        default boolean isRequestCompressed() {
            return false;
        }
    }

    /** The call that this thread serves, or null when it serves none. */
    public static @Nullable ServerContext current() {
        return CURRENT.get();
    }

    /**
     * Makes this the current context of the calling thread, or none when null.
     *
     * @return what was current before, to be restored by another call
     */
    public static @Nullable ServerContext replace(@Nullable ServerContext context) {
        ServerContext before = CURRENT.get();
        if (context != before) {
            CURRENT.set(context); // null too: to remove it would make every call add it anew
        }
        return before;
    }

    /** The filters around the method have passed the call on to it. Any thread. */
    public void methodBegins() {
        whole.begun = true;
    }

    /** Whether the filters around the method have passed the call on to it. Never told where there are no filters. */
    public boolean hasMethodBegun() {
        return whole.begun;
    }

    /**
     * The task, run later on any thread with the context of this call. What it does on another thread counts in the
     * call's ledger once it has ended.
     */
    public Runnable wrap(Runnable task) {
        return () -> {
            ServerContext before = current();
            if (before != null && before.whole == whole) {
                task.run(); // as part of this call already, by whoever writes its ledger
                return;
            }
            CallLedger part = ledger.child();
            replace(part.isOpen() ? new ServerContext(this, part) : this);
            try {
                task.run();
            } finally {
                replace(before);
                part.join();
            }
        };
    }

    /** Where the call's time goes; of a wrapped task, where its own goes. To be written by this thread alone. */
    public CallLedger ledger() {
        return ledger;
    }

    public ServiceKey service() {
        return call.service();
    }

    public MethodDescriptor method() {
        return call.method();
    }

    /** Headers that came with the request. */
    public Metadata metadata() {
        return call.metadata();
    }

    /**
     * Headers to send before the first answer (Triple and its relatives); with the dubbo protocol they travel with the
     * answer. Changes after {@link #sendHeaders()} or the first answer of a stream are lost.
     */
    public Metadata responseHeaders() {
        return responseHeaders;
    }

    /** Sends the response headers now, before the first answer. Only the first time does anything. */
    public void sendHeaders() {
        exchange.sendHeaders(responseHeaders);
    }

    /**
     * Whether answers from here on are compressed, where the protocol and the caller can. Without a call of this the
     * server's setting decides.
     */
    public void compressResponse(boolean compressed) {
        exchange.compressResponse(compressed);
    }

    /** Whether the request came compressed; of a stream of requests, the last that was read. */
    public boolean isRequestCompressed() {
        return exchange.isRequestCompressed();
    }

    /**
     * Headers to send with the end of the answer, a result or an exception: the trailers of Triple and gRPC, the
     * attachments of dubbo.
     */
    public Metadata responseMetadata() {
        return responseMetadata;
    }

    public Deadline deadline() {
        return call.deadline();
    }

    /** {@code dubbo}, {@code tri}, {@code grpc-web}, {@code connect}, {@code http} or {@code local}. */
    public String protocol() {
        return exchange.protocol();
    }

    /** Null when the caller is in the same process. */
    public @Nullable SocketAddress remoteAddress() {
        return exchange.remoteAddress();
    }

    /**
     * Who calls: whom an {@link RpcAuthorizer} found, or else whom the certificate names; null for somebody unknown.
     */
    public @Nullable Principal principal() {
        return principal;
    }

    /** Whom the caller's certificate names, as checked by TLS; null when it showed none. */
    public @Nullable Principal peerPrincipal() {
        return exchange.peerPrincipal();
    }

    /** Whether nobody waits for the answer any more: the deadline passed or the connection is gone. */
    public boolean isCancelled() {
        return whole.cancelled;
    }

    /** Runs the listener when the call is cancelled, at once if it was; on the thread that notices. Must not block. */
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

    /** Tells the method that nobody waits any more. */
    public void cancel() {
        List<Runnable> told;
        synchronized (whole) {
            if (whole.cancelled) {
                return;
            }
            whole.cancelled = true;
            told = whole.listeners == null ? List.of() : whole.listeners;
            whole.listeners = null;
        }
        for (Runnable listener : told) {
            try {
                listener.run();
            } catch (Throwable e) {
                Thrown.log(e, shown -> LOG.warn("{}: a cancel listener failed", call, shown));
            }
        }
    }
}
