package tern.rpc.transport;

import org.jspecify.annotations.Nullable;

/**
 * One end of a streaming call: it sends values and receives the messages of the peer. {@link #start} is called first.
 * Thread-safe, except that values are sent one after another.
 */
public interface MessageStream {

    /**
     * The bytes of messages that the receiver may get between two requests, so that large messages do not fill the
     * memory however many were requested. The message that reaches this limit is still delivered.
     */
    int ALLOWED_BYTES = 256 << 10;

    /** Sets the receiver. Called before any other method. */
    void start(Receiver receiver);

    /**
     * Requests this many more messages and renews the allowance of {@link #ALLOWED_BYTES}. The peer is slowed down if
     * no messages are requested or the allowance is used up. A receiver that has handled half of the allowance calls
     * this again, with 0 if it wants no more messages.
     */
    void request(int messages);

    /**
     * Encodes the value on the calling thread and queues it. Never blocks. The value is dropped after the end of the
     * call. A sender that waits for {@link #isReady} keeps memory bounded; one that does not is cut off at a hard
     * limit.
     *
     * @throws tern.rpc.RpcException INTERNAL if the value cannot be encoded; RESOURCE_EXHAUSTED if it is larger than a
     *     message may be, or if far too many bytes wait to be sent
     */
    void send(@Nullable Object value);

    /** Whether few bytes wait to be sent, so that another message may be sent. */
    boolean isReady();

    /**
     * The bytes that the peer or its socket has taken so far; 0 if the transport does not count them. Any thread may
     * call this.
     */
    default long takenBytes() {
        return 0;
    }

    /** Receives the events of the stream on an event loop, one after another. Must not block. */
    interface Receiver {

        /** A requested message. */
        void message(Message message);

        /** The peer has ended its messages. On the client the end of the call reports this instead. */
        void ended();

        /** {@link #isReady()} has become true. */
        void ready();

        /** Whether a value waits for {@link #ready}, as far as is known. Any thread may call this. */
        default boolean isWaitingToSend() {
            return false;
        }
    }
}
