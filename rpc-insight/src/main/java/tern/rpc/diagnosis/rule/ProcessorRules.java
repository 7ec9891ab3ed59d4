package tern.rpc.diagnosis.rule;

import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import tern.rpc.Phase;
import tern.rpc.diagnosis.account.OperationNames;
import tern.rpc.diagnosis.account.Part;
import tern.rpc.diagnosis.account.Part.Kind;
import tern.rpc.diagnosis.account.Times;
import tern.rpc.diagnosis.calls.Baseline;
import tern.rpc.diagnosis.excess.ExcessTime;
import tern.rpc.diagnosis.excess.OperationCounts;
import tern.rpc.diagnosis.excess.Operations;
import tern.rpc.diagnosis.excess.OutstandingOperation;
import tern.rpc.diagnosis.excess.TimesByCause;
import tern.rpc.diagnosis.machine.Machine;
import tern.rpc.diagnosis.pool.ObservedPool;
import tern.rpc.diagnosis.pool.PoolVerdict;
import tern.rpc.diagnosis.stack.StackReader;
import tern.rpc.pool.PoolKind;
import tern.rpc.pool.PoolSnapshot;

/**
 * If the processors are saturated or throttled, attributes the time above the calls' usual time to the processors, or
 * to the code that uses the processors.
 */
final class ProcessorRules extends Rule {

    /** Activities and waits of less than {@value} of the time above the calls' usual time are ignored. */
    private static final double NOTABLE = 0.1;

    private static final double HALF = 0.5;

    /**
     * If a CPU quota stops the process in more than {@value} of the quota's periods, the throttling is assumed to delay
     * answers as well.
     */
    private static final double MOSTLY_THROTTLED = 0.25;

    /** A kind of work counts as slower if it takes at least {@value} of the time above the calls' usual time. */
    private static final double SMALL = 0.05;

    /**
     * An operation that takes more than {@value} of the time above the calls' usual time is a separate cause, even if
     * all other work takes longer, too.
     */
    private static final double NOT_ALONE = 0.75;

    private static final Set<Kind> OWN =
            EnumSet.of(Kind.RUN_QUEUE, Kind.COMPUTING, Kind.UNEXPLAINED, Kind.QUEUE, Kind.OUTSIDE);

    /**
     * Pauses of the whole process are not attributed to busy processors if they take at least {@value} ns, and at least
     * half of a call's time. The second condition is needed because a long call may contain many short pauses.
     */
    private static final double LONG_PAUSE_NANOS = 5e8;

    /**
     * If work other than calls saturates the processors, {@value} slower operations are enough to make the processors
     * the cause.
     */
    private static final int SEVERAL = 3;

    /**
     * Busy processors delay an operation only by milliseconds. They do not explain an operation that takes at least
     * {@value} times their maximum delay, even if no other operation is slower.
     */
    private static final double FAR_LONGER = 5;

    /**
     * Code that uses processor time counts as the cause of the waits for a processor only if it takes at least {@value}
     * of the latency target in each call that runs it.
     */
    private static final double MUCH_OF_TARGET = 0.25;

    /** Code computes much longer than usual if it takes at least {@value} times the usual own time of its calls. */
    private static final double MUCH_LONGER = 3;

    /** A call hangs if it takes more than {@value} times the latency target. */
    private static final double HANGING = 10;

    private final OperationCounts counts;
    private final OutstandingOperation outstanding;

    ProcessorRules(Rule other, OperationCounts counts) {
        super(other);
        this.counts = counts;
        this.outstanding = new OutstandingOperation(evidence, operations);
    }

    /**
     * Attributes a part of the unexplained time, and of the time for reading requests, to the wait for a processor, if
     * work other than calls takes the processors. Samples do not show how these times are divided. The unexplained time
     * of a call that hangs is not counted, because a wait for a processor ends soon. If the process is being throttled,
     * the wait is then attributed to the container's CPU quota.
     */
    void passOnRunQueue() {
        Part part = Part.of(Kind.RUN_QUEUE);
        for (Part unknown : List.of(Part.of(Kind.UNEXPLAINED), Part.of(Kind.DECODE))) {
            double share = evidence.machine().waitingShare();
            double perRun = evidence.machine().delay().perRun();
            // A thread that reads a request runs only for a short time after each wait.
            double waits = (share > 0 && unknown.kind() == Kind.DECODE ? perRun / (1 + perRun) : share)
                    * shareWithoutHanging(unknown);
            Times divided = new Times();
            divided.add(part, waits);
            divided.add(unknown, 1 - waits);
            if (waits > 0) {
                byCause.divide(unknown, divided);
            }
        }
        if (byCause.of(part) > 0 && evidence.machine().throttled() > Machine.THROTTLED) {
            byCause.move(part, Part.of(Kind.THROTTLED));
        }
    }

    /**
     * Returns which share of the time of the given activity or wait passed before calls began to hang. A call hangs
     * after {@link #HANGING} times the latency target.
     */
    private double shareWithoutHanging(Part part) {
        double limit = HANGING * evidence.targetNanos();
        double all = 0;
        double limited = 0;
        for (ExcessTime.Counted counted : excess.accounts) {
            double nanos = counted.times().of(part);
            all += nanos;
            limited += Math.min(nanos, limit);
        }
        return all > 0 ? limited / all : 1;
    }

    /**
     * Attributes the wait for a processor in calls that compute much longer than usual to the code that they run. Such
     * a call waits more often only because it computes. This applies if each wait is about as long as usual, or if the
     * calls would be late even if they did not wait. The counters of a thread lag behind, so time in which the code
     * seems to use no processor time belongs to the code, too.
     */
    void passOnToLongCode() {
        Machine machine = evidence.machine();
        Part waits = Part.of(Kind.RUN_QUEUE);
        Part code = byCause.longestFirst().stream()
                .filter(part -> part.kind() == Kind.COMPUTING)
                .findFirst()
                .orElse(null);
        if (code == null
                || !machine.isFull()
                || machine.isStolen()
                || new Pressure(machine, evidence.usual()).isOfMemory()
                || !isLong(code)) {
            return;
        }
        double inCode = 0;
        double all = 0;
        for (ExcessTime.Counted counted : excess.accounts) {
            double nanos = counted.times().of(waits);
            all += nanos;
            inCode += counted.times().of(code) > 0 ? nanos : 0;
        }
        Times divided = new Times();
        divided.add(code, inCode);
        divided.add(waits, all - inCode);
        byCause.pour(waits, divided, TimesByCause.WAIT_FOR + "a processor");
        byCause.move(new Part(Kind.NATIVE, code.name()), code);
    }

    /** Returns whether the given code makes calls late even if a processor is free. */
    private boolean isLong(Part code) {
        Times calls = excess.accountOfCallsWith(code);
        double usualNanos = 0;
        int count = 0;
        for (ExcessTime.Counted counted : excess.accounts) {
            if (counted.times().of(code) > 0) {
                Times usual = excess.usualOf(counted.call().method());
                usualNanos += usual == null ? 0 : usual.sum(Baseline::isOwn);
                count++;
            }
        }
        double computing = calls.of(code);
        double withoutWaits = calls.sum(part -> part.kind() != Kind.RUN_QUEUE && part.kind() != Kind.OUTSIDE);
        return excess.samples.isMeasured(code)
                && computing >= MUCH_OF_TARGET * evidence.targetNanos()
                && computing >= MUCH_LONGER * usualNanos / Math.max(1, count)
                && (evidence.machine().delay().isAsUsual() || withoutWaits > evidence.targetNanos());
    }

    /**
     * If other processes saturate the processors, attributes two kinds of time to the processors: short pauses of the
     * whole process, and short waits for connections that a pool opens or checks too slowly. A longer wait has a
     * different reason, such as a database that does not answer. The measured pauses do not contain waits for a
     * processor. Busy processors therefore do not explain a long pause: something else, such as a signal, stops the
     * process.
     */
    void passOnToOtherProcesses() {
        Part processors = Part.of(Kind.RUN_QUEUE);
        Part pauses = Part.of(Kind.OUTSIDE);
        boolean isStopped = excess.accounts.stream()
                .map(counted -> counted.times())
                .anyMatch(call -> call.of(pauses) >= Math.max(LONG_PAUSE_NANOS, call.sum() / 2));
        double waits = byCause.of(processors) + (isStopped ? 0 : byCause.of(pauses));
        if (!evidence.machine().isFullOfOthers() || waits < NOTABLE * byCause.sum()) {
            return;
        }
        if (!isStopped) {
            byCause.move(pauses, processors);
        }
        for (Part part : byCause.longestFirst()) {
            PoolVerdict pool = part.kind() == Kind.POOL ? PoolVerdict.find(pools, part) : null;
            boolean isSlow = pool != null
                    && (pool.reason() == PoolVerdict.Reason.OPENING || pool.reason() == PoolVerdict.Reason.CHECKING);
            if (isSlow && byCause.of(part) <= evidence.maxDelayNanos()) {
                byCause.move(part, processors);
            }
        }
    }

    /**
     * Attributes the slowdown of operations to the processors, if the processors are saturated and operations of
     * several kinds are slower. While the processors are saturated, the calls' threads, the event loops and possibly
     * the servers on this machine wait for processors. If work other than calls saturates the processors, three slower
     * operations of one kind are enough, because their server may run on this machine. Two kinds of causes remain
     * separate: an activity or wait that causes most of the delay of late calls, and code whose processor time exceeds
     * the time of the slower operations. An operation that was delayed far more than all others is always separate, and
     * its time does not count for these comparisons. There are two exceptions. All operations of a kind together are
     * not a separate cause if work other than calls saturates the processors and operations of another kind are slower,
     * too. A single operation is not a separate cause if threads of this process that serve no call take the processors
     * and calls measurably wait for a processor. If threads that serve calls wait for a processor as briefly as usual,
     * the processors are not the cause. Low-priority processes, for example, saturate the processors without delaying
     * calls. If the processors are usually about as busy as they are now, calls must also wait for a processor
     * measurably.
     */
    void passOnToProcessors() {
        Machine machine = evidence.machine();
        Part processors = machine.throttled() > Machine.THROTTLED ? Part.of(Kind.THROTTLED) : Part.of(Kind.RUN_QUEUE);
        double all = allButOutstanding();
        Times waiting = byCause.only(part -> mayWait(part) || (part.kind() == Kind.UNEXPLAINED && !isFarLonger(part)));
        long kinds = Stream.of(Kind.SQL, Kind.REDIS, Kind.HTTP, Kind.RPC)
                .filter(kind -> waiting.sum(kind) > NOTABLE * all || areAllStarved(kind, waiting))
                .count();
        boolean isEverythingSlower = isEverythingSlower(waiting);
        boolean isOneSlow = byCause.longestFirst().stream()
                .filter(part -> !part.equals(processors) && !isFarLonger(part))
                .anyMatch(part -> isSlowForItsOwnReason(part, kinds, isEverythingSlower)
                        || (part.kind() == Kind.COMPUTING && byCause.of(part) > waiting.sum()));
        long operations = waiting.longestFirst().stream()
                .filter(part -> part.kind() != Kind.UNEXPLAINED && byCause.of(part) > NOTABLE * all)
                .count();
        boolean many = kinds >= 2
                || isMostlyThrottled()
                || isEverythingSlower
                || waiting.longestFirst().stream().anyMatch(this::isOfAllServers)
                || (isFullOfOtherWork() && operations >= SEVERAL)
                || (kinds == 1
                        && byCause.of(processors) >= NOTABLE * all
                        && (machine.isDelayedByOtherThreads() || machine.throttled() > MOSTLY_THROTTLED));
        boolean waits = byCause.of(processors) >= NOTABLE * all;
        boolean isFull = machine.isFull() && !machine.delay().isAsUsual() && (!machine.isUsuallyAsBusy() || waits);
        if (isOneSlow || !many || !(isFull || machine.throttled() > Machine.THROTTLED)) {
            return;
        }
        for (Part part : waiting.longestFirst()) {
            byCause.move(part, processors);
        }
    }

    /**
     * Returns the time above the calls' usual time, without the activities and waits that busy processors cannot
     * explain.
     */
    private double allButOutstanding() {
        return byCause.only(part -> !isFarLonger(part)).sum();
    }

    /**
     * Returns whether the given operation, or the given unexplained work, takes too long to be explained by busy
     * processors.
     */
    private boolean isFarLonger(Part part) {
        Phase phase = Operations.phase(part.kind());
        double nanos = phase == null
                ? byCause.of(part)
                : operations.sum(phase, part.name()).eachNanos();
        boolean isDelay = phase != null || part.kind() == Kind.UNEXPLAINED;
        return outstanding.is(part) || isOutstandingInTasks(part) || (isDelay && nanos >= maxDelayNanos());
    }

    /**
     * Returns whether an operation that tasks run for calls became much slower than all operations that the calls run
     * themselves. The ledgers of the calls contain only the wait for such tasks.
     */
    private boolean isOutstandingInTasks(Part part) {
        if (!part.name().startsWith(StackReader.CALLED) || Operations.phase(part.kind()) == null) {
            return false;
        }
        return outstanding.exceedsAll(new OutsideWork(evidence)
                .slowerIn(part).stream()
                        .mapToDouble(operation -> operation.now().nanos() - operation.usualNanos())
                        .max()
                        .orElse(byCause.of(part)));
    }

    private double maxDelayNanos() {
        return FAR_LONGER * evidence.maxDelayNanos();
    }

    /**
     * Returns whether saturated processors may explain why the given activity takes longer than usual. Busy processors
     * make operations slower. They do not explain why calls run different operations, run operations more often, or
     * wait much longer for one operation than for all others.
     */
    private boolean mayWait(Part part) {
        return Operations.phase(part.kind()) != null
                && !excess.isMostlyFailure(part)
                && !counts.areUnusual(part)
                && !counts.areMore(part)
                && !isFarLonger(part);
    }

    /**
     * Returns true if the given activity or wait causes most of the delay of late calls, and saturated processors do
     * not explain why it takes longer than everything else.
     *
     * @param kinds the number of kinds of operations that have become slower
     */
    private boolean isSlowForItsOwnReason(Part part, long kinds, boolean isEverythingSlower) {
        double all = allButOutstanding();
        boolean isExplained = (kinds >= 2 && isAll(part) && isFullOfOtherWork())
                || (isMostlyThrottled() && Operations.phase(part.kind()) != null)
                || isDelayedByOtherThreads(part)
                || (isEverythingSlower && byCause.of(part) <= NOT_ALONE * all)
                || isOfAllServers(part);
        return byCause.of(part) > HALF * all && !isExplained;
    }

    /**
     * Returns whether a CPU quota stops the process most of the time. The process then sends requests and receives
     * answers late, so each operation seems to be slow.
     */
    private boolean isMostlyThrottled() {
        Machine machine = evidence.machine();
        return machine.throttled() >= HALF && !machine.delay().isAsUsual();
    }

    /**
     * Returns whether the processors are busier than usual and saturated, mostly by other processes or by threads of
     * this process that serve no calls.
     */
    private boolean isFullOfOtherWork() {
        Machine machine = evidence.machine();
        return machine.isFullOfOthers()
                || (machine.isFull() && !machine.isUsuallyAsBusy() && machine.isBusyWithOtherThreads());
    }

    /**
     * Returns true if all operations of a kind became slower on all of their servers and the threads that serve calls
     * wait much longer for a processor than usual. These threads then receive all answers late.
     */
    private boolean isOfAllServers(Part part) {
        return isAll(part)
                && part.name().isEmpty()
                && evidence.machine().isFull()
                && evidence.machine().delay().isLonger();
    }

    /**
     * Returns true if at least three kinds of work take longer, for example the calls' own work, statements and
     * exchanges. In addition, the threads that serve calls must wait much longer for a processor than usual.
     */
    private boolean isEverythingSlower(Times waiting) {
        double all = allButOutstanding();
        long operations = Stream.of(Kind.SQL, Kind.REDIS, Kind.HTTP, Kind.RPC)
                .filter(kind -> waiting.sum(kind) >= SMALL * all)
                .count();
        double own = byCause.only(part -> OWN.contains(part.kind())).sum();
        return evidence.machine().isFull()
                && evidence.machine().delay().isLonger()
                && operations + (own >= SMALL * all ? 1 : 0) >= SEVERAL;
    }

    /**
     * Returns whether the given operation causes most of the delay of late calls because threads of this process that
     * serve no call take the processors. The threads that serve calls then also wait measurably for a processor.
     */
    private boolean isDelayedByOtherThreads(Part part) {
        return Operations.phase(part.kind()) != null
                && byCause.of(Part.of(Kind.RUN_QUEUE)) >= NOTABLE * allButOutstanding()
                && evidence.machine().isDelayedByOtherThreads();
    }

    /** Returns whether the cause consists of all operations of a kind, or of all operations on a store or peer. */
    private static boolean isAll(Part part) {
        return Operations.phase(part.kind()) != null
                && (part.name().isEmpty() || OperationNames.storeOfAll(part) != null);
    }

    /**
     * Returns whether all operations of the given kind have become slower while work other than calls saturates the
     * processors. Short operations then take only a small part of the time above the calls' usual time.
     */
    private boolean areAllStarved(Kind kind, Times waiting) {
        return isFullOfOtherWork()
                && waiting.sum(kind) > 0
                && !operations.allSlower(kind).isEmpty();
    }

    /**
     * Attributes the wait for an executor to the processors, if these are saturated and the executor's tasks need less
     * than half of its threads. The tasks and the threads that submit them then wait for a processor.
     */
    void passOnExecutors() {
        Part processors = Part.of(Kind.RUN_QUEUE);
        if (!evidence.machine().isFull() || byCause.of(processors) < NOTABLE * byCause.sum()) {
            return;
        }
        Times one = new Times();
        one.add(processors, 1);
        for (Part part : byCause.longestFirst()) {
            PoolVerdict pool = part.kind() == Kind.POOL ? PoolVerdict.find(pools, part) : null;
            if (pool != null && needsFewThreads(pool.pool())) {
                byCause.pour(part, one, TimesByCause.WAIT_FOR + pool.resource());
            }
        }
    }

    private boolean needsFewThreads(ObservedPool pool) {
        PoolSnapshot now = pool.now();
        double needed = pool.since().taken() / evidence.seconds() * pool.holdNanos() / 1e9;
        return now.kind() == PoolKind.EXECUTOR
                && pool.holdNanos() >= 0
                && needed < HALF * now.effectiveMax()
                && now.waiting() <= now.effectiveMax();
    }

    /**
     * Attributes the wait for a processor to the code that uses processor time in calls. This process, and not the
     * other processes, must be responsible for the busier processors. In addition, one of three conditions must be met.
     * First, one method uses most of the process's time. Second, the code exceeds its usual time by at least the length
     * of the wait. Third, virtual threads wait for the carrier threads, and one method uses most of the processor time
     * of calls. In the second and third case, the collector and threads without calls must not use most of the
     * process's time. The wait may also be longer than the slowdown of the code, because calls that compute wait for
     * each other.
     */
    void passOnToOwnCode() {
        Machine machine = evidence.machine();
        Part waits = Part.of(Kind.RUN_QUEUE);
        Times code = byCause.only(part -> part.kind() == Kind.COMPUTING);
        if (!machine.isBusierItself() || machine.isStolen()) {
            return;
        }
        if (code.longestFirst().stream().anyMatch(part -> machine.isMostlyIn(part.name()))
                || ((code.sum() >= byCause.of(waits) || areCarriersBusyWith(code))
                        && !machine.isBusyWithCollector()
                        && !machine.isBusyWithOtherThreads())) {
            byCause.pour(waits, code, TimesByCause.WAIT_FOR + "a processor");
        }
    }

    /**
     * Returns whether virtual threads wait for a carrier thread, and one method uses most of the processor time of
     * calls.
     */
    private boolean areCarriersBusyWith(Times code) {
        Part main = code.isEmpty() ? null : code.longestFirst().get(0);
        double waits = excess.times.of(Part.of(Kind.CARRIER));
        return main != null
                && waits >= NOTABLE * excess.times.sum()
                && code.of(main) >= HALF * code.sum()
                && excess.accountOfCallsWith(main).of(main) >= MUCH_OF_TARGET * evidence.targetNanos();
    }
}
