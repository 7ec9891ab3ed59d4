package tern.rpc.diagnosis.rule;

import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;
import tern.rpc.diagnosis.account.EndedCall;
import tern.rpc.diagnosis.account.Part;
import tern.rpc.diagnosis.account.Times;
import tern.rpc.diagnosis.excess.Evidence;
import tern.rpc.diagnosis.excess.ExcessTime;

/**
 * Recognizes results that probably never come: calls hang while they wait for the results, although later calls to the
 * same methods have ended. If the work for the results were only slow, it would also delay the later calls.
 */
public final class LostResults {

    private static final int MIN_CALLS = 3;

    /** A result can count as lost only if calls wait for it for at least {@value} times the latency target. */
    private static final double LONG_TARGETS = 10;

    /**
     * The minimum fraction of the waiting call's running time that must have passed when another call to the same
     * method ends. The other call is then assumed to have begun after the waiting call.
     */
    private static final double LATER = 0.5;

    private LostResults() {}

    /** Returns the evidence that the results of the given waits never come; null if there is none. */
    public static @Nullable String fact(Evidence evidence, ExcessTime excess, Part wait) {
        List<ExcessTime.Counted> lost = excess.accounts.stream()
                .filter(counted -> !counted.call().ledger().isEnded())
                .filter(counted -> counted.times().of(wait) >= LONG_TARGETS * evidence.targetNanos()
                        && 2 * counted.times().of(wait) >= counted.call().tookNanos())
                .filter(counted -> isOvertaken(counted.call(), evidence))
                .toList();
        double longest = lost.stream()
                .mapToDouble(counted -> counted.times().of(wait))
                .max()
                .orElse(0);
        return lost.size() < MIN_CALLS
                ? null
                : String.format(
                        Locale.ROOT,
                        "never    %d calls have waited for up to %s ms, although later calls to the same %s have ended",
                        lost.size(),
                        Times.millis(longest),
                        lost.stream()
                                                .map(counted -> counted.call().method())
                                                .distinct()
                                                .count()
                                        == 1
                                ? "method"
                                : "methods");
    }

    /** Returns whether a call to the same method that most likely began later has ended without a failure. */
    static boolean isOvertaken(EndedCall call, Evidence evidence) {
        Long answered = evidence.answers().of(call.method());
        return answered != null && answered - call.startedNanos() >= LATER * call.tookNanos();
    }
}
