package tern.rpc.cluster;

import org.jspecify.annotations.Nullable;
import tern.rpc.RpcException;
import tern.rpc.endpoint.Outcome;

/** Determines from the outcome of an attempt how the attempt changes the recorded state of its provider. */
public final class Outcomes {

    private Outcomes() {}

    /** @param failure the failure, or null for a result or for an exception that the method declares */
    public static Outcome of(@Nullable RpcException failure) {
        if (failure == null) {
            return Outcome.ANSWERED;
        }
        return switch (failure.code()) {
            case UNAVAILABLE, DEADLINE_EXCEEDED -> Outcome.FAILED;
            case RESOURCE_EXHAUSTED -> Outcome.REFUSED;
            case CANCELLED -> Outcome.CANCELLED;
            default -> Outcome.ANSWERED;
        };
    }
}
