package tern.rpc.diagnosis.excess;

import java.util.Locale;
import java.util.Map;
import tern.rpc.Phase;
import tern.rpc.diagnosis.account.OperationNames;
import tern.rpc.diagnosis.account.Part;
import tern.rpc.diagnosis.account.Times;
import tern.rpc.diagnosis.calls.Baseline;
import tern.rpc.diagnosis.stack.StackReader;

/**
 * Recognizes operations that are not slower than usual although they take most of the extra time of late calls (above
 * their usual time): calls are late because they run the operation, and most calls usually do not run it.
 */
public final class UnchangedOperations {

    /** Late calls run an operation notably more often than usual if they run it at least {@value} times as often. */
    private static final double NOTABLY_MORE = 1.2;

    /** A cache is assumed to hold the results of an operation if calls usually run it at most {@value} times. */
    private static final double BEHIND_CACHE = 0.7;

    private final ExcessTime excess;
    private final Operations operations;
    private final OperationsPerCall perCall;

    public UnchangedOperations(Evidence evidence, ExcessTime excess, Operations operations) {
        this.excess = excess;
        this.operations = operations;
        this.perCall = new OperationsPerCall(evidence, excess, operations);
    }

    /**
     * Returns whether late calls run the operation more often than calls usually do, and each run takes about its usual
     * time.
     */
    public boolean isOne(Part part) {
        Phase phase = Operations.phase(part.kind());
        boolean isNamed = !part.name().isEmpty()
                && !part.name().startsWith(StackReader.CALLED)
                && !part.name().startsWith(OperationNames.ALL)
                && !OperationNames.isFailing(part.name());
        if (phase == null || !isNamed || excess.isMostlyFailure(part)) {
            return false;
        }
        OperationsPerCall.Usual usual = usual(part, phase);
        double each = operations.of(phase, part.name()).eachNanos();
        return usual.eachNanos() > 0
                && usual.count() >= 0
                && usual.count() <= BEHIND_CACHE
                && each > 0
                && each <= Baseline.SLOWER_THAN_USUAL * usual.eachNanos()
                && ofLateCalls(part, phase) >= NOTABLY_MORE * usual.count();
    }

    /**
     * Returns whether late calls run the operation more often than calls usually do, each run takes about its usual
     * time ({@link #isOne}), and all calls together run the operation about as often as usual.
     */
    public boolean isAsOften(Part part) {
        Phase phase = Operations.phase(part.kind());
        return phase != null
                && isOne(part)
                && perCall.now(phase, part.name(), perCall.methodsThatRun(phase, part.name()))
                        < NOTABLY_MORE * usual(part, phase).count();
    }

    private OperationsPerCall.Usual usual(Part part, Phase phase) {
        return perCall.usual(part.kind(), phase, part.name(), perCall.methodsThatRun(phase, part.name()));
    }

    /** Returns the number of runs per late call, over the late calls to methods whose calls run the operation. */
    private double ofLateCalls(Part part, Phase phase) {
        Map<String, Integer> methods = perCall.methodsThatRun(phase, part.name());
        double runs = 0;
        int calls = 0;
        for (ExcessTime.Counted counted : excess.accounts) {
            if (methods.containsKey(counted.call().method())) {
                runs += RepeatedOperations.attempts(counted.call(), phase, part.name())
                        .count();
                calls++;
            }
        }
        return calls == 0 ? 0 : runs / calls;
    }

    /**
     * Returns the advice for an operation that is not slower than usual, but that late calls run more often than usual.
     */
    public String advice(Part part) {
        Phase phase = Operations.phase(part.kind());
        return phase == null
                ? ""
                : String.format(
                        Locale.ROOT,
                        "check the cache in front of this operation (its keys, its life time, who empties it): late"
                                + " calls run it %.1f times, calls usually %s times; it is not slower than usual (%s"
                                + " ms)",
                        ofLateCalls(part, phase),
                        CountText.number(usual(part, phase).count()),
                        Times.millis(operations.of(phase, part.name()).eachNanos()));
    }
}
