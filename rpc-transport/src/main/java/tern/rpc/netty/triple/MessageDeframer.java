package tern.rpc.netty.triple;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import org.jspecify.annotations.Nullable;
import tern.rpc.RpcException;
import tern.rpc.RpcException.Executed;
import tern.rpc.StatusCode;
import tern.rpc.serialization.MessageKind;

/**
 * Splits the bytes of DATA frames into messages: one byte of flags, four bytes of length, and the payload
 * (docs/wire-protocol.md 3.4). Delivers at most the requested number of messages, and reports how many more bytes the
 * peer may send (HTTP/2 flow control). The allocated memory grows with the received bytes, not with the announced
 * length. Only one thread uses an instance. The receiver can call this object while it receives a message.
 */
final class MessageDeframer {

    /** The flag of a message whose payload is compressed. */
    static final int COMPRESSED = 0x01;

    /** The flag of the last frame of a Connect stream. This frame contains the result. */
    static final int CONNECT_END = 0x02;

    /** The flag of the last frame of a gRPC-Web answer. This frame contains the trailers. */
    static final int WEB_TRAILERS = 0x80;

    /** The number of bytes that precede each payload. */
    static final int PREFIX_BYTES = 5;

    /** The flags that a protocol permits in addition to {@link #COMPRESSED}. */
    enum Framing {
        GRPC(COMPRESSED),
        GRPC_WEB(COMPRESSED | WEB_TRAILERS),
        CONNECT(COMPRESSED | CONNECT_END);

        private final int flags;

        Framing(int flags) {
            this.flags = flags;
        }
    }

    /** Receives the messages in order. */
    interface Receiver {
        /** @param payload the payload, which the receiver must release */
        void message(int flags, ByteBuf payload);
    }

    private final Framing framing;
    private final int maxMessageBytes;
    private final MessageKind kind;
    private final Receiver receiver;
    private @Nullable ByteBuf waiting; // a copy of the received bytes that have not been delivered as messages yet
    private int demand;
    private long allowedBytes;
    private long received;
    private long credited;
    private boolean delivering;
    private boolean closed;

    /**
     * @param maxMessageBytes the maximum size of a payload before decompression
     * @param kind the kind of the messages; error messages name the property that limits this kind
     */
    MessageDeframer(Framing framing, int maxMessageBytes, MessageKind kind, Receiver receiver) {
        this.framing = framing;
        this.maxMessageBytes = maxMessageBytes;
        this.kind = kind;
        this.receiver = receiver;
    }

    /**
     * Splits the received bytes into messages. Delivers the complete messages that have been requested, and keeps all
     * other bytes.
     *
     * @param data the received bytes; not released
     * @throws RpcException INTERNAL for unknown flags, RESOURCE_EXHAUSTED for a message above the limit; the caller
     *     must then close this object
     */
    void add(ByteBuf data) {
        received += data.readableBytes();
        if (closed) {
            return;
        }
        if (waiting == null && !delivering) {
            deliver(data, false); // complete messages are delivered without a copy
        }
        if (!closed && data.isReadable()) {
            keep(data);
            deliverWaiting();
        }
    }

    /** Requests the given number of additional messages, regardless of their size. */
    void request(int messages) {
        request(messages, Long.MAX_VALUE);
    }

    /**
     * Requests the given number of additional messages. Complete messages are delivered immediately.
     *
     * @param bytes the number of delivered message bytes at which delivery stops until the next call to this method;
     *     the message that reaches this number is still delivered
     * @throws RpcException in the same cases as {@link #add}
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
        ByteBuf rest = waiting; // the undelivered bytes; null if deliver() has delivered all of them
        if (rest == null) {
            return;
        }
        if (closed || !rest.isReadable()) {
            waiting = null;
            rest.release();
        } else if (rest.readerIndex() > rest.capacity() / 2) {
            shrink(rest);
        }
    }

    /**
     * Drops the delivered bytes. A few remaining bytes are copied, so that they do not keep a large buffer allocated.
     */
    private void shrink(ByteBuf rest) {
        if (rest.readableBytes() < rest.capacity() / 4) {
            waiting = BodyReader.copy(rest);
            rest.release();
        } else {
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
                    waiting = null; // deliver() passes the buffer itself to the receiver, without a copy
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

    /**
     * Copies the undelivered bytes to one buffer, so that a message in many small pieces needs little more memory than
     * its size.
     */
    private void keep(ByteBuf data) {
        ByteBuf kept = waiting;
        if (kept == null) {
            kept = data.alloc().buffer(data.readableBytes());
            waiting = kept;
        }
        kept.writeBytes(data);
    }

    /**
     * Returns the number of bytes by which the peer's flow-control window can be enlarged. These bytes have arrived
     * since the previous call to this method, and belong to requested messages, complete or not.
     */
    int takeCredit() {
        ByteBuf bytes = waiting;
        long consumed = closed || wantsMore() || bytes == null ? received : received - bytes.readableBytes();
        long credit = Math.max(0, consumed - credited);
        credited += credit;
        return (int) credit;
    }

    /** Returns the memory that the undelivered bytes occupy. */
    int held() {
        ByteBuf bytes = waiting;
        return bytes == null ? 0 : BodyReader.held(bytes);
    }

    /** Returns whether all received bytes have been delivered. */
    boolean isEmpty() {
        return waiting == null;
    }

    /** Returns whether the undelivered bytes are an incomplete message. */
    boolean isIncomplete() {
        return waiting != null && wantsMore();
    }

    /** Releases all bytes. Later bytes are dropped. */
    void close() {
        closed = true;
        ByteBuf rest = waiting;
        if (rest != null && !delivering) {
            waiting = null;
            rest.release();
        }
    }
}
