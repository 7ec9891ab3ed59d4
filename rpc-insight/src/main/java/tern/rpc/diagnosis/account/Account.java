package tern.rpc.diagnosis.account;

import java.util.List;
import java.util.function.Predicate;
import tern.rpc.CallLedger;
import tern.rpc.NamedTimes;
import tern.rpc.Phase;
import tern.rpc.RunningCall;
import tern.rpc.diagnosis.account.Part.Kind;

/**
 * Breaks the time of one call down into parts (activities and waits) that add up to the total. The times of the phases
 * in the call's ledger and of named operations are measured exactly. The remaining time, called the call's own time, is
 * divided in proportion to samples of the call's thread.
 */
public final class Account {

    /**
     * The time of a call outside of the operations and waits in its ledger, as long as it has not been divided into
     * activities.
     */
    public static final Part OWN = Part.of(Kind.UNEXPLAINED);

    private static final int MIN_SAMPLES = 3;

    private Account() {}

    /**
     * Divides a call's time into its parts.
     *
     * @param own the samples of this call
     * @param others the samples of all calls to the same method, used if fewer than 3 samples show this call outside of
     *     the operations in its ledger
     * @param pauses the pauses of the process
     */
    public static Times of(EndedCall call, Shares own, Shares others, PauseTimes pauses) {
        Times times = byPhase(call);
        double sum = times.sum();
        if (sum > call.tookNanos() && sum > 0) {
            // The sum of the phases exceeds the time of the call if the call ran operations in parallel.
            times.scale(call.tookNanos() / sum);
        } else {
            times.add(OWN, call.tookNanos() - sum);
        }
        moveOutOfOperations(times, others);
        takePausesOut(call, times, pauses);
        divideOwn(times, own.ownLooks() >= MIN_SAMPLES || others.own().isEmpty() ? own : others);
        return times;
    }

    /** Divides a call's time into its parts, using only its ledger and no samples. */
    public static Times of(EndedCall call, PauseTimes pauses) {
        Shares unknown = new Shares();
        return of(call, unknown, unknown, pauses);
    }

    private static Times byPhase(EndedCall call) {
        CallLedger ledger = call.ledger();
        List<NamedTimes.Entry> named = ledger.named();
        Times times = new Times();
        for (Phase phase : Phase.values()) {
            double spent = ledger.nanos(phase, call.endedNanos());
            for (NamedTimes.Entry entry : named) {
                if (entry.kind() == phase) {
                    double part = Math.min(spent, (double) entry.nanos());
                    times.add(part(phase, entry.name()), part);
                    spent -= part;
                }
            }
            String running = ledger.isEnded() ? null : ledger.running(phase);
            times.add(part(phase, running == null ? "" : running), spent);
        }
        if (call.isRunning() && ledger.isEnded()) {
            addOperationAfterEnd(call, times);
        }
        return times;
    }

    /**
     * Adds the operation that the thread of a call still runs although the call has ended, for example at its deadline.
     * The ledger contains the operation's time only until the end of the call.
     */
    private static void addOperationAfterEnd(EndedCall call, Times times) {
        RunningCall now = call.ledger().look(call.method(), call.tookNanos(), call.endedNanos());
        if (now.phase().isOperation()) {
            String name = call.ledger().running(now.phase());
            double after = Math.max(0, call.tookNanos() - times.sum());
            times.add(part(now.phase(), name == null ? "" : name), Math.min(after, (double) now.phaseNanos()));
        }
    }

    public static Part part(Phase phase, String name) {
        return switch (phase) {
            case QUEUE -> Part.of(Kind.QUEUE);
            case DECODE -> Part.of(Kind.DECODE);
            case OWN -> OWN;
            case JDBC_CONNECTION -> new Part(Kind.POOL, name.isEmpty() ? "jdbc" : name);
            case REDIS_CONNECTION -> new Part(Kind.POOL, name.isEmpty() ? "jedis" : name);
            case HTTP_CONNECTION -> new Part(Kind.POOL, name.isEmpty() ? "http" : name);
            case SQL -> new Part(Kind.SQL, name);
            case REDIS -> new Part(Kind.REDIS, name);
            case HTTP -> new Part(Kind.HTTP, name);
            case RPC -> new Part(Kind.RPC, name);
            case EXECUTOR -> new Part(Kind.POOL, name.isEmpty() ? "executor" : name);
            case CALLER_RUNS -> Part.of(Kind.CALLER_RUNS);
            case LOGGING -> Part.of(Kind.LOG);
            case UNATTRIBUTED -> Part.of(Kind.ELSEWHERE);
        };
    }

    /**
     * Subtracts the pauses during the call from all activities and waits, in proportion to their times. Adds each kind
     * of pause to the breakdown as a separate activity.
     */
    private static void takePausesOut(EndedCall call, Times times, PauseTimes pauses) {
        Times stood = pauses.between(call.startedNanos(), call.endedNanos());
        double paused = Math.min(stood.sum(), (double) call.tookNanos());
        if (paused <= 0 || times.sum() <= 0) {
            return;
        }
        times.scale(1 - paused / call.tookNanos());
        times.addAll(stood, paused / stood.sum());
    }

    /**
     * Subtracts three kinds of time from the operations during which they occurred, and adds them to the breakdown as
     * separate activities and waits: host name lookups, waits for a processor, and work of this process.
     */
    private static void moveOutOfOperations(Times times, Shares shares) {
        for (Phase phase : Phase.values()) {
            Times moved = phase.isOperation() ? shares.movedFrom(phase) : new Times();
            double share = Math.min(1, moved.sum());
            if (share <= 0) {
                continue;
            }
            Predicate<Part> spent = part -> isOf(phase, part);
            double all = times.sum(spent);
            times.scale(spent, 1 - share);
            times.addAll(moved, all * share / moved.sum());
        }
    }

    private static boolean isOf(Phase phase, Part part) {
        if (part.kind() != part(phase, "").kind()) {
            return false;
        }
        return switch (phase) {
            case HTTP_CONNECTION -> part.name().startsWith("http");
            case REDIS_CONNECTION -> part.name().startsWith("jedis");
            case JDBC_CONNECTION ->
                !part.name().startsWith("http") && !part.name().startsWith("jedis");
            default -> true;
        };
    }

    private static void divideOwn(Times times, Shares shares) {
        Times own = shares.own();
        if (own.sum() > 0) {
            times.addAll(own, times.remove(OWN) / own.sum());
        }
    }
}
