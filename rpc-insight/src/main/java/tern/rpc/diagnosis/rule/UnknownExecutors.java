package tern.rpc.diagnosis.rule;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;
import tern.rpc.Phase;
import tern.rpc.diagnosis.account.Part;
import tern.rpc.diagnosis.account.Part.Kind;
import tern.rpc.diagnosis.account.Symptom;
import tern.rpc.diagnosis.account.Times;
import tern.rpc.diagnosis.calls.Baseline;
import tern.rpc.diagnosis.cause.Cause.Change;
import tern.rpc.diagnosis.cause.Cause.Where;
import tern.rpc.diagnosis.cause.QueueModel;
import tern.rpc.diagnosis.excess.Evidence;
import tern.rpc.diagnosis.excess.ExcessTime;
import tern.rpc.diagnosis.sample.TaskSamples;

/**
 * Recognizes executors that have too few threads, although Tern does not know their state. Tern takes no snapshots of
 * some executors, such as executors in static fields. The number of their threads is known from samples. The time that
 * a thread works for a call is computed from the number of busy threads and the number of results per second: if a task
 * takes time t, n busy threads complete n / t tasks per second. The operations of the tasks show whether tasks have
 * become slower. If no usual times of the operations are known, the time that calls usually spend outside of operations
 * is used instead: a call that finds an idle thread waits only for as long as its task takes.
 */
public final class UnknownExecutors {

    /** The prefix of the names of waits for an executor's threads, for executors whose state Tern does not measure. */
    private static final String THREADS = "threads ";

    /** Tasks are assumed to wait for a thread if calls wait at least {@value} times as long as a task takes. */
    private static final double QUEUED = 2;

    /** An executor can count as too small only if a task takes at most {@value} of the latency target. */
    private static final double SHORT = 0.8;

    /**
     * The number of calls counts as higher than usual if the rate of calls is at least {@value} times the usual rate.
     */
    private static final double MORE = 1.2;

    /** Tasks count as taking about as long as usual if they take at most {@value} times their usual time. */
    private static final double AS_USUAL = 1.5;

    /** The recommended number of threads keeps the waits for a thread below {@value} of the latency target. */
    private static final double SHORT_WAIT = 0.25;

    private static final int MAX_THREADS = 2_000;

    /**
     * If less than {@value} of the samples of an executor's busy threads contain the class where calls wait, other work
     * is assumed to occupy the executor.
     */
    private static final double OWN_SHARE = 0.3;

    private final Evidence evidence;
    private final ExcessTime excess;
    private final OutsideWork outside;

    public UnknownExecutors(Evidence evidence, ExcessTime excess) {
        this.evidence = evidence;
        this.excess = excess;
        this.outside = new OutsideWork(evidence);
    }

    /**
     * The waits of late or failed calls for a result.
     *
     * @param perSecond the number of waiting calls that end per second
     * @param waitNanos how long a call waits for a result on average
     * @param usualNanos the time that these calls usually spend outside of operations; -1 if unknown
     */
    private record Waiting(double perSecond, double waitNanos, double usualNanos) {

        /** Returns the mean time that the busy threads spend on one call, in nanoseconds. */
        double workNanos(int threads) {
            return threads * 1e9 / perSecond;
        }

        /**
         * Returns the time of a task. If a call submits several tasks, their work takes longer than the call usually
         * waits for the results of all tasks.
         */
        double taskNanos(int threads) {
            return usualNanos > 0 ? Math.min(usualNanos, workNanos(threads)) : workNanos(threads);
        }

        /** Returns whether the busy threads work on a call for about as long as calls usually wait for their tasks. */
        boolean isAsUsual(int threads) {
            return workNanos(threads) <= AS_USUAL * usualNanos;
        }

        /** Returns the mean number of calls waiting at the same time. */
        long atOnce() {
            return Math.round(perSecond * waitNanos / 1e9);
        }
    }

    /**
     * Returns the wait for a thread of the given executor. Returns null if a thread is idle, if calls do not wait much
     * longer than a task takes, or if a task alone takes about as long as the latency target. Also returns null if
     * ledgers record waits for executors, if the processors are saturated, or if the tasks became slower.
     *
     * @param threads the common name of the executor's threads
     * @param wait the calls' wait for a result of the executor
     */
    @Nullable
    Part tooSmall(String threads, TaskSamples executor, Part wait) {
        Waiting calls = waiting(wait);
        if (!executor.isBusy()
                || calls.perSecond() <= 0
                || isMeasured(wait)
                || evidence.machine().isFull()
                || areSlower(threads, executor, calls)) {
            return null;
        }
        double task = calls.taskNanos(executor.threads());
        boolean isTooSmall = QUEUED * task <= calls.waitNanos() && task <= SHORT * evidence.targetNanos();
        return isTooSmall ? new Part(Kind.POOL, THREADS + threads) : null;
    }

    /**
     * Returns the wait for a thread of the given executor. The threads of the executor must be busy while calls wait,
     * mostly with code of classes other than the waiting class. Returns null if the threads are not busy in this way,
     * if ledgers record waits for executors, or if the processors are saturated.
     *
     * @param threads the common name of the executor's threads, which worked in nearly all samples of the wait
     * @param wait the calls' wait for a result of the executor
     */
    @Nullable
    Part occupied(String threads, TaskSamples executor, Part wait) {
        return doesOtherWork(executor, wait)
                        && !isMeasured(wait)
                        && !evidence.machine().isFull()
                ? new Part(Kind.POOL, THREADS + threads)
                : null;
    }

    /** Returns whether most of the executor's work is code of classes other than the class in which calls wait. */
    private boolean doesOtherWork(TaskSamples executor, Part wait) {
        return executor.busy >= TaskSamples.MIN_BUSY
                && executor.samplesOf(excess.samples.lineOf(wait)) < OWN_SHARE * executor.busy;
    }

    /**
     * Returns whether the tasks most likely take longer than usual. If no usual time is known, tasks that mostly wait
     * are assumed to take longer, unless calls are much more frequent than usual.
     */
    private boolean areSlower(String threads, TaskSamples executor, Waiting calls) {
        Boolean isAnySlower = outside.isAnySlower(threads, executor);
        if (isAnySlower != null) {
            return isAnySlower;
        }
        double usually = evidence.usual().figure("calls");
        double perSecond = evidence.calls().calls() / evidence.seconds();
        return !calls.isAsUsual(executor.threads())
                && usually > 0
                && perSecond < MORE * usually
                && executor.isMostlyBlocked();
    }

    /** Returns whether the ledgers of the calls record waits for threads of executors. */
    private boolean isMeasured(Part wait) {
        return excess.accounts.stream()
                .filter(counted -> counted.times().of(wait) > 0)
                .anyMatch(counted -> counted.call().ledger().count(Phase.EXECUTOR) > 0);
    }

    private Waiting waiting(Part wait) {
        double waited = 0;
        double usual = 0;
        int known = 0;
        int calls = 0;
        for (ExcessTime.Counted counted : excess.accounts) {
            double ofCall = counted.times().of(wait);
            if (ofCall > 0) {
                waited += ofCall;
                calls++;
                Times times = excess.usualOf(counted.call().method());
                usual += times == null ? 0 : times.sum(part -> Baseline.isOwn(part) || part.kind() == Kind.ELSEWHERE);
                known += times == null ? 0 : 1;
            }
        }
        double share = (double) calls / Math.max(1, excess.accounts.size());
        return new Waiting(
                share * evidence.calls().late() / evidence.seconds(),
                waited / Math.max(1, calls),
                known == 0 ? -1 : usual / known);
    }

    /**
     * Returns the number of threads that would be enough for the usual number of calls; -1 if the executor already has
     * that many threads.
     */
    private int wantedThreads(TaskSamples executor, Part wait) {
        Waiting calls = waiting(wait);
        double usually = evidence.rates().stream()
                .filter(rate -> excess.meanOf(rate.method(), wait) > 0)
                .mapToDouble(rate -> Math.max(rate.usual(), rate.perSecond()))
                .sum();
        double busy = Math.max(calls.perSecond(), usually) * calls.workNanos(executor.threads()) / 1e9;
        int wanted = QueueModel.placesFor(
                busy, calls.taskNanos(executor.threads()), SHORT_WAIT * evidence.targetNanos(), MAX_THREADS);
        return wanted > executor.threads() ? wanted : -1;
    }

    /**
     * Returns whether the given activity or wait is the wait for a thread of an executor whose state Tern does not
     * measure.
     */
    public static boolean isOne(Part part) {
        return part.kind() == Kind.POOL && part.name().startsWith(THREADS);
    }

    /** Returns the common name of the executor's threads. */
    public static String threads(Part part) {
        return part.name().substring(THREADS.length());
    }

    /**
     * Recommends a change to the executor whose threads the calls are waiting for.
     *
     * @param part the wait of calls for a thread of the executor
     * @param symptoms the waits for results, which the wait for a thread causes
     */
    public Change change(Part part, List<Symptom> symptoms) {
        TaskSamples executor = evidence.tasks().executor(threads(part));
        String why = "";
        String field = "";
        String size = "use more threads or shorter tasks";
        if (executor != null && !symptoms.isEmpty()) {
            Part wait = symptoms.get(0).waitedFor();
            FieldExecutors.Found found = FieldExecutors.of(executor, excess.samples.lineOf(wait));
            field = found == null ? "" : " (field " + found.field() + ")";
            String line = excess.samples.shownLineOf(wait);
            why = String.format(
                    Locale.ROOT,
                    ": all of its %d threads are busy, mostly %s, and about %d calls wait for them%s",
                    executor.threads(),
                    executor.mostly(),
                    waiting(wait).atOnce(),
                    line == null ? "" : " in " + line);
            int wanted = doesOtherWork(executor, wait) ? -1 : wantedThreads(executor, wait);
            if (wanted >= 0) {
                size = "use about " + wanted + " threads instead of " + executor.threads() + ", or shorter tasks,";
            }
        }
        return Change.of(
                Where.CODE,
                size + " for the executor whose threads are named"
                        + " \"" + threads(part) + "\"" + field + why
                        + poolSize(threads(part)));
    }

    /**
     * Returns text that mentions the property for the size of Spring Boot's scheduler; an empty string for threads of
     * other executors.
     */
    public static String poolSize(String threads) {
        return threads.startsWith("scheduling")
                ? "; spring.task.scheduling.pool.size, by default 1, sets the number of threads of Boot's scheduler"
                : "";
    }

    /**
     * Returns the evidence about the executor whose threads the calls are waiting for, one fact per short line.
     *
     * @param part the wait of calls for a thread of the executor
     * @param symptoms the waits for results, which the wait for a thread causes
     */
    public List<String> facts(Part part, List<Symptom> symptoms) {
        TaskSamples executor = evidence.tasks().executor(threads(part));
        if (executor == null || symptoms.isEmpty()) {
            return List.of();
        }
        Part wait = symptoms.get(0).waitedFor();
        Waiting calls = waiting(wait);
        List<String> facts = new ArrayList<>();
        if (doesOtherWork(executor, wait)) {
            facts.add("threads  " + executor.threads() + ", busy in "
                    + Math.round(100.0 * executor.busy / Math.max(1, executor.looks))
                    + " % of all samples, mostly not with work of the class in which calls wait");
            return facts;
        }
        facts.add("threads  " + executor.threads() + ", all of them busy");
        facts.add("a call   keeps a thread busy for about " + Times.millis(calls.workNanos(executor.threads())) + " ms"
                + (calls.usualNanos() < 0
                        ? ""
                        : "; calls usually wait and compute for " + Times.millis(calls.usualNanos()) + " ms"));
        for (OutsideWork.Operation known : outside.of(threads(part), executor)) {
            facts.add("usual    " + known.text());
        }
        facts.addAll(origin(executor, excess.samples.lineOf(wait)));
        return facts;
    }

    /**
     * Returns the field that contains an unmeasured executor, and the code that submits its tasks, one fact per short
     * line.
     *
     * @param waiting the stack frame in which calls wait for the tasks; null if it is unknown
     */
    public static List<String> origin(TaskSamples executor, @Nullable StackTraceElement waiting) {
        List<String> facts = new ArrayList<>();
        FieldExecutors.Found found = FieldExecutors.of(executor, waiting);
        if (found != null) {
            facts.add("executor field " + found.field() + (found.state() == null ? "" : ": " + found.state()));
        }
        if (!executor.origin().isEmpty()) {
            facts.add("tasks    " + executor.origin());
        }
        return facts;
    }
}
