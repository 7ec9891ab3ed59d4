package tern.rpc.netty.triple;

import io.netty.buffer.ByteBuf;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import org.jspecify.annotations.Nullable;
import tern.rpc.RpcException;
import tern.rpc.RpcException.Executed;
import tern.rpc.StatusCode;
import tern.rpc.netty.InboundAccount;
import tern.rpc.netty.ServerConnection;
import tern.rpc.netty.triple.BodyReader.Frame;
import tern.rpc.transport.Message;
import tern.rpc.transport.MessageStream;
import tern.rpc.transport.MessageStream.Receiver;

/**
 * The body of a request. For a unary request, this object stores the single message until a worker takes the message.
 * For a stream, this object delivers the messages to their receiver. This object also reports how much memory the
 * messages occupy. Confined to the event loop, except for the single message and for delivered messages of a stream.
 */
final class RequestBody {

    /** The call that the body belongs to. */
    interface Call {

        /** Returns the name of the called method as written in the path. */
        String methodName();

        /** Called when the single message has arrived and the body is complete. */
        void complete();

        /** Called when the body is malformed. */
        void malformed(RpcException failure);

        /** Decodes one message of a stream on a worker thread. Releases the frame. */
        @Nullable
        Object readElement(Frame frame);
    }

    private enum Phase {
        /** The request is being read, and the call has not been passed to the server yet. */
        ARRIVING,
        /** The call has been passed to the server, which can request more messages of the body. */
        SERVED,
        /** The call was answered before it was passed to the server. The rest of the body is dropped. */
        REFUSED,
        /** The call has been passed to the server, and the rest of the body is dropped. */
        CLOSED
    }

    private enum End {
        /** More bytes of the body can arrive. */
        OPEN,
        /** All bytes of the body have arrived. */
        ARRIVED,
        /** The call, or the receiver of its stream, has been notified that the body has ended. */
        DELIVERED
    }

    /**
     * The memory, in bytes, that an open request occupies in addition to its body. The number includes the request's
     * objects, its stream in Netty's codec, and small headers. Large headers are counted separately.
     */
    private static final int CALL_BYTES = 2 << 10;

    /** The minimum number of bytes that are counted for a waiting message of a stream. */
    private static final int MESSAGE_BYTES = 1 << 10;

    /** The maximum body size of a health probe on a server whose callers must identify themselves (docs/limits.md). */
    private static final int MAX_PROBE_BYTES = 4 << 10;

    private static final VarHandle SINGLE;

    static {
        try {
            SINGLE = MethodHandles.lookup().findVarHandle(RequestBody.class, "single", Frame.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private final HttpExchange exchange;
    private final BodyReader reader;
    private final Call call;
    private Phase phase = Phase.ARRIVING;
    private End end = End.OPEN;
    // the undecoded message of a unary request; read and cleared atomically by the VarHandle SINGLE
    private volatile @Nullable Frame single;
    private volatile boolean compressed; // true if the latest message was compressed
    private @Nullable Receiver receiver; // the receiver of a stream's messages; null for a unary request
    private int demand;
    private int allowedBytes = MessageStream.ALLOWED_BYTES;
    private int held; // the number of received bytes that still occupy the peer's flow-control window
    private long arrived;
    private int countedIncomplete;
    private int countedUnwanted;
    // true if a periodic check has found the request still open; since then, received parts of the body below 4 KiB are
    // counted too
    private boolean lingers;

    RequestBody(HttpExchange exchange, BodyReader reader, Call call) {
        this.exchange = exchange;
        this.reader = reader;
        this.call = call;
    }

    private ServerConnection connection() {
        return exchange.connection();
    }

    // ---- body state

    /** Returns whether the call has been passed to the server. */
    boolean isServed() {
        return phase == Phase.SERVED || phase == Phase.CLOSED;
    }

    /** Returns whether the rest of the request is still being read. */
    boolean isRead() {
        return phase == Phase.ARRIVING || phase == Phase.SERVED;
    }

    /** Called when the call is passed to the server. */
    void served() {
        phase = isRead() ? Phase.SERVED : Phase.CLOSED;
    }

    /** Drops the rest of the body, and the received message if {@link #takeSingle} has not returned it. */
    void stopReading() {
        keepSingle();
        discard();
    }

    /** Drops the rest of the body, but keeps the single message, because the server will still run the call. */
    void keepSingle() {
        phase = isServed() ? Phase.CLOSED : Phase.REFUSED;
        reader.close();
        account();
        if (held > 0) {
            exchange.consumed(held);
            held = 0;
        }
    }

    // ---- body arrival

    /** Requests one message, for a method that expects a single request message. */
    void requestSingle() {
        demand = 1;
    }

    /** Receives a part of the body. This object releases the bytes. */
    void data(ByteBuf bytes) {
        int length = bytes.readableBytes();
        if (!isRead()) {
            bytes.release();
            exchange.consumed(length);
            return;
        }
        arrived += length;
        held += length;
        if (arrived > MAX_PROBE_BYTES && exchange.isProbe()) {
            bytes.release();
            malformed(probeRefusal("has more than " + MAX_PROBE_BYTES + " bytes"));
            return;
        }
        try {
            reader.add(bytes);
        } catch (RpcException e) {
            malformed(e);
            return;
        }
        deliver();
        account();
    }

    /** Called when the body is complete. */
    void end() {
        if (end == End.OPEN) {
            end = End.ARRIVED;
        }
        deliver();
        account();
    }

    /** Returns the number of body bytes received so far. */
    long arrivedBytes() {
        return arrived;
    }

    private boolean wantsMore() {
        return demand > 0 && allowedBytes > 0;
    }

    // ---- message delivery

    /** Sets the receiver of a stream. */
    void start(Receiver newReceiver) {
        receiver = newReceiver;
        if (isRead()) {
            deliver(); // the body might have ended before the receiver was set
            account();
        }
    }

    /** Returns the receiver of a stream; null until it is set. */
    @Nullable
    Receiver receiver() {
        return receiver;
    }

    /** Requests the given number of additional messages of a stream. */
    void request(int messages) {
        demand = (int) Math.min(Integer.MAX_VALUE, (long) demand + messages);
        allowedBytes = MessageStream.ALLOWED_BYTES;
        if (isRead()) {
            deliver();
            account();
        }
    }

    private void deliver() {
        try {
            while (wantsMore() && isRead()) {
                Frame frame = reader.next(end != End.OPEN);
                if (frame == null) {
                    break;
                }
                deliver(frame);
            }
            if (wantsMore() && held > 0) {
                exchange.consumed(held);
                held = 0;
            }
            if (end == End.ARRIVED && isRead() && (receiver != null || !isServed()) && reader.isEmptyAtEnd()) {
                end = End.DELIVERED;
                deliverEnd();
            }
        } catch (RpcException e) {
            malformed(e);
        }
    }

    private void deliver(Frame frame) {
        if (frame.isCompressed() && exchange.isProbe()) {
            frame.payload().release();
            throw probeRefusal("is compressed");
        }
        connection().memory().messageComplete();
        Receiver current = receiver;
        if (current != null) {
            StreamMessage message = new StreamMessage(frame.alone());
            connection().memory().kept(message.counted);
            demand--;
            allowedBytes -= message.bytes();
            current.message(message);
            return;
        }
        connection().memory().kept(counted(frame));
        if (single != null) {
            drop(frame);
            throw refusal(" takes one message; the request has more");
        } else {
            compressed = frame.isCompressed();
            // Reading continues after the single message, so that a second message is detected and refused.
            single = frame;
        }
    }

    private void deliverEnd() {
        Receiver current = receiver;
        if (isServed()) {
            if (current != null) {
                current.ended();
            }
        } else if (single == null) {
            throw refusal(" takes one message; the request has none");
        } else {
            call.complete();
        }
    }

    private RpcException refusal(String how) {
        return RpcException.refusal(StatusCode.UNIMPLEMENTED, call.methodName() + how, Executed.NO);
    }

    private RpcException probeRefusal(String how) {
        return RpcException.refusal(
                StatusCode.RESOURCE_EXHAUSTED,
                "the request of " + call.methodName() + " " + how + "; calls that need no token have at most "
                        + MAX_PROBE_BYTES + " bytes, without compression",
                Executed.NO);
    }

    private void malformed(RpcException failure) {
        call.malformed(
                isServed() || failure.wasExecuted() == Executed.NO
                        ? failure
                        : RpcException.refusal(failure.code(), failure.status().description(), Executed.NO));
    }

    // ---- request memory

    /**
     * Reports to the connection how much memory the request occupies. An incomplete message that the receiver is
     * waiting for is reported separately.
     */
    private void account() {
        int bytes = !isRead() ? 0 : lingers ? heldWhileOpen() : InboundAccount.counted(reader.held());
        int wanted = wantsMore() && end == End.OPEN ? bytes : 0;
        connection().memory().kept(bytes - wanted - countedUnwanted);
        countedUnwanted = bytes - wanted;
        int change = wanted - countedIncomplete;
        countedIncomplete = wanted;
        connection().memory().incomplete(change);
    }

    /**
     * Returns the number of bytes that an open request occupies. The undecoded message of a unary request is excluded
     * if {@link InboundAccount} counts it.
     */
    private int heldWhileOpen() {
        if (isServed()) {
            return reader.held();
        }
        Frame waiting = single;
        int message = waiting == null ? 0 : waiting.payload().readableBytes();
        return CALL_BYTES + reader.held() + (InboundAccount.counted(message) == 0 ? message : 0);
    }

    /**
     * Copies the small parts of a request that stays open, because even a small part keeps a large buffer allocated.
     * Called periodically.
     */
    void linger() {
        if (!isRead() || end == End.DELIVERED || lingers) {
            return;
        }
        lingers = true;
        reader.compact();
        Frame waiting = isServed() ? null : single;
        if (waiting != null && InboundAccount.counted(waiting.payload().readableBytes()) == 0) {
            single = new Frame(BodyReader.copy(waiting.payload()), waiting.flags());
            waiting.payload().release();
        }
        account();
    }

    /**
     * Returns whether one check of the request per second is enough. One check is enough if {@link #linger} has been
     * called or is not needed.
     */
    boolean mayRest() {
        return !isRead() || end == End.DELIVERED || lingers;
    }

    // ---- single message

    /**
     * Returns the undecoded message of a unary request to the first caller, and null to later callers.
     */
    @Nullable
    Frame takeSingle() {
        return single == null ? null : (Frame) SINGLE.getAndSet(this, null);
    }

    /**
     * Returns the size of the undecoded message of a unary request; 0 if there is none, and Integer.MAX_VALUE if it is
     * compressed.
     */
    int singleBytes() {
        Frame current = single;
        if (current == null) {
            return 0;
        }
        return current.isCompressed() ? Integer.MAX_VALUE : current.payload().readableBytes();
    }

    /** Returns whether the single message has arrived and {@link #takeSingle} has not returned it. */
    boolean hasSingle() {
        return single != null;
    }

    /** Stores a message that {@link #takeSingle} returned, so that the next call to {@link #takeSingle} returns it. */
    void putBack(Frame taken) {
        single = taken;
    }

    /** Releases the single message, unless {@link #takeSingle} has returned it. */
    void discard() {
        Frame unread = takeSingle();
        if (unread != null) {
            drop(unread);
        }
    }

    /** Releases a message without decoding it. */
    void drop(Frame frame) {
        decoded(counted(frame));
        frame.payload().release();
    }

    /** Returns the number of bytes counted for an undecoded message. */
    static int counted(Frame frame) {
        return InboundAccount.counted(frame.payload().readableBytes());
    }

    /**
     * Called when a message has been decoded.
     *
     * @param counted the result of {@link #counted} for this message
     */
    void decoded(int counted) {
        connection().memory().kept(-counted);
    }

    /** Returns whether the latest message was compressed. */
    boolean isCompressed() {
        return compressed;
    }

    /**
     * An undecoded message of a stream. Each message counts as at least 1 KiB, because a stream can have many small
     * messages, and each waiting message needs several objects.
     */
    private final class StreamMessage implements Message {

        private final Frame frame;
        private final int counted;

        StreamMessage(Frame frame) {
            this.frame = frame;
            this.counted = Math.max(MESSAGE_BYTES, frame.payload().readableBytes());
        }

        @Override
        public int bytes() {
            return frame.payload().readableBytes();
        }

        @Override
        public @Nullable Object decode() {
            compressed = frame.isCompressed();
            try {
                return call.readElement(frame);
            } finally {
                decoded(counted);
            }
        }

        @Override
        public void discard() {
            decoded(counted);
            frame.payload().release();
        }
    }
}
