package tern.rpc.netty.triple;

import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http2.Http2Error;
import io.netty.handler.codec.http2.Http2Headers;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import tern.rpc.RpcException;
import tern.rpc.netty.ServerConnection;
import tern.rpc.netty.WriteBatch;

/**
 * One HTTP request and its answer, whichever version of HTTP carries them. Heads are in the form of HTTP/2, with names in
 * lower case, on both. What came is told to the {@link HttpCall} on the event loop; answers may be queued by any thread.
 */
abstract class HttpExchange {

    /** Below this many unsent bytes of a stream the next message should be sent (wire document 3.10). */
    private static final int READY_BYTES = 32 << 10;

    private static final VarHandle UNSENT;

    static {
        try {
            UNSENT = MethodHandles.lookup().findVarHandle(HttpExchange.class, "unsent", long.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private final ServerConnection connection;
    private final Http2Headers head;
    private volatile long unsent; // added to by UNSENT
    private long moves; // event loop only: how often bytes have left
    private volatile @Nullable HttpCall call;
    private volatile @Nullable Consumer<Http2Headers> headEdit;

    HttpExchange(ServerConnection connection, Http2Headers head) {
        this.connection = connection;
        this.head = head;
    }

    ServerConnection connection() {
        return connection;
    }

    /** The request's method, path and headers. */
    Http2Headers head() {
        return head;
    }

    /** The call that the request became; null before. */
    @Nullable
    HttpCall call() {
        return call;
    }

    void call(HttpCall made) {
        this.call = made;
    }

    /** Whether only the head of the answer is wanted. */
    boolean isHead() {
        CharSequence method = head.method();
        return method != null && HttpMethod.HEAD.asciiName().contentEquals(method);
    }

    /** Whether trailers can be sent and messages flow both ways at once. */
    abstract boolean isHttp2();

    /** Why no call may be added to those of the connection, or null. Event loop. */
    @Nullable
    RpcException overload() {
        return null;
    }

    /** Runs a task on the event loop, at once if this is it. */
    abstract void execute(Runnable task);

    /** Body bytes were passed on or dropped, so that the peer may send as many more. Event loop. */
    abstract void consumed(int bytes);

    /** Ends the exchange without an answer, or without the rest of it. Any thread. */
    abstract void reset(Http2Error error);

    /** Writes what was queued. Event loop. */
    abstract void write(HttpWrite part, WriteBatch batch);

    /** What is to be added to the head of the answer, whoever makes it. */
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
        UNSENT.getAndAdd(this, (long) part.bytes());
        connection.queue().add(part);
    }

    /** How often bytes that were queued have left. Event loop. */
    final long moves() {
        return moves;
    }

    /** Whether windows and socket would take bytes now. Event loop. */
    abstract boolean isWritable();

    /** Bytes queued that the socket has not taken. */
    final long unsentBytes() {
        return unsent;
    }

    final boolean isReady() {
        return unsent < READY_BYTES;
    }

    /** The socket took bytes that were queued, or they were dropped. Event loop. */
    final void left(int bytes) {
        moves++;
        long after = (long) UNSENT.getAndAdd(this, (long) -bytes) - bytes;
        HttpCall present = call;
        if (present != null && after < READY_BYTES && after + bytes >= READY_BYTES) {
            present.ready();
        }
    }
}
