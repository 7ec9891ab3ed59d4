package tern.rpc.transport;

/** The header that tells clients how long to wait before they retry a call (gRPC, proposal A6). */
public final class RetryPushBack {

    /**
     * The header's value is the number of milliseconds until the next attempt. A negative value forbids more attempts.
     */
    public static final String HEADER = "grpc-retry-pushback-ms";

    private RetryPushBack() {}
}
