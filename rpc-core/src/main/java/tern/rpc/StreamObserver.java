package tern.rpc;

/**
 * One direction of a streaming call for those who prefer it to {@link java.util.concurrent.Flow}: any number of values,
 * then either {@link #onCompleted} or {@link #onError}, once. Not thread-safe: calls follow one another.
 *
 * <p>Those that Tern hands out send: {@code onNext} encodes on the calling thread and waits while the peer is slow, so
 * that a fast writer cannot fill the memory; it fails with an {@link RpcException} when the call is over. A worker of the
 * server waits for one second at the most ({@code rpc.limits.max-stream-wait}), and for one more each time that the caller
 * has taken 32 KiB. Then a limited number of bytes is kept ({@code rpc.limits.max-unsent-per-stream}), and then the stream
 * ends with RESOURCE_EXHAUSTED. Whoever serves slow readers looks at {@link #isReady} or gives a publisher. Those that
 * Tern is given receive: they are called on a worker thread, one value after the other. A bounded number of values is
 * asked for ahead (at most 256 messages and about 512 KiB); a slow receiver so slows its peer down.
 */
public interface StreamObserver<T> {

    void onNext(T value);

    /** The end after a failure; nothing follows. */
    void onError(Throwable failure);

    /** The end; nothing follows. */
    void onCompleted();

    /** Whether a value can be sent without waiting. Always true for those that receive. */
    default boolean isReady() {
        return true;
    }

    /**
     * Runs the task, on a worker thread, each time that {@link #isReady()} has become true again, and once at the
     * beginning. Does nothing for those that receive.
     */
    default void onReady(Runnable task) {}

    /**
     * Whether values from the next one on are compressed, where the protocol and the peer can. A server may always say so;
     * a client whose call was made with {@link CallOptions#compressed()}, which is also how it begins. Does nothing for
     * those that receive.
     */
    default void compress(boolean compressed) {}
}
