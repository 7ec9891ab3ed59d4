package tern.rpc.transport;

import org.jspecify.annotations.Nullable;

/**
 * One end of a streaming call. The stream sends values and receives the messages of its peer. {@link #start} must be
 * called first. Thread-safe, except that only one thread at a time may send values.
 */
public interface MessageStream {

    /**
     * The maximum total size, in bytes, of the messages delivered to the receiver between two calls to
     * {@link #request}. Without this limit, a few large messages could exhaust the memory. The message that reaches the
     * limit is still delivered.
     */
    int ALLOWED_BYTES = 256 << 10;

    /** Sets the receiver. Called before any other method. */
    void start(Receiver receiver);

    /**
     * Requests the given number of additional messages, and permits another {@link #ALLOWED_BYTES} bytes. While no
     * messages are requested or all permitted bytes have been delivered, the peer is slowed down. The receiver calls
     * this method again when it has handled half of the permitted bytes; the receiver passes 0 if it needs no
     * additional messages.
     */
    void request(int messages);

    /**
     * Encodes the value on the calling thread and queues it. Never blocks. After the end of the call, the value is
     * dropped. If the sender waits for {@link #isReady} before each value, only a few bytes are buffered. Otherwise,
     * this method throws an exception when a fixed limit of buffered bytes is reached.
     *
     * @throws tern.rpc.RpcException INTERNAL if the value cannot be encoded; RESOURCE_EXHAUSTED if the message is too
     *     large, or if too many bytes are waiting to be sent
     */
    void send(@Nullable Object value);

    /** Returns whether the sender should send another message; false if too many bytes are waiting to be sent. */
    boolean isReady();

    /**
     * Returns the number of bytes that the peer or its socket has accepted so far, or 0 if the transport does not count
     * these bytes. Any thread may call this.
     */
    default long takenBytes() {
        return 0;
    }

    /**
     * Returns the report size of the peer: the maximum growth of {@link #takenBytes} at a time, in bytes. Returns 0 if
     * the peer reports each message. For example, HTTP/2 peers usually report the bytes that they have read when these
     * bytes fill half of the flow-control window. Any thread may call this.
     */
    default long takenStepBytes() {
        return 0;
    }

    /** Receives the events of the stream, one at a time, on an event loop. Must not block. */
    interface Receiver {

        /** Delivers a requested message. */
        void message(Message message);

        /**
         * Called when the peer has sent its last message. Not called on the client, where the completion of the call
         * reports the end.
         */
        void ended();

        /** Called when {@link #isReady()} has become true. */
        void ready();

        /**
         * Returns whether a value is waiting for {@link #ready}. The result may be out of date. Any thread may call
         * this method.
         */
        default boolean isWaitingToSend() {
            return false;
        }
    }
}
