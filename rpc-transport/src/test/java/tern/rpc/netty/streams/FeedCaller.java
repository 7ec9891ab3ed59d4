package tern.rpc.netty.streams;

/** A client with one connection for many streams. */
interface FeedCaller extends AutoCloseable {

    /** Begins a stream without blocking. */
    void begin(Feed feed);

    /** Returns the client's count of open calls; 0 if it does not count them. */
    default int inFlight() {
        return 0;
    }

    /** Returns the client's count of bytes that wait to be sent. */
    default long queuedBytes() {
        return 0;
    }

    @Override
    void close() throws Exception;
}
