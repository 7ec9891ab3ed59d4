package tern.rpc.endpoint;

/** The end of an attempt, as far as it tells something about the provider. */
public enum Outcome {
    /** The provider answered: with a result, an exception of the method, or an error of the caller's making. */
    ANSWERED,
    /** The provider is alive but refused the call because it has too much to do. */
    REFUSED,
    /** The connection was lost, the time was over, or the provider said that it is unavailable. */
    FAILED,
    /** The caller gave up. This says nothing about the provider. */
    CANCELLED
}
