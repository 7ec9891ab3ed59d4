package tern.rpc;

/**
 * One direction of a streaming call, as an alternative to {@link java.util.concurrent.Flow}: any number of values, then
 * either {@link #onCompleted} or {@link #onError}, once. Not thread-safe: calls must follow one another.
 *
 * <p>An observer that Tern provides sends values. {@code onNext} encodes on the calling thread and waits while the peer
 * is slow, so that a fast writer cannot fill the memory. It fails with an {@link RpcException} after the end of the
 * call. A worker of the server waits at most one second ({@code rpc.limits.max-stream-wait}), and again one second each
 * time the caller has taken 32 KiB. After that a limited number of bytes is buffered ({@code
 * rpc.limits.max-unsent-per-stream}). Then the stream ends with RESOURCE_EXHAUSTED. To serve slow readers, check {@link
 * #isReady} or return a publisher.
 *
 * <p>An observer that the application passes to Tern receives values. Tern calls it on a worker thread, one value after
 * the other. Tern requests a limited number of values in advance (at most 256 messages and about 512 KiB), so a slow
 * receiver slows its peer down.
 */
public interface StreamObserver<T> {

    void onNext(T value);

    /** Ends the stream with a failure. Nothing follows. */
    void onError(Throwable failure);

    /** Ends the stream. Nothing follows. */
    void onCompleted();

    /** Whether a value can be sent without waiting. Always true for a receiving observer. */
    default boolean isReady() {
        return true;
    }

    /**
     * Runs the task on a worker thread each time {@link #isReady()} becomes true again, and once at the start. Does
     * nothing for a receiving observer.
     */
    default void onReady(Runnable task) {}

    /**
     * Sets whether later values are compressed, if the protocol and the peer support it. A server may always set this.
     * A client may set it if the call was made with {@link CallOptions#compressed()}, which compresses from the start.
     * Does nothing for a receiving observer.
     */
    default void compress(boolean compressed) {}
}
