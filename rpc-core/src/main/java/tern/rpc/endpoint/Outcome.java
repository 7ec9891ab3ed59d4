package tern.rpc.endpoint;

/** The outcome of an attempt, classified by what it shows about the provider. */
public enum Outcome {
    /** The provider answered with a result, an exception of the method, or an error caused by the caller. */
    ANSWERED,
    /** The provider is alive but refused the call because it is overloaded. */
    REFUSED,
    /**
     * The connection was lost, the deadline passed, or the provider replied that it is unavailable or lacks the
     * service.
     */
    FAILED,
    /** The caller cancelled the call. A cancellation does not show how well the provider works. */
    CANCELLED
}
