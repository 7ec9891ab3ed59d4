package tern.rpc.transport;

import tern.rpc.Metadata;

/**
 * The client's end of a streaming call. The {@link PendingCall} of the stream completes at the end of the call.
 * Failing the pending call cancels the stream.
 */
public interface ClientStream extends MessageStream {

    /** Throws an exception. On the client, {@link ClientConnection#open} sets the receiver. */
    @Override
    default void start(MessageStream.Receiver receiver) {
        throw new IllegalStateException("the receiver of a client's stream is set when the stream is opened");
    }

    /**
     * Sets whether later requests are compressed if the call allows compression. Initially, requests are compressed if
     * {@link tern.rpc.Invocation#isCompressed()} returns true.
     */
    default void compress(boolean compressed) {}

    /** Ends the stream of requests. */
    void end();

    /** A receiver of messages that also receives the response headers, before the first message. */
    interface Receiver extends MessageStream.Receiver {
        void headers(Metadata headers);
    }
}
