package tern.rpc.diagnosis.excess;

import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import tern.rpc.Phase;
import tern.rpc.RunningCall;
import tern.rpc.diagnosis.account.EndedCall;

/**
 * Recognizes a logger that writes nothing more: several calls hang while they log a line, and no call that began later
 * has logged a line. A logger that is only slow still writes lines.
 *
 * @param calls the number of calls that hang in the logger
 * @param nanos the time since the first of them began to log its line
 */
public record StoppedLog(int calls, double nanos) {

    private static final int MIN_CALLS = 3;

    /** A call hangs in the logger if it has been logging a line for at least {@value} times the target. */
    private static final double LONG = 10;

    /**
     * Returns the number of calls that hang in the logger, and how long they hang. Returns null if the logger still
     * writes lines, or if too few calls hang in it.
     */
    public static @Nullable StoppedLog of(Evidence evidence) {
        double least = LONG * evidence.targetNanos();
        List<Long> begun = evidence.bad().stream()
                .filter(call -> !call.ledger().isEnded())
                .map(call -> call.ledger().look(call.method(), call.tookNanos(), call.endedNanos()))
                .filter(running -> running.phase() == Phase.LOGGING)
                .map(RunningCall::phaseNanos)
                .filter(nanos -> nanos >= least)
                .toList();
        if (begun.size() < MIN_CALLS) {
            return null;
        }
        long longest = begun.stream().mapToLong(Long::longValue).max().orElse(0);
        long now = evidence.bad().stream()
                .filter(call -> !call.ledger().isEnded())
                .mapToLong(EndedCall::endedNanos)
                .max()
                .orElse(0);
        boolean isWriting = Stream.concat(evidence.bad().stream(), evidence.good().stream())
                .filter(call -> call.ledger().isEnded() && call.ledger().count(Phase.LOGGING) > 0)
                .anyMatch(call -> call.startedNanos() - (now - longest) >= 0);
        return isWriting ? null : new StoppedLog(begun.size(), (double) longest);
    }
}
