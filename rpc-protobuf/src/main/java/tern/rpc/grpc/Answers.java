package tern.rpc.grpc;

import io.grpc.Metadata;

/** Sends a call's answers. */
interface Answers {

    /** Sends the call's headers. Must be called before the first answer. */
    void headers(Metadata headers);

    /**
     * Sends an answer.
     *
     * @throws RuntimeException if the answer cannot be sent; the call has then ended
     */
    void send(Object answer);

    boolean isReady();

    /** Runs the task once at the start, and again whenever the service can send more answers. */
    void onReady(Runnable task);

    void complete();

    void fail(Throwable failure);
}
