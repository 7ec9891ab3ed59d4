package tern.rpc.transport;

/** The header by which a server asks clients to wait before they repeat a call (gRPC, proposal A6). */
public final class RetryPushBack {

    /** Milliseconds until the next attempt; a negative number forbids one. */
    public static final String HEADER = "grpc-retry-pushback-ms";

    private RetryPushBack() {}
}
