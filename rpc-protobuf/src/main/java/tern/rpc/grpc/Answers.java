package tern.rpc.grpc;

import io.grpc.Metadata;

/** Sends the answers of a call. */
interface Answers {

    /** Sends headers before the first answer. */
    void headers(Metadata headers);

    /**
     * Sends an answer.
     *
     * @throws RuntimeException if it cannot be sent; the call has then ended
     */
    void send(Object answer);

    boolean isReady();

    /** Runs the task whenever more can be sent, and once at the start. */
    void onReady(Runnable task);

    void complete();

    void fail(Throwable failure);
}
