package tern.rpc.health;

/** Whether a service accepts calls. {@link #ordinal()} is the number on the wire (grpc/health/v1/health.proto). */
public enum ServingStatus {
    UNKNOWN,
    SERVING,
    NOT_SERVING,
    /** The status of an unknown name, sent to its watchers. */
    SERVICE_UNKNOWN
}
