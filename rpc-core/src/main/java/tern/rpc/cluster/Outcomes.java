package tern.rpc.cluster;

import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import tern.rpc.Deadline;
import tern.rpc.RpcException;
import tern.rpc.StatusCode;
import tern.rpc.endpoint.Outcome;

/**
 * Classifies the outcome of an attempt. The result determines how the attempt changes the recorded state of its
 * provider.
 */
public final class Outcomes {

    /**
     * The maximum delay with which this process normally notices that a deadline has passed. After a longer pause of
     * the process or its threads, calls to all providers fail, but these failures do not show that the providers are
     * slow.
     */
    private static final long LATE_NANOS = TimeUnit.MILLISECONDS.toNanos(200);

    private Outcomes() {}

    /**
     * Returns the outcome of an attempt. A timeout counts as a cancellation if the provider may not have caused it. For
     * example, this process noticed the timeout late, or the attempt had less time than calls to the method usually
     * take.
     *
     * @param failure the failure, or null for a result or for an exception that the method declares
     * @param deadline the deadline of the attempt
     * @param tookNanos the duration of the attempt
     * @param times the method's usual response time
     */
    public static Outcome of(
            @Nullable RpcException failure, Deadline deadline, long tookNanos, UsualTime times, long now) {
        if (failure == null || failure.code() != StatusCode.DEADLINE_EXCEEDED) {
            return of(failure);
        }
        long remaining = deadline.remainingNanos(now);
        // A provider can also answer with DEADLINE_EXCEEDED before the deadline. Such an answer is a failure.
        boolean isTooShort = remaining <= 0 && tookNanos < times.nanos();
        return isTooShort || remaining < -LATE_NANOS ? Outcome.CANCELLED : Outcome.FAILED;
    }

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
