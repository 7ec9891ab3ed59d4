package tern.rpc.diagnosis.calls;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import tern.rpc.CallLedger;
import tern.rpc.NamedTimes;
import tern.rpc.Phase;
import tern.rpc.diagnosis.account.EndedCall;
import tern.rpc.diagnosis.account.OperationNames;
import tern.rpc.pool.LargeReplies;

/**
 * The usual duration of operations, and the usual number of operations per call. Both values are learned from calls
 * that met the latency target.
 */
public final class UsualOperations {

    /**
     * The usual number of operations of several methods together counts as unknown if it is unknown for more than
     * {@value} of their calls.
     */
    public static final double MAX_UNKNOWN = 0.1;

    /** The kinds of operations whose usual number per call is learned. */
    public static final List<Phase> COUNTED = List.of(Phase.SQL, Phase.REDIS, Phase.HTTP, Phase.RPC, Phase.LOGGING);

    private final Baseline usual;

    public UsualOperations(Baseline usual) {
        this.usual = usual;
    }

    /** Learns the usual number and duration of operations from calls that met the target. */
    public static void learn(Baseline usual, List<EndedCall> good) {
        for (Phase phase : List.of(Phase.SQL, Phase.REDIS, Phase.HTTP, Phase.RPC)) {
            long count = 0;
            long nanos = 0;
            for (EndedCall call : good) {
                CallLedger ledger = call.ledger();
                count += ledger.count(phase);
                nanos += ledger.nanos(phase, call.endedNanos());
            }
            if (count > 0) {
                usual.learn("each " + phase, (double) nanos / count);
            }
        }
        Map<String, long[]> sums = new HashMap<>();
        Map<String, Integer> calls = new HashMap<>();
        for (EndedCall call : good) {
            calls.merge(call.method(), 1, Integer::sum);
            for (Phase phase : COUNTED) {
                sums.computeIfAbsent(countKey(phase, call.method()), name -> new long[2])[0] +=
                        call.ledger().count(phase);
            }
            for (NamedTimes.Entry entry : call.ledger().named()) {
                if (isFailedInStore(entry.kind(), entry.name())) {
                    continue; // a failed statement may end earlier than usual, so its duration is not counted
                }
                long[] sum = sums.computeIfAbsent(eachKey(entry.kind(), entry.name()), name -> new long[2]);
                sum[0] += entry.nanos();
                sum[1] += entry.count();
            }
        }
        calls.forEach((method, count) -> {
            for (Phase phase : COUNTED) {
                long[] sum = sums.remove(countKey(phase, method));
                usual.learn(countKey(phase, method), sum == null ? 0 : (double) sum[0] / count);
            }
        });
        sums.forEach((name, sum) -> usual.learn(name, (double) sum[0] / Math.max(1, sum[1])));
    }

    /**
     * Keeps the times of the operations that calls run soon after the start of the process, by method. Caches are empty
     * then, so calls run operations that they do not run later.
     */
    public static void learnOfStart(Baseline usual, List<EndedCall> calls) {
        for (EndedCall call : calls) {
            for (NamedTimes.Entry entry : call.ledger().named()) {
                if (!OperationNames.isFailing(entry.name()) && entry.count() > 0) {
                    usual.learn(
                            startKey(entry.kind(), call.method(), entry.name()),
                            (double) entry.nanos() / entry.count());
                }
            }
        }
    }

    /**
     * Returns the time of an operation that calls to the method ran soon after the start of the process; -1 if the
     * calls did not run it.
     */
    public double ofStart(Phase phase, String method, String name) {
        return usual.figure(startKey(phase, method, name));
    }

    /** Returns the usual time of one operation of the given kind; -1 if unknown. */
    public double each(Phase phase) {
        return usual.figure("each " + phase);
    }

    /**
     * Returns the usual time of the operation with the given name; -1 if unknown. If the usual time of a Redis command
     * with a large reply is unknown, or has been known for only a few seconds, returns the usual time of the same
     * command with a smaller reply. The reply may have become large only a few seconds ago, and calls that read it may
     * still have met the target.
     */
    public double each(Phase phase, String name) {
        String known = isFailedInStore(phase, name) ? OperationNames.withoutStatus(name) : name;
        double usually = usual.figure(eachKey(phase, known));
        boolean mayBeNew = phase == Phase.REDIS && usual.reliableFigure(eachKey(phase, known)) < 0;
        if (mayBeNew) {
            for (String smaller : LargeReplies.smaller(known)) {
                double before = usual.figure(eachKey(phase, smaller));
                if (before >= 0) {
                    return before;
                }
            }
        }
        return usually;
    }

    /** Returns whether the usual time of the operation with exactly this name has been known for several seconds. */
    public boolean isReliable(Phase phase, String name) {
        return usual.reliableFigure(eachKey(phase, name)) >= 0;
    }

    /**
     * Returns the usual number of operations of the given kind per call to one of the given methods; -1 if unknown.
     * Ignores methods whose usual number is unknown, as long as they receive only a small share of the calls.
     *
     * @param methods the called methods, with their numbers of calls
     */
    public double count(Phase phase, Map<String, Integer> methods) {
        double sum = 0;
        int calls = 0;
        int unknown = 0;
        for (Map.Entry<String, Integer> method : methods.entrySet()) {
            double usually = usual.figure(countKey(phase, method.getKey()));
            if (usually < 0) {
                unknown += method.getValue();
            } else {
                sum += usually * method.getValue();
                calls += method.getValue();
            }
        }
        return calls == 0 || unknown > MAX_UNKNOWN * (calls + unknown) ? -1 : sum / calls;
    }

    /** Returns whether the given name is the name of a failed statement or command. */
    public static boolean isFailedInStore(Phase phase, String name) {
        return (phase == Phase.SQL || phase == Phase.REDIS) && OperationNames.isFailing(name);
    }

    private static String countKey(Phase phase, String method) {
        return "count " + phase + " " + method;
    }

    private static String startKey(Phase phase, String method, String name) {
        return "start " + phase + " " + method + " " + name;
    }

    private static String eachKey(Phase phase, String name) {
        return "each " + phase + " " + name;
    }
}
