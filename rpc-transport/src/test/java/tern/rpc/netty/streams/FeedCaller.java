package tern.rpc.netty.streams;

/** A client that has one connection for many streams. */
interface FeedCaller extends AutoCloseable {

    /** Starts a stream. Does not block. */
    void begin(Feed feed);

    /** Returns the number of open calls according to the client; 0 if the client does not count them. */
    default int inFlight() {
        return 0;
    }

    /** Returns the number of bytes waiting to be sent, according to the client. */
    default long queuedBytes() {
        return 0;
    }

    @Override
    void close() throws Exception;
}
