package tern.rpc;

import org.jspecify.annotations.Nullable;

/**
 * The failure of a call, other than an exception that the method declares. Services may throw this exception to answer
 * with a status code of their choice. Callers also get this exception for every failure of the framework, the network
 * or the peer.
 *
 * <p>{@link #wasExecuted()} returns whether the method may have run. This value and the method's idempotence determine
 * whether the call may be repeated.
 *
 * <p>The description may come from a peer. In {@link #getMessage()} and {@link #toString()}, the description
 * {@linkplain PeerText has no line breaks and a limited length}. {@link #status()} contains the original description.
 */
public class RpcException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    /** Tells whether the server's method ran. */
    public enum Executed {
        /** The method did not run. The call may be sent again, to the same provider or to another provider. */
        NO,
        /** It is unknown whether the method ran, for example after a timeout or a lost connection. */
        MAYBE,
        /**
         * The method ran. Either the method itself reported the failure, or its answer was lost or could not be
         * encoded.
         */
        YES;

        /** Returns this value or the given value, whichever is later in the order NO, MAYBE, YES. */
        public Executed or(Executed other) {
            return compareTo(other) >= 0 ? this : other;
        }
    }

    private final Status status;
    private final Executed executed;
    private final transient @Nullable Metadata metadata; // transient, and therefore null after deserialization

    /**
     * Creates a failure for a service to throw. {@link #wasExecuted()} of this failure returns {@code YES}.
     *
     * @param code any code except {@code OK}, which is not a failure
     * @param description null is the same as an empty text, because the message of an exception can be null
     * @throws IllegalArgumentException if the code is {@code OK}
     */
    public RpcException(StatusCode code, @Nullable String description) {
        this(code, description, Executed.YES, null);
    }

    /** @param description null is the same as an empty text */
    public RpcException(StatusCode code, @Nullable String description, Executed executed, @Nullable Throwable cause) {
        this(new Status(failed(code), description == null ? "" : description), executed, cause, new Metadata(), true);
    }

    /**
     * Creates a failure with machine-readable details for a service to throw. {@link #wasExecuted()} of this failure
     * returns {@code YES}.
     */
    public RpcException(Status status) {
        this(status, Executed.YES, null, new Metadata(), true);
    }

    /** Creates a failure with the given status and cause. */
    public RpcException(Status status, Executed executed, Throwable cause) {
        this(status, executed, cause, new Metadata(), true);
    }

    /**
     * Creates the failure that a server sent as its answer.
     *
     * @param metadata the answer's trailers
     */
    public RpcException(Status status, Executed executed, Metadata metadata) {
        this(status, executed, null, metadata, true);
    }

    private RpcException(String message, RpcException answer, boolean withStackTrace) {
        super(PeerText.text(message), answer.getCause(), withStackTrace, withStackTrace);
        this.status = answer.status;
        this.executed = answer.executed;
        this.metadata = answer.metadata;
    }

    private RpcException(
            Status status, Executed executed, @Nullable Throwable cause, Metadata metadata, boolean withStackTrace) {
        super(PeerText.text(status.toString()), cause, withStackTrace, withStackTrace);
        this.status = status;
        this.executed = executed;
        this.metadata = metadata;
    }

    private static StatusCode failed(StatusCode code) {
        if (code == StatusCode.OK) {
            throw new IllegalArgumentException(
                    "OK is not the code of a failure; return a result, or choose another StatusCode");
        }
        return code;
    }

    /**
     * Creates the failure of a refused call. The failure has no stack trace, because thousands of calls can be refused
     * per second.
     */
    public static RpcException refusal(StatusCode code, String description, Executed executed) {
        return new RpcException(new Status(code, description), executed, null, new Metadata(), false);
    }

    /**
     * Creates the failure that a server sent as its answer, without a stack trace.
     *
     * @param metadata the answer's trailers
     */
    public static RpcException refusal(Status status, Executed executed, Metadata metadata) {
        return new RpcException(status, executed, null, metadata, false);
    }

    /**
     * Creates a copy of a failure that a server sent as its answer. The copy's message also names the call and the
     * server. {@link #status()} is unchanged.
     *
     * @param origin the call and the server, for example {@code OrderService/find at 10.0.0.7:20880}
     * @param withStackTrace whether the copy has a stack trace
     */
    public RpcException answeredBy(String origin, boolean withStackTrace) {
        String text = status.description();
        return new RpcException(
                status.code().name() + ": " + origin + (text.isEmpty() ? "" : ": " + text), this, withStackTrace);
    }

    /**
     * Creates a copy of this failure whose message ends with a further explanation. {@link #status()} is unchanged,
     * because callers may compare the server's description.
     */
    public RpcException explained(String explanation) {
        RpcException explained = new RpcException(getMessage() + explanation, this, false);
        explained.setStackTrace(getStackTrace());
        return explained;
    }

    /** Returns the code, the description and the details. The description may come from a peer. */
    public Status status() {
        return status;
    }

    public StatusCode code() {
        return status.code();
    }

    /**
     * Returns the trailers sent with the failure; empty if there were none or if the failure did not come from a
     * server.
     */
    public Metadata metadata() {
        return metadata == null ? new Metadata() : metadata;
    }

    /**
     * Returns whether the server's method ran, in any attempt of the call. If the result is {@code NO}, the call can
     * safely be repeated.
     */
    public Executed wasExecuted() {
        return executed;
    }

    /**
     * Returns the exception to report for a call whose last attempt failed with this exception. If the method may have
     * run, or has run, in an earlier attempt, the returned exception says so. Returns this exception if it already says
     * so.
     *
     * @param earlier whether the method ran in an earlier attempt of the call
     */
    public RpcException after(Executed earlier) {
        Executed strongest = executed.or(earlier);
        if (strongest == executed) {
            return this;
        }
        String text = status.description() + (status.description().isEmpty() ? "" : "; ")
                + "an earlier attempt of the call " + (strongest == Executed.YES ? "ran" : "may have run");
        return new RpcException(
                new Status(status.code(), text, status.details()), strongest, getCause(), metadata(), false);
    }
}
