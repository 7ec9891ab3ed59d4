package tern.rpc.diagnosis.rule;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import tern.rpc.CallLedger;
import tern.rpc.NamedTimes;
import tern.rpc.Phase;
import tern.rpc.diagnosis.account.Part;
import tern.rpc.diagnosis.account.Part.Kind;
import tern.rpc.diagnosis.account.Sample;
import tern.rpc.diagnosis.account.Times;
import tern.rpc.diagnosis.excess.Evidence;
import tern.rpc.diagnosis.excess.ExcessTime;
import tern.rpc.diagnosis.excess.Operations;
import tern.rpc.diagnosis.pool.PoolVerdict;
import tern.rpc.diagnosis.sample.ExecutorNames;
import tern.rpc.diagnosis.sample.SampledCall;
import tern.rpc.diagnosis.sample.SampledMoments;
import tern.rpc.diagnosis.sample.TaskSamples;
import tern.rpc.diagnosis.stack.StackReader;
import tern.rpc.diagnosis.stack.TaskWaits;
import tern.rpc.pool.PoolKind;
import tern.rpc.pool.PoolSnapshot;

/**
 * Finds the threads that most likely produce the results that calls wait for, and decides whether the work of these
 * threads explains the wait. These threads usually also do other work. Samples therefore show some of them in
 * operations even if none of them is working on the result. Their work explains the wait in only three cases. First, an
 * operation takes a long time. Second, the threads are always busy, so the awaited task may be queued. Third, the
 * threads work while calls wait.
 */
public final class AwaitedWork {

    /**
     * Other threads are examined only if there are at least {@value} samples of waiting calls. Fewer samples do not
     * show whether other threads are working while calls are waiting.
     */
    private static final int MIN_LOOKS = 6;

    /**
     * Other threads can explain a wait only if more than {@value} of the wait's samples show them working. The share is
     * lower than 1, because the stacks of these threads and of the calls are read one after another.
     */
    private static final double MOSTLY = 0.7;

    /**
     * If at least {@value} of the samples of waiting calls show other threads working, the calls are assumed to wait
     * for this work.
     */
    private static final double ALWAYS = 0.9;

    private static final double HALF = 0.5;

    /** A call may have lost a signal if at least {@value} samples show its wait after the end of its tasks. */
    private static final int MIN_UNATTENDED = 2;

    /** A call has lost a signal only if at least {@value} of the samples of its wait are such samples. */
    private static final double UNATTENDED = 0.25;

    /** Lost signals are a separate cause if they explain at least {@value} of a wait. */
    static final double NOTABLY_LOST = 0.2;

    /** Matches the names of the threads of schedulers, such as {@code scheduling} and {@code taskScheduler}. */
    private static final Pattern SCHEDULER = Pattern.compile("(?i)schedul");

    /** Failed tasks can explain a wait only if at least {@value} of the executor's tasks fail. */
    private static final double FAILED_SHARE = 0.05;

    /** An operation can be the cause of a wait only if it takes at least {@value} of the wait. */
    private static final double LARGE = 0.25;

    private final Evidence evidence;
    private final ExcessTime excess;
    private final Operations operations;
    private final Map<String, PoolVerdict> pools;
    private final OutsideWork outside;

    public AwaitedWork(Evidence evidence, ExcessTime excess, Operations operations, Map<String, PoolVerdict> pools) {
        this.evidence = evidence;
        this.excess = excess;
        this.operations = operations;
        this.pools = pools;
        this.outside = new OutsideWork(evidence);
    }

    /**
     * Returns the name of the executor or thread group that most likely produces the results that calls wait for; null
     * if there is none. A busy executor that runs no code of the waiting class might be doing unrelated work. Such an
     * executor is chosen in only two cases: the calls submit tasks to executors, or the calls wait for a task and the
     * executor's tasks run code of the package in which the calls wait.
     */
    @Nullable
    String threadsFor(Part wait) {
        StackTraceElement line = excess.samples.lineOf(wait);
        String called = excess.samples.calledIn(wait);
        if (TaskWaits.isForProgram(called)) {
            return null;
        }
        double queued = excess.accounts.stream()
                .mapToDouble(counted -> counted.call().ledger().count(Phase.EXECUTOR))
                .sum();
        String threads = evidence.tasks()
                .executorOf(
                        line,
                        executor -> queued > 0
                                || (line != null && TaskWaits.isForTask(called) && executor.runsPackageOf(line)));
        if (threads == null && TaskWaits.isForTaskOrFuture(called)) {
            threads = fullExecutorOfCallers(wait);
            return threads == null ? occupyingThreads(wait) : threads;
        }
        return threads;
    }

    /**
     * Returns the common name of certain threads that serve no call. These threads run code of the package in which
     * calls wait for a future, and were working in nearly all samples of these calls. A scheduler with one thread is an
     * example: while a long job occupies the thread, the job that completes the futures has to wait. Threads that are
     * always busy are also busy during every wait. Such threads count only if their name is the name of a scheduler's
     * threads. Returns null unless exactly one group of threads meets these conditions. Ignores threads whose executor
     * Tern measures.
     */
    @Nullable
    String occupyingThreads(Part wait) {
        StackTraceElement line = excess.samples.lineOf(wait);
        String called = excess.samples.calledIn(wait);
        if (line == null || TaskWaits.isForTask(called) || !TaskWaits.isForTaskOrFuture(called)) {
            return null;
        }
        String only = null;
        for (Map.Entry<String, TaskSamples> group : evidence.tasks().groups().entrySet()) {
            TaskSamples threads = group.getValue();
            boolean isSuspect = SCHEDULER.matcher(group.getKey()).find() || !threads.isBusy();
            if (isSuspect
                    && !threads.delivers
                    && threads.runsPackageOf(line)
                    && poolOf(group.getKey()) == null
                    && looks(wait, group.getKey()).areAtLeast(ALWAYS)) {
                if (only != null) {
                    return null;
                }
                only = group.getKey();
            }
        }
        return only;
    }

    /**
     * Returns the full executor whose tasks run code of a class that calls the waiting class; null if there is none.
     * For example, the waiting class may be a helper that waits for several futures on behalf of its callers.
     */
    private @Nullable String fullExecutorOfCallers(Part wait) {
        for (Sample sample : excess.samples.in(wait)) {
            for (StackTraceElement caller : sample.path()) {
                String threads = evidence.tasks().executorOf(caller, executor -> false);
                TaskSamples tasks = threads == null ? null : evidence.tasks().executor(threads);
                if (tasks != null && tasks.isFull() && tasks.runs(caller)) {
                    return threads;
                }
            }
        }
        return null;
    }

    /**
     * Returns the pool of an executor whose threads have the given name. The pool is often named after a bean: for
     * example, threads named {@code mail} belong to {@code mailExecutor}.
     */
    @Nullable
    public PoolVerdict poolOf(String threads) {
        PoolVerdict exact = pools.get(ExecutorNames.poolOf(threads));
        if (exact != null) {
            return exact;
        }
        String prefix = threads.toLowerCase(Locale.ROOT);
        List<PoolVerdict> similar = pools.values().stream()
                .filter(pool -> pool.pool().now().kind() == PoolKind.EXECUTOR)
                .filter(pool -> pool.name().toLowerCase(Locale.ROOT).startsWith(prefix))
                .toList();
        return similar.size() == 1 ? similar.get(0) : null;
    }

    /**
     * Returns false if the evidence shows that the work of the given threads does not explain the wait; otherwise true.
     *
     * @param name the common name of the threads
     */
    boolean explains(Part wait, String name, TaskSamples threads) {
        if (isAnySlower(wait, threads)) {
            return true;
        }
        if (lostShare(wait, name) >= HALF) {
            return false;
        }
        if (threads.isBusy()) {
            return true;
        }
        Looks looks = looks(wait, name);
        if ((isMeasured(name) && attended(wait, name).areAtMost(HALF)) || looks.areAtMost(MOSTLY)) {
            return false;
        }
        return looks.all < MIN_LOOKS || looks.areAtLeast(ALWAYS) || !areAsUsual(wait, outside.of(name, threads));
    }

    /**
     * Samples of calls that wait.
     *
     * @param all the number of these samples
     * @param working the number of these samples in which other threads were working, or in which tasks of the call had
     *     not ended
     */
    private record Looks(int all, int working) {

        boolean areAtMost(double share) {
            return all >= MIN_LOOKS && working <= share * all;
        }

        boolean areAtLeast(double share) {
            return all >= MIN_LOOKS && working >= share * all;
        }
    }

    /** Counts the samples of the given wait, and how many of them show a thread with the given name at work. */
    private Looks looks(Part wait, String name) {
        int all = 0;
        int working = 0;
        for (Sample sample : evidence.tasks().isAlwaysSeen(name) ? excess.samples.in(wait) : List.<Sample>of()) {
            SampledMoments.Work work = evidence.tasks().moments().workAt(sample.atNanos());
            if (work != null && work.isKnown(name)) {
                all++;
                working += work.isBusy(name) ? 1 : 0;
            }
        }
        return new Looks(all, working);
    }

    /**
     * Counts the samples of calls with the given wait, and how many of them show a measured task of the call running or
     * queued. Samples of a call that has submitted no task to the executor are counted, too, because another call or
     * thread may have submitted the awaited task.
     */
    private Looks attended(Part wait, String threads) {
        int all = 0;
        int unattended = 0;
        for (ExcessTime.Counted counted : excess.accounts) {
            SampledCall samples = evidence.samples().get(counted.call().ledger());
            if (samples != null && counted.times().of(wait) > 0) {
                all += samples.resultLooks;
                unattended += hasUsed(threads, counted.call().ledger()) ? samples.unattendedLooks : 0;
            }
        }
        return new Looks(all, all - unattended);
    }

    /**
     * Returns the share of the wait's time in calls that waited on although all of their measured tasks had ended, from
     * 0 to 1. Other tasks that occupy the threads do not explain these waits: the signal was not given.
     */
    double lostShare(Part wait, String threads) {
        double all = 0;
        double lost = 0;
        for (ExcessTime.Counted counted : isMeasured(threads) ? excess.accounts : List.<ExcessTime.Counted>of()) {
            SampledCall samples = evidence.samples().get(counted.call().ledger());
            double nanos = samples == null ? 0 : counted.times().of(wait);
            if (samples != null && nanos > 0) {
                all += nanos;
                lost += hasLost(samples) && hasUsed(threads, counted.call().ledger()) ? nanos : 0;
            }
        }
        return all <= 0 ? 0 : lost / all;
    }

    /** Returns whether lost signals explain a notable part of the wait. */
    public boolean isLost(Part wait) {
        String threads = threadsFor(wait);
        return threads != null && lostShare(wait, threads) >= NOTABLY_LOST;
    }

    private static boolean hasLost(SampledCall samples) {
        return samples.unattendedLooks >= MIN_UNATTENDED && samples.unattendedLooks >= UNATTENDED * samples.resultLooks;
    }

    /**
     * Returns whether the call has submitted a task to the executor that owns the given threads, as far as its ledger
     * shows. A ledger contains the name of an executor only if a task of the call waited for a thread of this executor.
     * If a ledger contains no executor's name, the call is assumed to have used the given executor, provided that Tern
     * measures no other executor.
     */
    private boolean hasUsed(String threads, CallLedger ledger) {
        PoolVerdict pool = poolOf(threads);
        Set<String> used = ledger.named().stream()
                .filter(entry -> entry.kind() == Phase.EXECUTOR)
                .map(NamedTimes.Entry::name)
                .collect(Collectors.toSet());
        return pool != null
                && (used.isEmpty()
                        ? pools.values().stream()
                                        .filter(AwaitedWork::isMeasured)
                                        .count()
                                == 1
                        : used.contains(pool.name()));
    }

    /** Returns whether Tern measures the tasks of the executor with the given threads. */
    private boolean isMeasured(String threads) {
        PoolVerdict pool = poolOf(threads);
        return pool != null && isMeasured(pool);
    }

    private static boolean isMeasured(PoolVerdict pool) {
        return pool.pool().now().kind() == PoolKind.EXECUTOR
                && !pool.pool().now().held().isNegative();
    }

    /**
     * Returns whether late calls run an operation that is slower than usual and takes a large part of the wait.
     * Considers only the kinds of operations in which the given threads were found.
     */
    boolean isAnySlower(Part wait, TaskSamples threads) {
        double large = LARGE * waitNanos(wait);
        return operationsLike(threads).stream().anyMatch(operation -> {
            Phase phase = Operations.phase(operation.kind());
            Operations.Sum sum = phase == null ? null : operations.of(phase, operation.name());
            return sum != null && sum.count() * sum.eachNanos() >= large && operations.isSlower(operation);
        });
    }

    /**
     * Returns the operations of late calls. Considers only operations that have names and are of the same kinds as the
     * operations in the samples of the given threads.
     */
    private List<Part> operationsLike(TaskSamples threads) {
        Set<Kind> kinds = kinds(threads);
        return excess.account.longestFirst().stream()
                .filter(part -> kinds.contains(part.kind())
                        && !part.name().isEmpty()
                        && !part.name().equals(NamedTimes.OTHERS)
                        && !part.name().startsWith(StackReader.CALLED))
                .toList();
    }

    private static Set<Kind> kinds(TaskSamples threads) {
        return threads.parts.longestFirst().stream()
                .map(Part::kind)
                .filter(kind -> kind != Kind.LOG && Operations.phase(kind) != null)
                .collect(Collectors.toCollection(TreeSet::new));
    }

    /** Returns the mean duration of the given wait, over the calls that waited. */
    private double waitNanos(Part wait) {
        double waited = 0;
        for (ExcessTime.Counted counted : excess.accounts) {
            waited += counted.times().of(wait);
        }
        return waited / Math.max(1, callsIn(wait));
    }

    private long callsIn(Part wait) {
        return excess.accounts.stream()
                .filter(counted -> counted.times().of(wait) > 0)
                .count();
    }

    /** Returns whether the given operations take their usual times, which are much shorter than the wait. */
    private boolean areAsUsual(Part wait, List<OutsideWork.Operation> operations) {
        double large = LARGE * waitNanos(wait);
        return !operations.isEmpty()
                && operations.stream()
                        .allMatch(operation ->
                                !operation.isSlower() && operation.now().nanos() < large);
    }

    /**
     * Returns the evidence that no work of other threads explains the given wait, one fact per short line. Returns an
     * empty list if the threads that complete the result are unknown, or if their work may explain the wait.
     */
    public List<String> facts(Part wait) {
        String name = threadsFor(wait);
        TaskSamples threads = name == null ? null : evidence.tasks().executor(name);
        if (name == null
                || threads == null
                || (lostShare(wait, name) < NOTABLY_LOST && explains(wait, name, threads))) {
            return List.of();
        }
        List<String> facts = new ArrayList<>();
        facts.add(String.format(
                Locale.ROOT,
                "waits    %d of %d recorded late or failed calls wait here, %s ms each",
                callsIn(wait),
                excess.accounts.size(),
                Times.millis(waitNanos(wait))));
        Looks looks = looks(wait, name);
        if (looks.all > 0) {
            facts.add(String.format(
                    Locale.ROOT,
                    "threads  %s* worked in %d of %d samples of these calls",
                    name,
                    looks.working,
                    looks.all));
        }
        Looks left = attended(wait, name);
        if (isMeasured(name) && (left.areAtMost(HALF) || lostShare(wait, name) >= NOTABLY_LOST)) {
            facts.add(String.format(
                    Locale.ROOT,
                    "tasks    in %d of %d samples, all tasks of the waiting call had ended",
                    left.all - left.working,
                    left.all));
        }
        usualWork(name, threads).stream().map(line -> "usual    " + line).forEach(facts::add);
        return facts;
    }

    /**
     * Returns text about failed tasks of the executor that the given wait is for, such as {@code 12 tasks of "mail"
     * ended with NumberFormatException in Menu.price:9}; null if there are no such tasks, or only a few. Calls may be
     * waiting for a signal that a failed task did not send.
     */
    @Nullable
    public String failedTasks(Part wait) {
        String threads = threadsFor(wait);
        PoolVerdict likely = threads == null ? null : poolOf(threads);
        return pools.values().stream()
                .filter(pool -> pool.equals(likely) || isUsedIn(wait, pool.name()))
                .map(pool -> pool.pool().since())
                .filter(since -> since.failed() > 0 && since.failed() >= HALF * callsIn(wait))
                .filter(since -> since.failed() >= FAILED_SHARE * since.taken())
                .filter(since -> since.lastFailure() != null)
                .max(Comparator.comparingLong(PoolSnapshot::failed))
                .map(since -> since.failed() + " tasks of \"" + since.name() + "\" ended with " + since.lastFailure())
                .orElse(null);
    }

    /** Returns whether a call with the given wait has waited for a thread of the given executor. */
    private boolean isUsedIn(Part wait, String executor) {
        return excess.accounts.stream()
                .filter(counted -> counted.times().of(wait) > 0)
                .flatMap(counted -> counted.call().ledger().named().stream())
                .anyMatch(
                        entry -> entry.kind() == Phase.EXECUTOR && entry.name().equals(executor));
    }

    /** Returns the operations of the given threads that take about their usual time, with their times. */
    private List<String> usualWork(String name, TaskSamples threads) {
        List<OutsideWork.Operation> known = outside.of(name, threads);
        if (!known.isEmpty()) {
            return known.stream().map(OutsideWork.Operation::text).toList();
        }
        return operationsLike(threads).stream()
                .filter(operation -> !operations.isSlower(operation))
                .limit(2)
                .map(operation -> {
                    Phase phase = Operations.phase(operation.kind());
                    return phase == null
                            ? operation.name()
                            : OutsideWork.Operation.text(
                                    operation.name(),
                                    operations.of(phase, operation.name()).eachNanos(),
                                    operations.usualNamed(phase, operation.name()));
                })
                .toList();
    }
}
