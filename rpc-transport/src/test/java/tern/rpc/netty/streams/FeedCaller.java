package tern.rpc.netty.streams;

/** A client that has one connection for many streams. */
interface FeedCaller extends AutoCloseable {

    /** Starts a stream. Does not block. */
    void begin(Feed feed);

    /** Returns the client's count of open calls; 0 if the client does not count them. */
    default int inFlight() {
        return 0;
    }

    /** Returns the client's count of bytes waiting to be sent. */
    default long queuedBytes() {
        return 0;
    }

    @Override
    void close() throws Exception;
}
