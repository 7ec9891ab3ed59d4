package tern.rpc.diagnosis;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;
import tern.rpc.Phase;
import tern.rpc.diagnosis.Cause.Change;
import tern.rpc.diagnosis.Cause.Where;
import tern.rpc.diagnosis.Part.Kind;

/**
 * Recognizes executors that have too few threads, although their state is unknown: Tern takes no snapshots of executors
 * that are not beans. The number of their threads is known from samples. The time of a task follows from the number of
 * threads and from the number of results per second: busy threads complete threads / time tasks per second.
 */
final class UnknownExecutors {

    /** The name prefix of the wait for a thread of an executor whose state Tern does not measure. */
    private static final String THREADS = "threads ";

    /** Tasks are assumed to queue if calls wait for at least this multiple of the time of a task. */
    private static final double QUEUED = 2;

    /** More threads can help only if a task takes at most this share of the latency target. */
    private static final double SHORT = 0.8;

    /** There are more calls than usual if their rate is at least this multiple of the usual rate. */
    private static final double MORE = 1.2;

    private final Evidence evidence;
    private final ExcessTime excess;

    UnknownExecutors(Evidence evidence, ExcessTime excess) {
        this.evidence = evidence;
        this.excess = excess;
    }

    /**
     * The waits of late or failed calls for a result.
     *
     * @param perSecond the number of waiting calls that end per second
     * @param waitNanos the mean time for which a call waits for a result
     */
    private record Waiting(double perSecond, double waitNanos) {

        double taskNanos(int threads) {
            return threads * 1e9 / perSecond;
        }

        /** Returns the mean number of calls that wait at the same time. */
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
                || areSlower(executor)) {
            return null;
        }
        double task = calls.taskNanos(executor.threads());
        boolean isTooSmall = QUEUED * task <= calls.waitNanos() && task <= SHORT * evidence.targetNanos();
        return isTooSmall ? new Part(Kind.POOL, THREADS + threads) : null;
    }

    /**
     * Returns whether the tasks most likely take longer than usual: the tasks mostly wait, and calls are not much more
     * frequent than usual.
     */
    private boolean areSlower(TaskSamples executor) {
        double usually = evidence.usual().figure("calls");
        double perSecond = evidence.calls().calls() / evidence.seconds();
        return usually > 0 && perSecond < MORE * usually && executor.isMostlyBlocked();
    }

    /** Returns whether the ledgers of the calls record waits for threads of executors. */
    private boolean isMeasured(Part wait) {
        return excess.accounts.stream()
                .filter(counted -> counted.times().of(wait) > 0)
                .anyMatch(counted -> counted.call().ledger().count(Phase.EXECUTOR) > 0);
    }

    private Waiting waiting(Part wait) {
        double waited = 0;
        int calls = 0;
        for (ExcessTime.Counted counted : excess.accounts) {
            double ofCall = counted.times().of(wait);
            waited += ofCall;
            calls += ofCall > 0 ? 1 : 0;
        }
        double share = (double) calls / Math.max(1, excess.accounts.size());
        return new Waiting(share * evidence.calls().late() / evidence.seconds(), waited / Math.max(1, calls));
    }

    /**
     * Returns whether the given activity or wait is the wait for a thread of an executor whose state Tern does not
     * measure.
     */
    static boolean isOne(Part part) {
        return part.kind() == Kind.POOL && part.name().startsWith(THREADS);
    }

    /** Returns the common name of the executor's threads. */
    static String threads(Part part) {
        return part.name().substring(THREADS.length());
    }

    /**
     * Recommends a change for the executor whose threads the calls wait for.
     *
     * @param part the wait of calls for a thread of the executor
     * @param symptoms the waits for results that the wait for a thread causes
     */
    Change change(Part part, List<Symptom> symptoms) {
        TaskSamples executor = evidence.tasks().executor(threads(part));
        String why = "";
        String field = "";
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
        }
        return Change.of(
                Where.CODE,
                "use more threads or shorter tasks for the executor whose threads are named"
                        + " \"" + threads(part) + "\"" + field + why
                        + (threads(part).startsWith("scheduling")
                                ? "; spring.task.scheduling.pool.size, by default 1, sets the number of threads of Boot's"
                                        + " scheduler"
                                : "")
                        + "; no number is given, because only executors that are beans are measured");
    }

    /**
     * Returns the evidence about the executor whose threads the calls wait for, one fact per short line.
     *
     * @param part the wait of calls for a thread of the executor
     * @param symptoms the waits for results that the wait for a thread causes
     */
    List<String> facts(Part part, List<Symptom> symptoms) {
        TaskSamples executor = evidence.tasks().executor(threads(part));
        if (executor == null || symptoms.isEmpty()) {
            return List.of();
        }
        Part wait = symptoms.get(0).waitedFor();
        double task = waiting(wait).taskNanos(executor.threads());
        List<String> facts = new ArrayList<>();
        facts.add("threads  " + executor.threads() + ", all of them busy");
        facts.add("a task   about " + Times.millis(task) + " ms");
        facts.addAll(origin(executor, excess.samples.lineOf(wait)));
        return facts;
    }

    /**
     * Returns where an executor that is not a bean is found, and where its tasks come from, one fact per short line.
     *
     * @param waiting the stack frame in which calls wait for the tasks; null if it is unknown
     */
    static List<String> origin(TaskSamples executor, @Nullable StackTraceElement waiting) {
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
