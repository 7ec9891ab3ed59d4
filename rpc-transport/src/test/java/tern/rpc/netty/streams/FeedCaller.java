package tern.rpc.netty.streams;

/** A client with one connection, over which many streams go. */
interface FeedCaller extends AutoCloseable {

    /** Begins a stream; does not wait. */
    void begin(Feed feed);

    /** Calls that have not ended, as the client counts them; 0 where it does not. */
    default int inFlight() {
        return 0;
    }

    /** Bytes that wait to be sent, as the client counts them. */
    default long queuedBytes() {
        return 0;
    }

    @Override
    void close() throws Exception;
}
