package tern.rpc.spring.autoconfigure;

import tern.rpc.settings.RpcStartException;

/** Finds the exception that a failure analyzer would receive. */
final class StartFailures {

    private StartFailures() {}

    static RpcStartException causeOf(Throwable failure) {
        for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
            if (cause instanceof RpcStartException start) {
                return start;
            }
        }
        throw new AssertionError("the start did not fail for a reason of ours: " + failure, failure);
    }
}
