package tern.rpc.transport;

import org.jspecify.annotations.Nullable;

/**
 * The messages of one streaming call as one of its ends sees them: it sends values and is handed what the peer sends.
 * {@link #start} comes first; thread-safe except that values are sent one after another.
 */
public interface MessageStream {

    /**
     * Bytes of messages that may be handed to the receiver between two requests, so that messages which turn out to be
     * large do not fill the memory however many were asked for. The message that reaches it is still handed over.
     */
    int ALLOWED_BYTES = 256 << 10;

    /** Names who is told; before anything else. */
    void start(Receiver receiver);

    /**
     * Lets this many more messages come, and renews the allowance of {@link #ALLOWED_BYTES}. The peer is slowed down
     * when none are asked for, or the allowance is used up. A receiver that has handled half of the allowance calls this
     * again, with 0 if it wants no further messages.
     */
    void request(int messages);

    /**
     * Encodes the value on the calling thread and queues it; never blocks. Dropped when the call is over. A writer that
     * heeds {@link #isReady} keeps memory bounded; one that does not is cut off at a hard limit.
     *
     * @throws tern.rpc.RpcException INTERNAL if the value cannot be written; RESOURCE_EXHAUSTED if it is larger than a
     *     message may be, or far too much waits to be sent
     */
    void send(@Nullable Object value);

    /** Whether little waits to be sent, so that one more message should be. */
    boolean isReady();

    /** Bytes sent so far that the peer or its socket has taken; 0 where nobody has to know. Any thread. */
    default long takenBytes() {
        return 0;
    }

    /** Told what comes, on an event loop, one after another. Must not block. */
    interface Receiver {

        /** A message that was asked for. */
        void message(Message message);

        /** The peer sends no more. On the client this is told by the end of the call instead. */
        void ended();

        /** {@link #isReady()} has become true. */
        void ready();

        /** Whether a value waits for {@link #ready}, as far as is known. Any thread. */
        default boolean isWaitingToSend() {
            return false;
        }
    }
}
