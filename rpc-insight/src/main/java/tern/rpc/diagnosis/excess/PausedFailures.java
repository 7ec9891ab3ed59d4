package tern.rpc.diagnosis.excess;

import org.jspecify.annotations.Nullable;
import tern.rpc.diagnosis.account.EndedCall;
import tern.rpc.diagnosis.account.Part;
import tern.rpc.diagnosis.account.Part.Kind;
import tern.rpc.diagnosis.account.Times;

/**
 * Recognizes calls that failed only because the whole process was stopped. When a stopped process continues, its
 * operations have timed out and its peers have closed connections, although no peer was slow.
 */
final class PausedFailures {

    /** Pauses are assumed to cause a call's failure if they take at least {@value} of the call's time. */
    private static final double MOST = 0.5;

    private PausedFailures() {}

    /**
     * Returns the kind of pause that made the given call fail; null if there is none.
     *
     * @param failure the activity or wait that would otherwise explain the failure; null if a timeout ended the call
     */
    static @Nullable Part of(EndedCall call, @Nullable Part failure, Evidence evidence) {
        boolean mayBeOfPause = failure == null
                || failure.kind() == Kind.PEER_FAILS
                || failure.kind() == Kind.POOL
                || failure.kind() == Kind.TIMEOUT;
        if (call.failure() == null || !mayBeOfPause || call.tookNanos() <= evidence.targetNanos()) {
            return null;
        }
        Times stood = evidence.pauses().between(call.startedNanos(), call.endedNanos());
        return stood.sum() >= MOST * call.tookNanos() ? stood.longestFirst().get(0) : null;
    }
}
