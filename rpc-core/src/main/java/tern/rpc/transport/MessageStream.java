package tern.rpc.transport;

import org.jspecify.annotations.Nullable;

/**
 * One end of a streaming call: it sends values and receives the messages of the peer. {@link #start} is called first.
 * Thread-safe, but values must be sent one after another.
 */
public interface MessageStream {

    /**
     * Maximum size of the messages that the receiver gets between two requests, so that large messages do not fill the
     * memory, however many were requested. The message that reaches this limit is still delivered.
     */
    int ALLOWED_BYTES = 256 << 10;

    /** Sets the receiver. Called before any other method. */
    void start(Receiver receiver);

    /**
     * Requests this number of further messages and renews the allowance of {@link #ALLOWED_BYTES}. The peer is slowed
     * down if no messages are requested or the allowance is used up. A receiver calls this again after it has handled
     * half of the allowance. It passes 0 if it wants no further messages.
     */
    void request(int messages);

    /**
     * Encodes the value on the calling thread and queues it. Never blocks. The value is dropped after the end of the
     * call. A sender that waits for {@link #isReady} keeps the buffered bytes few. A sender that does not wait fails at
     * a hard limit.
     *
     * @throws tern.rpc.RpcException INTERNAL if the value cannot be encoded; RESOURCE_EXHAUSTED if the message is too
     *     large, or if too many bytes wait to be sent
     */
    void send(@Nullable Object value);

    /** Whether only few bytes wait to be sent, so that another message may be sent. */
    boolean isReady();

    /**
     * The bytes that the peer or its socket has taken so far; 0 if the transport does not count them. Any thread may
     * call this.
     */
    default long takenBytes() {
        return 0;
    }

    /** Receives the events of the stream, one after another, on an event loop. Must not block. */
    interface Receiver {

        /** Delivers a requested message. */
        void message(Message message);

        /**
         * Called when the peer has ended its messages. Not called on the client, where the end of the call reports
         * this.
         */
        void ended();

        /** Called when {@link #isReady()} has become true. */
        void ready();

        /** Whether a value waits for {@link #ready}. The result may be out of date. Any thread may call this. */
        default boolean isWaitingToSend() {
            return false;
        }
    }
}
