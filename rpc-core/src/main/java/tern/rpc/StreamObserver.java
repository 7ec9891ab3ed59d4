package tern.rpc;

/**
 * One direction of a streaming call, as an alternative to {@link java.util.concurrent.Flow}. The stream carries any
 * number of values, followed by exactly one call to {@link #onCompleted} or {@link #onError}. An observer is not
 * thread-safe: its methods must not be called concurrently.
 *
 * <p>An observer that Tern provides sends values. Its {@code onNext} encodes the value on the calling thread and blocks
 * while the peer is slow, so that a fast writer cannot exhaust the memory. After the end of the call, {@code onNext}
 * throws an {@link RpcException}. On the server, {@code onNext} blocks for at most one second
 * ({@code rpc.limits.max-stream-wait}), and for one more second for each 32 KiB that the caller reads. After that, a
 * limited number of bytes is buffered ({@code rpc.limits.max-unsent-per-stream}), and then the stream ends with
 * RESOURCE_EXHAUSTED. To serve slow readers, check {@link #isReady} or return a publisher.
 *
 * <p>An observer that the application passes to Tern receives values. Tern calls it on a worker thread, with one value
 * at a time. Tern requests only a limited number of values in advance (at most 256 messages and about 512 KiB). A slow
 * receiver therefore slows down its peer.
 */
public interface StreamObserver<T> {

    void onNext(T value);

    /** Ends the stream with a failure. No other method of this observer is called afterwards. */
    void onError(Throwable failure);

    /** Ends the stream. No more methods are called on this observer. */
    void onCompleted();

    /** Returns whether {@link #onNext} can send a value without blocking. Always true for a receiving observer. */
    default boolean isReady() {
        return true;
    }

    /**
     * Runs the task on a worker thread once at the start, and again whenever {@link #isReady()} becomes true. Does
     * nothing for a receiving observer.
     */
    default void onReady(Runnable task) {}

    /**
     * Sets whether later values are compressed if the protocol and the peer support it. A server may always call this.
     * A client may call this method only for a call with {@link CallOptions#compressed()}, which compresses values from
     * the start. Does nothing for a receiving observer.
     */
    default void compress(boolean compressed) {}
}
