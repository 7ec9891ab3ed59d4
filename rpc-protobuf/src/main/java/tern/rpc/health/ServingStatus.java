package tern.rpc.health;

/**
 * The status of a service: whether it accepts calls. {@link #ordinal()} is the number used in messages
 * (grpc/health/v1/health.proto).
 */
public enum ServingStatus {
    UNKNOWN,
    SERVING,
    NOT_SERVING,
    /** The status of an unknown service name. This status is sent only to watchers. */
    SERVICE_UNKNOWN
}
