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
import tern.rpc.netty.ServerConnection;
import tern.rpc.netty.WriteBatch;

/**
 * One HTTP request and its answer, on any version of HTTP. Heads always have the form of HTTP/2, with lower-case names.
 * The {@link Call} gets the request on the event loop. Any thread may queue answers.
 */
abstract class HttpExchange {

    /** With fewer unsent bytes of a stream the next message should be sent (docs/wire-protocol.md 3.10). */
    static final int READY_BYTES = 32 << 10;

    /**
     * Unsent bytes are counted in steps of this size, so that small answers do not touch counters shared by all calls.
     */
    private static final int STEP_BYTES = 1 << 10;

    private static final AsciiString CONTENT_TYPE_OPTIONS = AsciiString.cached("x-content-type-options");
    private static final AsciiString NOSNIFF = AsciiString.cached("nosniff");

    /** The call that a request became. Its methods run on the event loop. */
    interface Call {

        /** A part of the body, owned by the call. */
        void data(ByteBuf bytes);

        /** The body is complete. */
        void end();

        /** The exchange has ended: it was answered, or the peer has left. */
        void closed();

        /** Ends the call because of its transmission: it is answered, and the code that runs it is told to stop. */
        void abort(RpcException failure);

        /** More may be sent. A receiver that is set later looks by itself. */
        void ready();

        /** Whether its method has started, its answer is being sent, or its deadline has passed. */
        boolean hasBegun();

        /** The timeout set by the client; {@link Long#MAX_VALUE} for none. */
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
    private volatile long unsent; // added to by UNSENT
    private long taken; // written by the event loop, read by TAKEN
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

    /** The request's method, path and headers. */
    Http2Headers head() {
        return head;
    }

    /** The call that the request became; null before. */
    @Nullable
    Call call() {
        return call;
    }

    void call(Call made) {
        this.call = made;
    }

    /** Whether only the head of the answer is wanted. */
    boolean isHead() {
        CharSequence method = head.method();
        return method != null && HttpMethod.HEAD.asciiName().contentEquals(method);
    }

    /** Whether trailers can be sent and messages flow both ways at once. */
    abstract boolean isHttp2();

    /** The reason why the connection accepts no more calls, or null. Runs on the event loop. */
    @Nullable
    RpcException overload() {
        return null;
    }

    /** Runs a task on the event loop, at once if this is the event loop. */
    abstract void execute(Runnable task);

    /** Bytes of the body were passed on or dropped, so the peer may send as many more. Runs on the event loop. */
    abstract void consumed(int bytes);

    /** Ends the exchange without the rest of its answer. Any thread may call this. */
    abstract void reset(Http2Error error);

    /** Writes a queued part. Runs on the event loop. */
    abstract void write(HttpWrite part, WriteBatch batch);

    /** Adds a change of the answer's head, whichever code creates it. */
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
        if (part.plainType() == null) { // reading the head of a plain answer would create it
            refuseSniffing(part.head());
        }
        int bytes = part.bytes();
        long before = (long) UNSENT.getAndAdd(this, (long) bytes);
        count(before, before + bytes);
        connection.queue().add(part);
    }

    /** Prevents browsers from taking an answer for a page or a script. */
    private static void refuseSniffing(@Nullable Http2Headers head) {
        if (head != null && !isGrpc(head)) {
            head.set(CONTENT_TYPE_OPTIONS, NOSNIFF);
        }
    }

    /** Whether the answer is gRPC, which browsers do not read and which must be fast. */
    private static boolean isGrpc(Http2Headers head) {
        return head.get(GrpcHeaders.CONTENT_TYPE) == GrpcHeaders.GRPC;
    }

    private void count(long before, long after) {
        long change = after / STEP_BYTES - before / STEP_BYTES;
        if (change != 0) {
            connection.unsent(change * STEP_BYTES);
        }
    }

    /** The queued bytes that were sent. Any thread may call this. */
    final long takenBytes() {
        return (long) TAKEN.getAcquire(this);
    }

    /** Whether the windows and the socket have room now. Runs on the event loop. */
    abstract boolean isWritable();

    /** The queued bytes that wait for the socket. */
    final long unsentBytes() {
        return unsent;
    }

    final boolean isReady() {
        return unsent < READY_BYTES;
    }

    /** The socket has taken queued bytes, or they were dropped. Runs on the event loop. */
    final void left(int bytes) {
        TAKEN.setRelease(this, taken + bytes);
        long after = (long) UNSENT.getAndAdd(this, (long) -bytes) - bytes;
        count(after + bytes, after);
        Call current = call;
        if (current != null && after < READY_BYTES && after + bytes >= READY_BYTES) {
            current.ready();
        }
    }
}
