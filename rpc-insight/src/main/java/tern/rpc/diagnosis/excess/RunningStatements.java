package tern.rpc.diagnosis.excess;

import java.util.List;
import org.jspecify.annotations.Nullable;
import tern.rpc.CallLedger;
import tern.rpc.NamedTimes;
import tern.rpc.Phase;
import tern.rpc.diagnosis.account.EndedCall;
import tern.rpc.diagnosis.account.Part;
import tern.rpc.diagnosis.account.Part.Kind;
import tern.rpc.diagnosis.failure.FailedPeer;

/**
 * The statements that had not ended when they were observed: the statements of running calls, and the statements that a
 * time limit of the call or of the driver ended. A statement that waits for a lock ends only when the lock is released
 * or a time limit expires.
 */
public final class RunningStatements {

    private static final int MIN_CALLS = 3;

    private final ExcessTime excess;

    public RunningStatements(ExcessTime excess) {
        this.excess = excess;
    }

    /**
     * Returns the statement that the call is executing, or whose execution a time limit ended. Returns null if there is
     * none.
     */
    @Nullable
    public String of(EndedCall call) {
        CallLedger ledger = call.ledger();
        if (!ledger.isEnded()) {
            return ledger.running(Phase.SQL);
        }
        Part longest = excess.timedOutPart(call) == null ? null : FailedPeer.longest(call, Phase.SQL);
        return longest == null || NamedTimes.isRollback(longest.name()) ? null : longest.name();
    }

    /** Returns how long the call has been executing the statement that {@link #of} returns; 0 if there is none. */
    public double nanos(ExcessTime.Counted counted) {
        String statement = of(counted.call());
        return statement == null ? 0 : counted.times().of(new Part(Kind.SQL, statement));
    }

    /**
     * Returns the mean time for which calls have been executing the given statement so far; 0 if fewer than three calls
     * are executing it. Completed executions do not show how long unfinished ones have been waiting for a lock.
     */
    public double meanNanos(String statement) {
        List<Double> running = excess.accounts.stream()
                .filter(counted -> statement.equals(of(counted.call())))
                .map(counted -> counted.times().of(new Part(Kind.SQL, statement)))
                .toList();
        return running.size() < MIN_CALLS
                ? 0
                : running.stream().mapToDouble(Double::doubleValue).average().orElse(0);
    }
}
