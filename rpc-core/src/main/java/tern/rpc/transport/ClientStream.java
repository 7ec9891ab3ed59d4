package tern.rpc.transport;

import tern.rpc.Metadata;

/**
 * The client's end of a streaming call. Its {@link PendingCall} completes at the end of the call. Failing the pending
 * call cancels the stream.
 */
public interface ClientStream extends MessageStream {

    /** Not used by clients, which set their receiver when they open the stream. */
    @Override
    default void start(MessageStream.Receiver receiver) {
        throw new IllegalStateException("the receiver of a client's stream is named when it is opened");
    }

    /**
     * Sets whether later requests are compressed, if the call permits compression. Initially they are compressed if
     * {@link tern.rpc.Invocation#isCompressed()} is true.
     */
    default void compress(boolean compressed) {}

    /** Ends the stream of requests. */
    void end();

    /** A receiver that also gets the headers of the response, before the first message. */
    interface Receiver extends MessageStream.Receiver {
        void headers(Metadata headers);
    }
}
