package tern.rpc.transport;

import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import tern.rpc.MethodDescriptor;
import tern.rpc.RpcException;
import tern.rpc.RpcException.Executed;
import tern.rpc.StatusCode;
import tern.rpc.ValueType;
import tern.rpc.serialization.MessageKind;
import tern.rpc.serialization.MessageTooLargeException;
import tern.rpc.serialization.SerializationException;

/**
 * One end of an in-memory stream. Messages from the peer wait in this object until they are requested. The receiver
 * gets one callback at a time, on the sender's thread. Thread-safe.
 */
final class MemoryStream implements ClientStream {

    /**
     * {@link #isReady} returns true while the peer has fewer unread bytes than this number. Triple streams use the same
     * limit.
     */
    private static final long READY_BYTES = 32 << 10;

    /**
     * The maximum number of bytes that may wait at the peer. Sending a message beyond this limit fails. Streams on
     * sockets have the same limit, so a sender that ignores {@link #isReady} also fails with this transport.
     */
    private static final long MAX_BYTES = 1 << 20;

    /** The number of bytes added to the size of each message, so that empty messages are also limited. */
    private static final int BYTES_PER_MESSAGE = 32;

    private final MemoryCodec codec;
    private final MessageKind sent;
    private final MethodDescriptor method;
    private final ValueType type;
    private final AtomicLong unread;
    // The queue of events that are delivered even if no messages have been requested.
    private final Queue<Runnable> signals = new ConcurrentLinkedQueue<>();
    private final Queue<Object> items =
            // Each element is a message (Bytes) or an action (Runnable). An action runs after all earlier messages have
            // been delivered.
            new ConcurrentLinkedQueue<>();
    private final AtomicLong credit = new AtomicLong();
    private final AtomicLong allowedBytes = new AtomicLong(ALLOWED_BYTES);
    private final AtomicLong waitingBytes = new AtomicLong();
    private final AtomicLong sentBytes = new AtomicLong();
    // The number of pending deliveries. The thread that increments the number from 0 to 1 makes all deliveries.
    private final AtomicInteger work = new AtomicInteger();
    private volatile @Nullable MemoryStream peer;
    private volatile MessageStream.@Nullable Receiver receiver;
    private volatile boolean closed;

    /**
     * @param type the type of received messages
     * @param unread counts the bytes of received messages that have been neither decoded nor discarded
     */
    MemoryStream(MemoryCodec codec, MessageKind sent, MethodDescriptor method, ValueType type, AtomicLong unread) {
        this.codec = codec;
        this.sent = sent;
        this.method = method;
        this.type = type;
        this.unread = unread;
    }

    static void connect(MemoryStream one, MemoryStream other) {
        one.peer = other;
        other.peer = one;
    }

    @Override
    public void start(MessageStream.Receiver newReceiver) {
        receiver = newReceiver;
        deliver();
    }

    @Override
    public void request(int messages) {
        allowedBytes.set(ALLOWED_BYTES);
        credit.addAndGet(messages);
        deliver();
    }

    @Override
    public void send(@Nullable Object value) {
        MemoryStream to = peer;
        if (closed || to == null) {
            return;
        }
        byte[] bytes;
        try {
            bytes = codec.encode(sent, value);
        } catch (SerializationException e) {
            throw new RpcException(
                    e instanceof MessageTooLargeException ? StatusCode.RESOURCE_EXHAUSTED : StatusCode.INTERNAL,
                    method + ": a message cannot be sent: " + e.getMessage(),
                    Executed.MAYBE,
                    e);
        }
        long waiting = to.waitingBytes.get();
        if (waiting > MAX_BYTES) {
            throw RpcException.refusal(
                    StatusCode.RESOURCE_EXHAUSTED,
                    method + ": " + waiting + " of " + MAX_BYTES + " bytes wait to be read by the peer",
                    Executed.MAYBE);
        }
        to.add(bytes);
        sentBytes.addAndGet(bytes.length + BYTES_PER_MESSAGE);
    }

    @Override
    public long takenBytes() {
        MemoryStream to = peer;
        return to == null ? 0 : Math.max(0, sentBytes.get() - to.waitingBytes.get());
    }

    private void add(byte[] bytes) {
        waitingBytes.addAndGet(bytes.length + BYTES_PER_MESSAGE);
        unread.addAndGet(bytes.length + BYTES_PER_MESSAGE);
        items.add(new Bytes(bytes));
        deliver();
    }

    @Override
    public void end() {
        MemoryStream to = peer;
        if (to != null) {
            to.afterMessages(() -> {
                MessageStream.Receiver current = to.receiver;
                if (current != null) {
                    current.ended();
                }
            });
        }
    }

    @Override
    public boolean isReady() {
        MemoryStream to = peer;
        return !closed && to != null && to.waitingBytes.get() < READY_BYTES;
    }

    /** Runs the action after all earlier messages have been delivered. */
    void afterMessages(Runnable action) {
        items.add(action);
        deliver();
    }

    /** Ends the stream. Waiting messages are discarded, and later messages are dropped. */
    void close() {
        closed = true;
        deliver();
    }

    private void deliver() {
        if (work.getAndIncrement() != 0) {
            return;
        }
        int seen = 1;
        while (seen != 0) {
            deliverAll();
            seen = work.addAndGet(-seen);
        }
    }

    private void deliverAll() {
        MessageStream.Receiver current = receiver;
        if (current == null && !closed) {
            return;
        }
        Runnable signal;
        while ((signal = signals.poll()) != null) {
            if (!closed) {
                signal.run();
            }
        }
        Object item;
        while ((item = items.peek()) != null) {
            if (item instanceof Bytes message) {
                if (closed) {
                    message.discard();
                } else if (current != null && credit.get() > 0 && allowedBytes.get() > 0) {
                    credit.decrementAndGet();
                    // The size is subtracted before the receiver gets the message, because the receiver may permit more
                    // bytes while it handles the message.
                    allowedBytes.addAndGet(-message.bytes());
                    current.message(message);
                } else {
                    return;
                }
                items.remove();
                handedOver(message.size());
            } else {
                items.remove();
                if (!closed) {
                    ((Runnable) item).run();
                }
            }
        }
    }

    private void handedOver(int bytes) {
        long left = waitingBytes.addAndGet(-bytes);
        MemoryStream from = peer;
        if (from != null && left < READY_BYTES && left + bytes >= READY_BYTES) {
            from.signals.add(() -> {
                MessageStream.Receiver current = from.receiver;
                if (current != null) {
                    current.ready();
                }
            });
            from.deliver();
        }
    }

    /** An encoded message. */
    private final class Bytes implements Message {

        private final byte[] bytes;
        private final AtomicBoolean taken = new AtomicBoolean();

        Bytes(byte[] bytes) {
            this.bytes = bytes;
        }

        int size() {
            return bytes.length + BYTES_PER_MESSAGE;
        }

        @Override
        public int bytes() {
            return bytes.length;
        }

        @Override
        public @Nullable Object decode() {
            take();
            try {
                return codec.decode(bytes, method, type);
            } catch (SerializationException e) {
                throw new RpcException(
                        StatusCode.INTERNAL,
                        method + ": a message cannot be read: " + e.getMessage(),
                        Executed.MAYBE,
                        e);
            }
        }

        @Override
        public void discard() {
            take();
        }

        private void take() {
            if (!taken.compareAndSet(false, true)) {
                throw new IllegalStateException("a message is read or discarded once");
            }
            unread.addAndGet(-size());
        }
    }
}
