package tern.rpc.grpc;

import io.grpc.Metadata;

/** Where a call puts its answers. */
interface Answers {

    /** What is to be sent before the first answer. */
    void headers(Metadata headers);

    /** @throws RuntimeException if it cannot be sent; the call is over then, unless it was before */
    void send(Object answer);

    boolean isReady();

    /** Runs the task whenever more can be sent, and once at the beginning. */
    void onReady(Runnable task);

    void complete();

    void fail(Throwable failure);
}
