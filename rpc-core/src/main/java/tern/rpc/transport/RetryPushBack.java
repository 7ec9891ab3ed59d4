package tern.rpc.transport;

/** The header with which a server tells clients to wait before they repeat a call (gRPC, proposal A6). */
public final class RetryPushBack {

    /**
     * The value of this header is the number of milliseconds until the next attempt. A negative number forbids further
     * attempts.
     */
    public static final String HEADER = "grpc-retry-pushback-ms";

    private RetryPushBack() {}
}
