package tern.sample.api;

/** Thrown when a request cannot be scheduled. The message gives the reason. */
public final class ScheduleException extends Exception {

    private static final long serialVersionUID = 1L;

    public enum Reason {
        TENANT_REFUSED,
        NO_AGENT
    }

    private final Reason reason;

    public ScheduleException(Reason reason, String message) {
        super(message);
        this.reason = reason;
    }

    public Reason reason() {
        return reason;
    }
}
