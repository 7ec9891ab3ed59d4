package tern.rpc.diagnosis.excess;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;
import java.util.stream.DoubleStream;
import org.jspecify.annotations.Nullable;
import tern.rpc.Phase;
import tern.rpc.diagnosis.account.EndedCall;
import tern.rpc.diagnosis.account.Part;
import tern.rpc.diagnosis.account.Part.Kind;
import tern.rpc.diagnosis.account.Times;
import tern.rpc.diagnosis.calls.Baseline;
import tern.rpc.diagnosis.cause.Cause.Change;
import tern.rpc.diagnosis.failure.AnswerTimes;
import tern.rpc.diagnosis.failure.FailurePart;
import tern.rpc.diagnosis.failure.StatedLimits;

/** Finds timeouts that end calls although the calls' work takes no longer than usual. */
public final class TimeOuts {

    /**
     * The maximum usual share of operations that a timeout ends, if the timeout lies between the usual time of an
     * operation and the time of its slowest tenth. If the timeout ends a larger share, the operation has become slower.
     */
    static final double MOST = 0.6;

    /**
     * The timeout counts as too short, and the operation as unchanged, only if the timeout ends at most {@value} of the
     * operations. This share applies if the timeout is much longer than the usual time, but not longer than the slowest
     * tenth usually takes. Otherwise {@link #MOST} or {@link #FEW} applies.
     */
    private static final double SOME = 0.3;

    /**
     * The share that applies instead of {@link #SOME} if the timeout is longer than the slowest tenth of the operations
     * usually takes.
     */
    private static final double FEW = 0.15;

    /**
     * An operation counts as repeated even in normal calls if normal calls run it at least {@value} times on average.
     */
    private static final double SEVERAL = 1.5;

    /** An operation counts as part of normal calls if they run it at least {@value} times on average. */
    private static final double RUNS = 0.5;

    /**
     * A timeout of less than {@value} of the latency target is short. A short timeout cuts off the longer answers if it
     * ends many calls and other answers usually take nearly as long as the timeout. The usual time of the operation is
     * then unknown.
     */
    private static final double SHORT = 0.1;

    private static final int QUARTER = 4;

    private final Evidence evidence;
    private final ExcessTime excess;
    private final Operations operations;
    private final OperationsPerCall perCall;
    private final TimeOutText text;
    private final Map<String, Double> usualNanos = new HashMap<>(); // the usual time of a call, by method; 0 if unknown

    public TimeOuts(Evidence evidence, ExcessTime excess, Operations operations) {
        this.evidence = evidence;
        this.excess = excess;
        this.operations = operations;
        this.perCall = new OperationsPerCall(evidence, excess, operations);
        this.text = new TimeOutText(evidence, excess, operations);
    }

    /** The name of the timeout, with the recommended change and the evidence. */
    public record TooShort(String name, Change change, List<String> facts) {}

    /**
     * Returns whether the timeout of the given operation caused the failure of at least half of the late or failed
     * calls that run this operation.
     */
    public boolean failCalls(Part operation) {
        return failed(operation, call -> true).areMost();
    }

    /** Returns a line about the calls that failed because of the operation's timeout; empty if there are none. */
    public List<String> facts(Part operation) {
        TimedOutCalls failed = failed(operation, call -> true);
        String limit = failed.limit();
        return failed.calls() == 0 || operation.name().equals(FailurePart.DEADLINE)
                ? byCallers(operation)
                : List.of("timeout  " + failed.calls() + " of " + excess.accounts.size()
                        + " recorded calls failed because of its timeout" + (limit.isEmpty() ? "" : ": " + limit));
    }

    /**
     * Returns a line about the deadlines of callers, if these deadlines ended at least half of the late or failed
     * calls.
     */
    private List<String> byCallers(Part part) {
        TimedOutCalls failed = failed(new Part(Kind.TIMEOUT, FailurePart.DEADLINE), call -> true);
        boolean areMost = 2 * failed.calls() >= Math.max(1, excess.accounts.size());
        return !areMost || part.name().equals(FailurePart.DEADLINE) ? List.of() : List.of(text.deadlines(failed));
    }

    /**
     * Returns the time limits of an operation whose timeout ends calls, and where these limits are set; empty if they
     * are unknown.
     */
    public String limitOf(Part operation) {
        TimedOutCalls failed = failed(operation, call -> true);
        String limit = failed.limit();
        Phase phase = Operations.phase(operation.kind());
        return phase == null || !limit.isEmpty()
                ? limit
                : text.ofProperty(phase, timeoutNanos(operation, phase, failed, 0, 1));
    }

    /**
     * Returns the timeout of the given operation if it is too short. Returns null if no timeout ended the operation, or
     * if the operation was slower than usual when its timeout ended it.
     */
    @Nullable
    public TooShort of(Part part) {
        if (part.kind() == Kind.POOL) {
            return PoolTimeOuts.of(evidence, excess, part);
        }
        TimedOutCalls failed = failed(part, call -> isNoReason(call, part));
        if (!failed.areMost()) {
            return null;
        }
        Phase phase = Operations.phase(part.kind());
        return phase == null
                ? part.name().equals(FailurePart.DEADLINE) ? text.ofCallers(failed) : text.ofCode(part, failed)
                : ofOperation(part, phase, failed);
    }

    /**
     * Returns false if the duration of the given operation may be the reason why the call failed. It is not the reason
     * if the call took no longer than usual, or if no single attempt to run the operation took longer than usual. A call
     * may retry the operation after timeouts, or be late for another reason.
     */
    private boolean isNoReason(EndedCall call, Part part) {
        if (call.tookNanos()
                <= Math.max((double) excess.targetNanos(), Baseline.AS_USUAL * usualNanos(call.method()))) {
            return true;
        }
        Phase phase = Operations.phase(part.kind());
        if (phase == null) {
            return false;
        }
        double longest = Baseline.AS_USUAL * operations.usualNamed(phase, part.name());
        double stated = StatedLimits.nanos(call);
        Operations.Sum attempts = RepeatedOperations.attempts(call, phase, part.name());
        return (stated > 0 && stated <= longest) || (attempts.count() >= 1 && attempts.eachNanos() <= longest);
    }

    /** Returns the usual time of calls to the given method; 0 if unknown. */
    private double usualNanos(String method) {
        return usualNanos.computeIfAbsent(method, name -> {
            Times usual = excess.usualOf(name);
            return usual == null ? 0 : usual.sum();
        });
    }

    private @Nullable TooShort ofOperation(Part part, Phase phase, TimedOutCalls failed) {
        double usually = part.name().isEmpty() ? -1 : operations.usualNamed(phase, part.name());
        double usualCount = usually <= 0 ? 1 : Math.max(1, usualCount(part, usually, failed));
        double timeout = timeoutNanos(part, phase, failed, Math.max(0, usually), usualCount);
        AnswerTimes answers = answers(part, phase, usually < 0 ? evidence.earlierGood() : excess.goodDuringMiss());
        String limit = failed.limit();
        if (usually < 0) {
            boolean isCut = !part.name().isEmpty() && answers.reach(timeout);
            boolean isNever = phase == Phase.RPC && !part.name().isEmpty() && !limit.isEmpty();
            return isCut
                    ? ofAnswers(part, phase, failed, timeout, answers)
                    : isNever ? text.neverAnswered(part, limit) : null;
        }
        if (isSlower(part, phase, timeout, usually, usualCount, answers)) {
            AnswerTimes earlier =
                    timeout <= SHORT * evidence.targetNanos() ? answers(part, phase, evidence.earlierGood()) : answers;
            boolean isCut = timeout <= SHORT * evidence.targetNanos() && earlier.reach(timeout);
            return isCut ? ofAnswers(part, phase, failed, timeout, earlier) : null;
        }
        double slow = slowEach(part, usualCount);
        String slowest = timeout > usually && slow > usually
                ? ", and " + Times.millis(slow) + " ms in the slowest tenth of the calls"
                : "";
        String times = "usually takes " + Times.millis(usually) + " ms" + slowest;
        return text.tooShort(part, phase, failed, timeout, times, answers);
    }

    /** Returns the time of the operation in the slowest tenth of the normal calls; not positive if unknown. */
    private double slowEach(Part part, double usualCount) {
        return excess.slowUsual(Operations.only(part)) / usualCount;
    }

    /**
     * Returns the times of the operation in the calls that were not ended by its timeout.
     *
     * @param good some of the calls that met the target. If the usual times are unknown, the timeout is most likely as
     *     old as the application, so earlier calls count as well
     */
    private AnswerTimes answers(Part part, Phase phase, List<EndedCall> good) {
        List<EndedCall> late = excess.accounts.stream()
                .map(ExcessTime.Counted::call)
                .filter(call -> !isEndedBy(part, call))
                .toList();
        return AnswerTimes.of(late, good, phase, part.name());
    }

    /**
     * Returns a timeout that is too short for an operation. The usual time of the operation is unknown, because the
     * timeout has ended many calls since the application started.
     */
    private TooShort ofAnswers(Part part, Phase phase, TimedOutCalls failed, double timeout, AnswerTimes answers) {
        String times = "takes " + answers.text() + " when it ends in time";
        return text.tooShort(part, phase, failed, timeout, times, answers);
    }

    /**
     * Returns whether the operation takes longer than usual. There are three cases: the timeout is longer than the
     * usual times, operations that the timeout does not end are slower, or the timeout ends more operations than
     * expected from their usual times.
     *
     * @param usually the usual time of one operation
     * @param usualCount the usual number of operations with the same name per call
     */
    private boolean isSlower(
            Part part, Phase phase, double timeout, double usually, double usualCount, AnswerTimes answers) {
        double slow = slowEach(part, usualCount);
        boolean isMuchLonger = timeout > Baseline.AS_USUAL * usually;
        // In slow calls, the times of repeated attempts add up, although no single attempt takes a long time.
        boolean isWithinSlow = timeout <= slow && !areAttempts(part);
        boolean isLong = (isMuchLonger && !isWithinSlow)
                || (slow > 0
                        && timeout > Baseline.SLOWER_THAN_USUAL * usually
                        && timeout > Baseline.SLOWER_THAN_USUAL * slow);
        if (isLong || (answers.areEnough() && answers.meanNanos() > Baseline.AS_USUAL * usually)) {
            return true;
        }
        return perCall.share(phase, part.name(), call -> isEndedBy(part, call))
                > expected(timeout, usually, slow, isMuchLonger);
    }

    /**
     * Returns the largest share of operations that the timeout is expected to end if the operations take their usual
     * times. The measured time of a timeout also includes the time until the thread runs again. A timeout that seems a
     * little longer than the slowest tenth may therefore actually be shorter.
     */
    private static double expected(double timeout, double usually, double slow, boolean isMuchLonger) {
        if (timeout <= usually) {
            return 1;
        }
        if (slow > 0 && timeout > Baseline.SLOWER_THAN_USUAL * slow) {
            return FEW;
        }
        return isMuchLonger ? SOME : MOST;
    }

    private boolean isEndedBy(Part part, EndedCall call) {
        Part ended = excess.timedOutPart(call);
        return ended != null && Operations.only(part).test(ended);
    }

    /** Returns the usual number of operations with the given name per call. */
    private double usualCount(Part part, double usually, TimedOutCalls failed) {
        double nanos = failed.ended().stream()
                .map(call -> excess.usualOf(call.method()))
                .mapToDouble(usual -> usual == null ? 0 : usual.sum(Operations.only(part)))
                .average()
                .orElse(0);
        return nanos / usually;
    }

    /**
     * Returns whether the given operation has become more frequent only because calls repeat it after timeouts. The
     * operation must also occur in normal calls. In addition, most of the late or failed calls that run it must have
     * failed because of its timeout, and at least half of these failed calls must have repeated it.
     */
    public boolean areAttempts(Part part) {
        Phase phase = Operations.phase(part.kind());
        TimedOutCalls failed = failed(part, call -> true);
        double usually = phase == null || part.name().isEmpty() ? -1 : operations.usualNamed(phase, part.name());
        if (phase == null || usually <= 0 || !failed.areMost() || usualCount(part, usually, failed) < RUNS) {
            return false;
        }
        long repeated = failed.ended().stream()
                .filter(call ->
                        RepeatedOperations.attempts(call, phase, part.name()).count() > 1)
                .count();
        return 2 * repeated >= failed.calls();
    }

    /**
     * Returns the time after which the timeout ends the operation: the limit in the exceptions or, if they do not state
     * it, the measured time. On a busy machine, threads continue late after a timeout, so the shorter measured times are
     * more exact.
     */
    private static double timeoutNanos(
            Part part, Phase phase, TimedOutCalls failed, double usually, double usualCount) {
        double stated = quartile(failed.ended().stream().mapToDouble(StatedLimits::nanos));
        return stated > 0
                ? stated
                : quartile(failed.ended().stream()
                        .map(call -> RepeatedOperations.attempts(call, phase, part.name()))
                        .filter(attempts -> attempts.count() > 0)
                        // If calls usually run several such operations, the timeout ended only the last operation of
                        // the call.
                        .mapToDouble(attempts -> usualCount >= SEVERAL
                                ? Math.max(
                                        attempts.eachNanos(),
                                        attempts.count() * attempts.eachNanos() - (attempts.count() - 1) * usually)
                                : attempts.eachNanos()));
    }

    /** Returns the value that a quarter of the given values do not exceed; 0 if there are no values. */
    private static double quartile(DoubleStream values) {
        double[] sorted = values.sorted().toArray();
        return sorted.length == 0 ? 0 : sorted[(sorted.length - 1) / QUARTER];
    }

    private TimedOutCalls failed(Part part, Predicate<EndedCall> counts) {
        Predicate<Part> matching = Operations.only(part);
        List<EndedCall> calls = new ArrayList<>();
        int of = 0;
        double nanos = 0;
        double usually = 0;
        for (ExcessTime.Counted counted : excess.accounts) {
            EndedCall call = counted.call();
            Part ended = excess.timedOutPart(call);
            boolean matches = ended != null && matching.test(ended);
            if (matches && counts.test(call)) {
                calls.add(call);
                nanos += call.tookNanos();
                usually += usualNanos(call.method());
            }
            of += matches || counted.times().sum(matching) > 0 ? 1 : 0;
        }
        int all = Math.max(1, calls.size());
        return new TimedOutCalls(calls, of, nanos / all, usually / all);
    }
}
