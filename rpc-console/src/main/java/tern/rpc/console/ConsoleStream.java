package tern.rpc.console;

import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import tern.rpc.RpcException;
import tern.rpc.RpcException.Executed;
import tern.rpc.StatusCode;
import tern.rpc.serialization.JsonEstimate;
import tern.rpc.serialization.JsonMethod;
import tern.rpc.serialization.SerializationException;
import tern.rpc.transport.Message;
import tern.rpc.transport.MessageStream;

/**
 * The message stream of a console call. The stream delivers a fixed list of requests, and adds the answers to the
 * {@link ConsoleCall}. Thread-safe.
 */
final class ConsoleStream implements MessageStream {

    private final ConsoleCall call;
    private final JsonMethod json;
    private final List<byte[]> requests;
    private final AtomicLong credit = new AtomicLong();
    // The number of pending calls to deliver(). The thread that increments this number from 0 to 1 delivers for all
    // pending calls.
    private final AtomicInteger work = new AtomicInteger();
    private int next; // Only the delivering thread uses this field.
    private boolean endDelivered; // Only the delivering thread uses this field.
    private volatile @Nullable Receiver receiver;
    private volatile boolean closed;

    ConsoleStream(ConsoleCall call, JsonMethod json, List<byte[]> requests) {
        this.call = call;
        this.json = json;
        this.requests = requests;
    }

    @Override
    public void start(Receiver newReceiver) {
        receiver = newReceiver;
        deliver();
    }

    @Override
    public void request(int messages) {
        credit.addAndGet(messages);
        deliver();
    }

    @Override
    public void send(@Nullable Object value) {
        if (!closed) {
            call.add(value);
        }
    }

    @Override
    public boolean isReady() {
        return !closed && !call.isCut();
    }

    /** Ends the stream. Undelivered requests are dropped. */
    void close() {
        closed = true;
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
        Receiver current = receiver;
        if (current == null || closed) {
            return;
        }
        while (next < requests.size() && credit.get() > 0) {
            credit.decrementAndGet();
            int index = next++;
            current.message(new Text(requests.get(index), index));
        }
        if (next == requests.size() && !endDelivered) {
            endDelivered = true;
            current.ended();
        }
    }

    /** A request message as JSON. */
    private final class Text implements Message {

        private final byte[] text;
        private final int index;

        Text(byte[] text, int index) {
            this.text = text;
            this.index = index;
        }

        @Override
        public int bytes() {
            return text.length;
        }

        @Override
        public @Nullable Object decode() {
            try {
                JsonEstimate.check(text, 0, text.length);
                @Nullable Object[] values = json.readArguments(text, 0, text.length, true);
                return values.length == 0 ? null : values[0];
            } catch (SerializationException e) {
                throw new RpcException(
                        StatusCode.INVALID_ARGUMENT,
                        "messages[" + index + "] cannot be read: " + e.getMessage(),
                        Executed.MAYBE,
                        e);
            }
        }

        @Override
        public void discard() {
            // The message is on the heap, so nothing needs to be released.
        }
    }
}
