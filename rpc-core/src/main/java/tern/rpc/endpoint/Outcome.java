package tern.rpc.endpoint;

/** The outcome of an attempt, as far as it says something about the provider. */
public enum Outcome {
    /** The provider answered with a result, an exception of the method, or an error caused by the caller. */
    ANSWERED,
    /** The provider is alive but refused the call because it is overloaded. */
    REFUSED,
    /** The connection was lost, the time ran out, or the provider said that it is unavailable. */
    FAILED,
    /** The caller gave up. This says nothing about the provider. */
    CANCELLED
}
