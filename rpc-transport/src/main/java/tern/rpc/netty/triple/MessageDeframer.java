package tern.rpc.netty.triple;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import org.jspecify.annotations.Nullable;
import tern.rpc.RpcException;
import tern.rpc.RpcException.Executed;
import tern.rpc.StatusCode;
import tern.rpc.serialization.MessageKind;

/**
 * Cuts the bytes of DATA into messages: a byte of flags, four bytes of length, the payload (docs/wire-protocol.md 3.4).
 * Hands out
 * no more messages than were asked for, and tells how many bytes the peer may send in their place. Memory grows with
 * what came, never with a length that was merely claimed. Used by one thread; its receiver may call it.
 */
final class MessageDeframer {

    /** Flag of a payload that is compressed. */
    static final int COMPRESSED = 0x01;

    /** Flag of the last frame of a Connect stream, which tells how it ended. */
    static final int CONNECT_END = 0x02;

    /** Flag of the last frame of a gRPC-Web answer, which has the trailers. */
    static final int WEB_TRAILERS = 0x80;

    /** Bytes before each payload. */
    static final int PREFIX_BYTES = 5;

    /** Which flags there are besides {@link #COMPRESSED}. */
    enum Framing {
        GRPC(COMPRESSED),
        GRPC_WEB(COMPRESSED | WEB_TRAILERS),
        CONNECT(COMPRESSED | CONNECT_END);

        private final int flags;

        Framing(int flags) {
            this.flags = flags;
        }
    }

    /** Gets the messages in order. */
    interface Receiver {
        /** @param payload owned by the receiver */
        void message(int flags, ByteBuf payload);
    }

    private final Framing framing;
    private final int maxMessageBytes;
    private final MessageKind kind;
    private final Receiver receiver;
    private @Nullable ByteBuf waiting; // a copy of what no message was made of yet
    private int demand;
    private long allowedBytes;
    private long received;
    private long credited;
    private boolean delivering;
    private boolean closed;

    /**
     * @param maxMessageBytes of one payload as it travels
     * @param kind whose property sets that
     */
    MessageDeframer(Framing framing, int maxMessageBytes, MessageKind kind, Receiver receiver) {
        this.framing = framing;
        this.maxMessageBytes = maxMessageBytes;
        this.kind = kind;
        this.receiver = receiver;
    }

    /**
     * More bytes came.
     *
     * @param data stays the caller's
     * @throws RpcException INTERNAL for flags that do not exist, RESOURCE_EXHAUSTED for a message above the limit; then
     *     the rest is worthless and this is to be closed
     */
    void add(ByteBuf data) {
        received += data.readableBytes();
        if (closed) {
            return;
        }
        if (waiting == null && !delivering) {
            deliver(data, false); // what came whole is handed out without a copy
        }
        if (!closed && data.isReadable()) {
            keep(data);
            deliverWaiting();
        }
    }

    /** Lets this many more messages be handed out, however large they are. */
    void request(int messages) {
        request(messages, Long.MAX_VALUE);
    }

    /**
     * Lets this many more messages be handed out; those that came before are handed out at once.
     *
     * @param bytes of messages that may be handed out until the next request; the message that reaches it still is
     * @throws RpcException as {@link #add}
     */
    void request(int messages, long bytes) {
        demand = (int) Math.min(Integer.MAX_VALUE, (long) demand + messages);
        allowedBytes = bytes;
        deliverWaiting();
    }

    private boolean wantsMore() {
        return demand > 0 && allowedBytes > 0;
    }

    private void deliverWaiting() {
        if (waiting == null || delivering || closed) {
            return;
        }
        deliver(waiting, true);
        ByteBuf rest = waiting; // null if it was handed out as a whole
        if (rest == null) {
            return;
        }
        if (closed || !rest.isReadable()) {
            waiting = null;
            rest.release();
        } else if (rest.readerIndex() > rest.capacity() / 2) {
            rest.discardReadBytes();
        }
    }

    private void deliver(ByteBuf bytes, boolean own) {
        delivering = true;
        try {
            while (!closed && wantsMore() && bytes.readableBytes() >= PREFIX_BYTES) {
                int start = bytes.readerIndex();
                int flags = bytes.getUnsignedByte(start);
                long length = bytes.getUnsignedInt(start + 1);
                check(flags, length);
                if (bytes.readableBytes() - PREFIX_BYTES < length) {
                    return;
                }
                bytes.skipBytes(PREFIX_BYTES);
                if (demand != Integer.MAX_VALUE) {
                    demand--;
                }
                allowedBytes -= length;
                boolean last = own && bytes.readableBytes() == length;
                if (last) {
                    waiting = null; // handed out as it is
                }
                receiver.message(flags, last ? bytes : payload(bytes, (int) length, own));
                if (last) {
                    return;
                }
            }
        } finally {
            delivering = false;
        }
    }

    private static ByteBuf payload(ByteBuf bytes, int length, boolean own) {
        if (length == 0) {
            return Unpooled.EMPTY_BUFFER;
        }
        return own ? bytes.readBytes(length) : bytes.readRetainedSlice(length);
    }

    private void check(int flags, long length) {
        if ((flags & ~framing.flags) != 0) {
            throw RpcException.refusal(
                    StatusCode.INTERNAL,
                    "a message begins with the flags 0x" + Integer.toHexString(flags) + ", which do not exist",
                    Executed.MAYBE);
        }
        if (length > maxMessageBytes) {
            throw RpcException.refusal(
                    StatusCode.RESOURCE_EXHAUSTED,
                    "a message has " + length + " bytes; at most " + maxMessageBytes + " are accepted (set by "
                            + kind.property() + ")",
                    Executed.MAYBE);
        }
    }

    /** Small pieces are joined, so that a message in many of them costs little more than its size. */
    private void keep(ByteBuf data) {
        ByteBuf kept = waiting;
        if (kept == null) {
            kept = data.alloc().buffer(data.readableBytes());
            waiting = kept;
        }
        kept.writeBytes(data);
    }

    /**
     * How many more bytes the peer may send: those of messages that were asked for, even where they are not complete.
     * Each byte is told once.
     */
    int takeCredit() {
        ByteBuf bytes = waiting;
        long consumed = closed || wantsMore() || bytes == null ? received : received - bytes.readableBytes();
        long credit = Math.max(0, consumed - credited);
        credited += credit;
        return (int) credit;
    }

    /** Bytes that came and were not handed out. */
    int held() {
        ByteBuf bytes = waiting;
        return bytes == null ? 0 : bytes.readableBytes();
    }

    /** Whether everything that came was handed out. */
    boolean isEmpty() {
        return waiting == null;
    }

    /** Whether the rest is the beginning of a message; once nothing follows it never becomes one. */
    boolean isIncomplete() {
        return waiting != null && wantsMore();
    }

    /** Lets go of everything; what comes later is dropped. */
    void close() {
        closed = true;
        ByteBuf rest = waiting;
        if (rest != null && !delivering) {
            waiting = null;
            rest.release();
        }
    }
}
