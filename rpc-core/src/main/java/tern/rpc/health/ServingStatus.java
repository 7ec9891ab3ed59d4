package tern.rpc.health;

/** Whether a service wants calls; {@link #ordinal()} is the number on the wire (grpc/health/v1/health.proto). */
public enum ServingStatus {
    UNKNOWN,
    SERVING,
    NOT_SERVING,
    /** Of a name that was never set; told to those who watch it. */
    SERVICE_UNKNOWN
}
