package tern.rpc.netty.triple;

import io.netty.buffer.ByteBuf;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http2.Http2Error;
import io.netty.handler.codec.http2.Http2Headers;
import io.netty.util.AsciiString;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import tern.rpc.RpcException;
import tern.rpc.limit.Refusal;
import tern.rpc.netty.NettyServerCall;
import tern.rpc.netty.ServerConnection;
import tern.rpc.netty.WriteBatch;

/**
 * One HTTP request and its answer, over any version of HTTP. Headers are always represented as in HTTP/2, with
 * lower-case names. The event loop passes the request to the {@link Call}. Any thread may queue parts of the answer.
 */
abstract class HttpExchange {

    /**
     * The number of unsent bytes below which a stream is ready for its next message (docs/wire-protocol.md 3.10).
     */
    static final int READY_BYTES = 32 << 10;

    /**
     * The unit in which unsent bytes are counted. Most small answers stay below it, so they do not change the counters
     * that all calls share.
     */
    private static final int STEP_BYTES = 1 << 10;

    /**
     * The number of low bits of {@link #unsent} that contain the number of queued bytes. The other bits contain the
     * number of parts of the answer that are queued in the codec.
     */
    private static final int PART_BITS = 40;

    private static final long PART = 1L << PART_BITS;

    private static final long BYTES = PART - 1;

    /**
     * The memory that a part of the answer occupies in the codec in addition to its bytes: the buffer object, its
     * promise and their queue entries.
     */
    private static final int OBJECT_BYTES = 512;

    private static final AsciiString CONTENT_TYPE_OPTIONS = AsciiString.cached("x-content-type-options");
    private static final AsciiString NOSNIFF = AsciiString.cached("nosniff");

    /** The call created for the request. Its methods run on the event loop. */
    interface Call {

        /** Receives a part of the body. The call must release the bytes. */
        void data(ByteBuf bytes);

        /** Called when the body is complete. */
        void end();

        /** Called when the exchange has ended: the request has been answered or the peer has disconnected. */
        void closed();

        /**
         * Ends the call with the given failure because its request or answer cannot be transmitted. Notifies the code
         * that executes the call.
         */
        void abort(RpcException failure);

        /**
         * Called when the stream can send more messages. A receiver that is set later does not get earlier events, so
         * it must first check whether the stream is ready.
         */
        void ready();

        /** Returns whether the method has started, an answer has been sent, or the deadline has passed. */
        boolean hasBegun();

        /** Returns the timeout that the client has set, in nanoseconds; {@link Long#MAX_VALUE} for none. */
        long timeoutNanos();
    }

    private static final VarHandle UNSENT;
    private static final VarHandle TAKEN;

    static {
        try {
            UNSENT = MethodHandles.lookup().findVarHandle(HttpExchange.class, "unsent", long.class);
            TAKEN = MethodHandles.lookup().findVarHandle(HttpExchange.class, "taken", long.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private final ServerConnection connection;
    private final Http2Headers head;
    // the number of queued bytes in the low bits, and the number of parts in the codec in the high bits; updated
    // atomically by the VarHandle UNSENT
    private volatile long unsent;
    // the number of bytes that the socket has accepted; written by the event loop, and read by other threads through
    // the VarHandle TAKEN
    private long taken;
    private boolean probe; // true if the request is a health probe; accessed only by the event loop
    private volatile @Nullable Call call;
    private volatile @Nullable Consumer<Http2Headers> headEdit;

    HttpExchange(ServerConnection connection, Http2Headers head) {
        this.connection = connection;
        this.head = head;
    }

    ServerConnection connection() {
        return connection;
    }

    int maxRequestBytes() {
        return connection.settings().maxRequestBytes();
    }

    int maxResponseBytes() {
        return connection.settings().maxResponseBytes();
    }

    /** Returns the method, path and headers of the request. */
    Http2Headers head() {
        return head;
    }

    /** Marks the request as a health probe, which is served even though its caller has not been authenticated. */
    void probes() {
        probe = true;
    }

    /** Returns whether the request is served even though its caller has not been authenticated. */
    boolean isProbe() {
        return probe;
    }

    /** Returns the call of this exchange; null until it is created. */
    @Nullable
    Call call() {
        return call;
    }

    void call(Call made) {
        this.call = made;
    }

    /** Returns whether the client requests only the headers of the answer (HTTP method HEAD). */
    boolean isHead() {
        CharSequence method = head.method();
        return method != null && HttpMethod.HEAD.asciiName().contentEquals(method);
    }

    /** Returns whether the HTTP version supports both trailers and simultaneous messages in both directions. */
    abstract boolean isHttp2();

    /**
     * Returns the reason why the connection accepts no more calls; null if it accepts them. Must run on the event loop.
     */
    @Nullable
    RpcException overload() {
        return null;
    }

    /**
     * Returns the reason why the connection refuses the call, and counts the refusal; null if it accepts the call. Must
     * run on the event loop.
     */
    final @Nullable RpcException refusal(NettyServerCall refused) {
        RpcException full = connection.calls().refusesCall();
        if (full != null) {
            return full;
        }
        RpcException overload = overload();
        if (overload != null) {
            connection.calls().refused(Refusal.UNREAD);
            return overload;
        }
        return connection.calls().refusesCheck(refused);
    }

    /** Runs a task on the event loop: immediately if the calling thread is the event loop, otherwise later. */
    abstract void execute(Runnable task);

    /**
     * Called when bytes of the body have been passed on or dropped. The peer can then send the same number of
     * additional bytes. Must run on the event loop.
     */
    abstract void consumed(int bytes);

    /** Ends the exchange without the rest of its answer. Any thread may call this method. */
    abstract void reset(Http2Error error);

    /** Writes a queued part of the answer. Runs on the event loop. */
    abstract void write(HttpWrite part, WriteBatch batch);

    /** Sets a function that changes the answer's headers immediately before they are sent. */
    final void onHead(Consumer<Http2Headers> edit) {
        headEdit = edit;
    }

    /** Queues a part of the answer. */
    final void send(HttpWrite part) {
        Consumer<Http2Headers> edit = headEdit;
        Http2Headers answer = edit == null ? null : part.head();
        if (edit != null && answer != null) {
            edit.accept(answer);
        }
        if (part.plainType() == null) { // a plain answer needs no header object, and calling head() would create one
            refuseSniffing(part.head());
        }
        change(part.bytes());
        connection.queue().add(part);
    }

    /**
     * Adds the header that prevents browsers from interpreting an answer as a web page or a script, except for gRPC
     * answers.
     */
    private static void refuseSniffing(@Nullable Http2Headers head) {
        if (head != null && !isGrpc(head)) {
            head.set(CONTENT_TYPE_OPTIONS, NOSNIFF);
        }
    }

    /**
     * Returns whether the answer is a gRPC answer. Browsers do not read gRPC answers, so these answers need no {@code
     * x-content-type-options} header.
     */
    private static boolean isGrpc(Http2Headers head) {
        return head.get(GrpcHeaders.CONTENT_TYPE) == GrpcHeaders.GRPC;
    }

    /** @return the new number of queued bytes */
    private long change(long added) {
        long before = (long) UNSENT.getAndAdd(this, added);
        long after = before + added;
        long steps = memory(after) / STEP_BYTES - memory(before) / STEP_BYTES;
        if (steps != 0) {
            connection.unread().add(steps * STEP_BYTES);
        }
        return after & BYTES;
    }

    /**
     * Returns the memory that the queued bytes and the answer parts in the codec occupy. The objects of the first part
     * are not counted, so that a small answer stays below {@link #STEP_BYTES} and does not change the counters that all
     * calls share.
     */
    private static long memory(long unsent) {
        return (unsent & BYTES) + Math.max(0, (unsent >>> PART_BITS) - 1) * OBJECT_BYTES;
    }

    /** Returns the number of queued bytes that the socket has accepted. Any thread may call this method. */
    final long takenBytes() {
        return (long) TAKEN.getAcquire(this);
    }

    /**
     * Returns the report size: the maximum growth of {@link #takenBytes} in one step, in bytes. Any thread may call
     * this method.
     */
    abstract long takenStepBytes();

    /** Returns whether the flow-control windows and the socket currently accept bytes. Must run on the event loop. */
    abstract boolean isWritable();

    /** Returns the number of queued bytes that the socket has not yet accepted. */
    final long unsentBytes() {
        return unsent & BYTES;
    }

    final boolean isReady() {
        return unsentBytes() < READY_BYTES;
    }

    /**
     * Called when a part of the answer, or several joined parts, is passed to the codec. Its objects occupy memory
     * until {@link #leftCodec} is called. Must run on the event loop.
     */
    final void entersCodec() {
        change(PART);
    }

    /** Returns whether a part of the answer is queued in the codec. Must run on the event loop. */
    final boolean isInCodec() {
        return unsent >>> PART_BITS > 0;
    }

    /**
     * Called when a part of the answer that was queued in the codec has been accepted by the socket or dropped. Must
     * run on the event loop.
     */
    final void leftCodec(int bytes) {
        change(-PART);
        left(bytes);
    }

    /**
     * Called when queued bytes have been accepted by the socket or dropped. Must run on the event loop.
     */
    final void left(int bytes) {
        TAKEN.setRelease(this, taken + bytes);
        long after = change(-bytes);
        Call current = call;
        if (current != null && after < READY_BYTES && after + bytes >= READY_BYTES) {
            current.ready();
        }
    }
}
