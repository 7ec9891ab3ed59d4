package tern.rpc.netty.triple;

import io.netty.channel.Channel;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;
import tern.rpc.RpcException;
import tern.rpc.RpcException.Executed;
import tern.rpc.StatusCode;
import tern.rpc.netty.Connection;
import tern.rpc.netty.WriteBatch;
import tern.rpc.netty.WriteCommand;
import tern.rpc.netty.triple.StreamCall.SendMessage;
import tern.rpc.serialization.MessageTooLargeException;
import tern.rpc.serialization.SerializationException;
import tern.rpc.transport.ClientStream;
import tern.rpc.transport.MessageStream;
import tern.rpc.transport.PendingCall;

/**
 * The caller's side of a stream. Any thread may send messages and request answers, because all commands pass through
 * the connection's write queue.
 */
final class TripleClientStream implements ClientStream {

    /** The maximum number of unsent bytes. A sender that waits until the stream is ready never reaches this limit. */
    static final long MAX_BYTES = 1 << 20;

    /**
     * The number of bytes counted for each message in addition to its own bytes, so that empty messages are counted
     * too.
     */
    private static final int BYTES_PER_MESSAGE = 32;

    /**
     * While all queued bytes occupy at most 1/{@value} of the heap, a stream without unsent bytes may queue a message
     * even if the write queue is full. The queue might have had room when the stream checked it.
     */
    private static final int HEAP_PART = 8;

    private final StreamCall call;
    private final TripleCodecs codecs;
    private final PayloadCodec payload;
    private final BooleanSupplier whenRoom;
    private volatile boolean plain; // true if messages are sent uncompressed; set by the sender

    TripleClientStream(StreamCall call, TripleCodecs codecs, PayloadCodec payload) {
        this.call = call;
        this.codecs = codecs;
        this.payload = payload;
        this.whenRoom = call::ready;
    }

    @Override
    public void start(MessageStream.Receiver receiver) {
        throw new IllegalStateException("the receiver of a client's stream is set when the stream is opened");
    }

    @Override
    public void request(int messages) {
        connection().queue().add(new Ask(messages));
    }

    @Override
    public void send(@Nullable Object value) {
        PendingCall pending = call.pending();
        if (pending.isDone()) {
            return;
        }
        byte[] message = encode(value);
        long waiting = call.unsentBytes();
        long queued = connection().queue().queuedBytes();
        long mostQueued = mostQueued(waiting);
        if (waiting > MAX_BYTES || queued > mostQueued) {
            RpcException failure = RpcException.refusal(
                    StatusCode.RESOURCE_EXHAUSTED,
                    pending + " at " + connection().endpoint() + ": "
                            + (waiting > MAX_BYTES
                                    ? waiting + " of " + MAX_BYTES + " bytes of the stream"
                                    : queued + " of " + mostQueued + " bytes (set by rpc.limits.max-unsent)")
                            + " are waiting to be sent; send when the stream is ready",
                    Executed.MAYBE);
            pending.fail(failure);
            throw failure;
        }
        int bytes = message.length + BYTES_PER_MESSAGE;
        call.queued(bytes);
        connection().queue().add(new Send(message, false, bytes));
    }

    private long mostQueued(long waiting) {
        long limit = connection().settings().maxQueuedBytes();
        return waiting > 0 ? limit : Math.max(limit, Runtime.getRuntime().maxMemory() / HEAP_PART);
    }

    @Override
    public void compress(boolean compressed) {
        plain = !compressed;
    }

    private byte[] encode(@Nullable Object value) {
        int limit = connection().settings().maxRequestBytes();
        boolean compressed = call.pending().call().isCompressed() && !plain;
        try {
            return codecs.requestFrame(limit, compressed, out -> payload.writeRequest(arguments(value), out));
        } catch (SerializationException e) {
            throw new RpcException(
                    e instanceof MessageTooLargeException ? StatusCode.RESOURCE_EXHAUSTED : StatusCode.INTERNAL,
                    call.pending() + ": a message cannot be sent: " + e.getMessage(),
                    Executed.MAYBE,
                    e);
        }
    }

    @SuppressWarnings("NullAway") // NullAway does not accept null as an element of this array
    private static Object[] arguments(@Nullable Object value) {
        return new Object[] {value};
    }

    @Override
    public boolean isReady() {
        return call.isReady() && !call.pending().isDone() && connection().room().isThere(whenRoom);
    }

    @Override
    public void end() {
        connection().queue().add(new Send(null, true, 0));
    }

    private Connection connection() {
        return call.connection();
    }

    private final class Send extends WriteCommand {

        private final byte @Nullable [] message;
        private final boolean end;
        private final int bytes;

        Send(byte @Nullable [] message, boolean end, int bytes) {
            this.message = message;
            this.end = end;
            this.bytes = bytes;
        }

        @Override
        public int bytes() {
            return bytes;
        }

        @Override
        protected void write(WriteBatch batch) {
            batch.handedOn(bytes);
            call.send(new SendMessage(message, end, bytes));
        }
    }

    private final class Ask extends WriteCommand {

        private final int messages;

        Ask(int messages) {
            this.messages = messages;
        }

        @Override
        public int bytes() {
            return 0;
        }

        @Override
        protected void write(WriteBatch batch) {
            Http2ClientHandler.of(batch.channel()).ask(call, messages);
        }

        @Override
        protected void dropped(Channel closed) {
            // the answer can be complete before all of its messages have been requested
            Http2ClientHandler.of(closed).ask(call, messages);
        }
    }
}
