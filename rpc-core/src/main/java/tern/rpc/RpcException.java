package tern.rpc;

import org.jspecify.annotations.Nullable;

/**
 * A call that failed for a reason other than an exception which its method declares. Services may throw it to answer
 * with a code of their choice; callers get it for every failure of the framework, the network or the peer.
 *
 * <p>{@link #wasExecuted()} tells whether the method may have run, which is all that a decision to call again needs,
 * apart from whether the method is idempotent.
 *
 * <p>The description may come from a peer: {@link #getMessage()} and {@link #toString()} have it {@linkplain PeerText
 * without line breaks and cut}, {@link #status()} as it is.
 */
public class RpcException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    /** Whether the server's method ran. */
    public enum Executed {
        /** Proven not to have run: it may be sent again, to this or another provider. */
        NO,
        /** Unknown, as after a timeout or a lost connection. */
        MAYBE,
        /** It ran, and its answer was lost or could not be written. */
        YES
    }

    private final Status status;
    private final Executed executed;
    private final transient @Nullable Metadata metadata; // null in one that was deserialized

    /** A failure that a service reports: the method ran. */
    public RpcException(StatusCode code, String description) {
        this(code, description, Executed.YES, null);
    }

    public RpcException(StatusCode code, String description, Executed executed, @Nullable Throwable cause) {
        this(new Status(code, description), executed, cause, new Metadata(), true);
    }

    /** A failure with details for programs that a service reports: the method ran. */
    public RpcException(Status status) {
        this(status, Executed.YES, null, new Metadata(), true);
    }

    /**
     * A failure that a server answered with.
     *
     * @param metadata the trailers that came with it
     */
    public RpcException(Status status, Executed executed, Metadata metadata) {
        this(status, executed, null, metadata, true);
    }

    private RpcException(
            Status status, Executed executed, @Nullable Throwable cause, Metadata metadata, boolean withStackTrace) {
        super(PeerText.text(status.toString()), cause, withStackTrace, withStackTrace);
        this.status = status;
        this.executed = executed;
        this.metadata = metadata;
    }

    /** An expected refusal, made without a stack trace because it may be made thousands of times a second. */
    public static RpcException refusal(StatusCode code, String description, Executed executed) {
        return new RpcException(new Status(code, description), executed, null, new Metadata(), false);
    }

    public Status status() {
        return status;
    }

    public StatusCode code() {
        return status.code();
    }

    /** The trailers that came with the failure; empty if there were none or it did not come from a server. */
    public Metadata metadata() {
        return metadata == null ? new Metadata() : metadata;
    }

    /** Whether the server's method ran; {@code NO} means that the call can be sent again safely. */
    public Executed wasExecuted() {
        return executed;
    }
}
