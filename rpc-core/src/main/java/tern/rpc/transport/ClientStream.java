package tern.rpc.transport;

import tern.rpc.Metadata;

/** The client's end of a streaming call. It is over when its {@link PendingCall} completes; failing that cancels it. */
public interface ClientStream extends MessageStream {

    /** Not for clients, who named their receiver when they opened the stream. */
    @Override
    default void start(MessageStream.Receiver receiver) {
        throw new IllegalStateException("the receiver of a client's stream is named when it is opened");
    }

    /**
     * Whether requests from the next one on are compressed, if the call offers that; at the beginning they are
     * ({@link tern.rpc.Invocation#isCompressed()}).
     */
    default void compress(boolean compressed) {}

    /** No more requests follow. */
    void end();

    /** Also told the headers of the response, before the first message. */
    interface Receiver extends MessageStream.Receiver {
        void headers(Metadata headers);
    }
}
