package tern.rpc.diagnosis;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import tern.rpc.Phase;
import tern.rpc.diagnosis.Cause.Change;
import tern.rpc.diagnosis.Cause.Where;
import tern.rpc.diagnosis.Part.Kind;
import tern.rpc.pool.ApplicationCode;
import tern.rpc.pool.PoolKind;
import tern.rpc.pool.PoolSetting;
import tern.rpc.pool.PoolSnapshot;

/** Describes waits for connections and executors, and recommends pool sizes. */
final class PoolText {

    /**
     * HTTP connections are probably closed after each use if no connection is idle, although the exchanges keep less
     * than this share of the open connections busy on average. At least one connection is assumed to be open.
     */
    private static final double UNKEPT = 0.5;

    /**
     * A pool is checked for connections that are closed after each use only if at least this number of connections was
     * taken from it in the observed period. For HTTP pools, the number applies to each connection in use.
     */
    private static final int MIN_UNKEPT = 20;

    /**
     * Connections to a database or to Redis are probably closed after each use if no connection is idle, although the
     * operations keep less than this share of the pool busy on average.
     */
    private static final double FEW = 0.1;

    /**
     * A pool is checked for connections that are closed after each use only if calls have missed the latency target for
     * this time. Before, the pool may still be opening its first connections.
     */
    private static final long MIN_UNKEPT_NANOS = TimeUnit.SECONDS.toNanos(10);

    /**
     * A full executor explains a wait for results only if at least this share of the wait is a wait for the executor's
     * threads.
     */
    private static final double HANDED_OVER = 0.1;

    /** An executor gets many more tasks than usual if their number is at least this multiple of the usual number. */
    private static final double MORE_TASKS = 1.5;

    private final Evidence evidence;
    private final Excess excess;
    private final Remedy remedy;
    private final Map<String, PoolVerdict> pools;
    private final Operations operations;

    PoolText(Evidence evidence, Excess excess, Map<String, PoolVerdict> pools, Operations operations) {
        this.evidence = evidence;
        this.excess = excess;
        this.pools = pools;
        this.operations = operations;
        this.remedy = new Remedy(evidence);
    }

    Told pool(Part part) {
        PoolVerdict verdict = PoolVerdict.find(pools, part);
        if (verdict == null) {
            UnknownPoolText unknown = new UnknownPoolText(excess);
            return new Told(unknown.kind(part), part.name(), unknown.change(part, mostly(part.name())), List.of());
        }
        String name = "\"" + verdict.name() + "\"";
        String place = verdict.place() == null ? takers(verdict.pool().now().kind()) : verdict.place();
        boolean asUsual =
                verdict.reason() == PoolVerdict.Reason.SLOW_TO_USE || verdict.reason() == PoolVerdict.Reason.UNKNOWN;
        boolean isExecutor = verdict.pool().now().kind() == PoolKind.EXECUTOR;
        OtherTasks others = new OtherTasks(evidence, excess, operations);
        if (isExecutor && others.occupy(verdict)) {
            return others.told(verdict);
        }
        if (isExecutor && (asUsual || CommonPool.isOne(verdict))) {
            return executor(verdict);
        }
        return switch (verdict.reason()) {
            case LEAKED ->
                new Told(
                        "NOT GIVEN BACK",
                        verdict.name(),
                        Change.of(Where.CODE, "close the connection in " + place + "; no size of " + name + " helps"),
                        verdict.facts());
            case NESTED ->
                new Told(
                        "NESTED CONNECTIONS",
                        verdict.name(),
                        Change.of(
                                Where.CODE,
                                "one connection a call: calls that hold a connection of " + name
                                        + " wait for a second one, as a new transaction (REQUIRES_NEW) within another one"
                                        + " does in " + place + "; otherwise the pool needs more connections than calls"
                                        + " run at once"),
                        verdict.facts());
            case HELD_BY_OTHERS ->
                new Told("HELD BY OTHERS", verdict.name(), Change.of(Where.CODE, others(verdict)), verdict.facts());
            case CHECKING ->
                new Told(
                        "CONNECTIONS CHECKED SLOWLY",
                        verdict.name(),
                        Change.of(
                                Where.PEER,
                                "connections of " + name + " are free, but borrowing one takes long: " + check(verdict)
                                        + "; check idle connections in the background. No size helps"),
                        verdict.facts());
            case OPENING ->
                new Told(
                        "CONNECTIONS OPEN SLOWLY",
                        verdict.name(),
                        Change.of(
                                Where.PEER,
                                unkept(verdict)
                                        + "why new connections of " + name
                                        + " take long: the server's limit of connections, its name lookup, TLS,"
                                        + " network"),
                        verdict.facts());
            case TOO_SMALL -> tooSmall(part, verdict);
            case FAIR -> fair(verdict);
            case SLOW_TO_USE, UNKNOWN ->
                new Told(
                        "WAIT AT POOL",
                        verdict.name(),
                        Change.of(Where.UNKNOWN, "no size: the pool has room; look at the next cause"),
                        verdict.facts());
        };
    }

    /** Returns how the pool checks connections before it lends them. */
    private static String check(PoolVerdict verdict) {
        String settings = verdict.pool().now().settings().stream()
                .filter(setting -> setting.use() == PoolSetting.Use.CHECK)
                .map(setting -> setting.property() + "=" + setting.value())
                .collect(Collectors.joining(", "));
        return settings.isEmpty()
                ? "the check of a connection before it is lent (test on borrow, validation query), or the network"
                : "each one is checked before it is lent (" + settings + "), so make this check quick";
    }

    /**
     * Returns the advice to keep connections open if a few open connections would be enough for all uses; empty
     * otherwise. If no connection is idle, the connections are closed soon after their use.
     */
    private String unkept(PoolVerdict verdict) {
        PoolSnapshot now = verdict.pool().now();
        long taken = verdict.pool().since().taken();
        double needed = taken * verdict.pool().holdNanos() / 1e9 / evidence.seconds();
        if (now.idle() > 0 || needed < 0 || taken < MIN_UNKEPT) {
            return "";
        }
        if (now.kind() == PoolKind.HTTP) {
            boolean isUnkept = needed < UNKEPT * Math.max(1, now.active()) && taken >= MIN_UNKEPT * now.active();
            return isUnkept
                    ? "keep connections open: nearly every exchange opens a new one, because the client or the server"
                            + " closes it afterwards (Connection: close, no keep-alive); then see "
                    : "";
        }
        return needed < FEW * now.effectiveMax() && evidence.missedNanos() >= MIN_UNKEPT_NANOS
                ? "see why connections of this pool are closed so soon: a limit of their uses or their age (in Druid"
                        + " phy-max-use-count, phy-timeout-millis), a check that fails, or the server; then see "
                : "";
    }

    /** Returns the advice for connections that are held outside of calls. */
    private static String others(PoolVerdict verdict) {
        PoolVerdict.User user = verdict.user();
        String place = verdict.place() == null ? "the code that takes them" : verdict.place();
        if (user == null) {
            return "give the connection back sooner in " + place + ", or a pool of its own for it";
        }
        String by = place + " (thread " + user.threads() + "*)";
        if (user.operation() != null && RedisText.isBlocking(user.operation())) {
            return "a client with connections of its own for the blocking command " + user.operation() + " in " + by
                    + ": it keeps a connection of \"" + verdict.name() + "\" while it waits; no size helps for long";
        }
        return "give the connection back sooner in " + by + ", or a pool of its own for it"
                + (user.operation() == null ? "" : ": " + user.operation());
    }

    /**
     * Returns the code that takes connections from the pool, as found in samples. Returns a general description if no
     * sample contains this code.
     */
    private String takers(PoolKind kind) {
        Phase phase = switch (kind) {
            case JDBC -> Phase.SQL;
            case REDIS -> Phase.REDIS;
            default -> Phase.HTTP;
        };
        StackTraceElement line = excess.samples.lineIn(phase);
        StackTraceElement waiting = excess.samples.lineIn(
                switch (kind) {
                    case JDBC -> Phase.JDBC_CONNECTION;
                    case REDIS -> Phase.REDIS_CONNECTION;
                    default -> Phase.HTTP_CONNECTION;
                });
        StackTraceElement seen = line == null ? waiting : line;
        return seen == null
                ? "the code that takes them"
                : "the code that takes them, such as " + ApplicationCode.shown(seen);
    }

    private Told fair(PoolVerdict verdict) {
        PoolSetting setting =
                verdict.pool().now().setting(PoolSetting.Use.FAIRNESS).orElse(null);
        return new Told(
                "FAIR LOCK",
                verdict.name(),
                setting != null && setting.property().contains(".")
                        ? new Change(
                                Where.PROPERTY,
                                setting.property() + "=true",
                                setting.property(),
                                setting.value(),
                                "true",
                                -1)
                        : Change.of(Where.CODE, "an unfair lock for the pool \"" + verdict.name() + "\""),
                verdict.facts());
    }

    private Told tooSmall(Part part, PoolVerdict verdict) {
        Times account = excess.accountOfCallsWith(part);
        double rest = account.sum() - account.of(part) - account.of(Part.of(Kind.QUEUE));
        double room = evidence.targetNanos() - rest;
        int size = room <= 0 ? -1 : verdict.sizeFor(evidence.seconds(), room);
        PoolSnapshot pool = verdict.pool().now();
        PoolSetting.Use use = pool.effectiveMax() < pool.max() ? PoolSetting.Use.MAX_PER_HOST : PoolSetting.Use.MAX;
        boolean threads = pool.kind() == PoolKind.EXECUTOR;
        Change more = threads && !verdict.isSlower()
                ? moreTasks(pool, verdict.pool().since().taken() / evidence.seconds())
                : null;
        Change change = more != null
                ? more
                : size < 0
                        ? null
                        : threads
                                ? ExecutorSize.of(pool, size, evidence.machine())
                                : property(remedy.of(verdict.pool(), use, size));
        if (change == null && size > pool.max() && threads) {
            change = ExecutorSize.moreThreads(pool, size);
        } else if (change == null && size >= 0) {
            change = Change.of(
                    Where.CODE,
                    (threads ? "more threads in \"" : "more connections in \"") + verdict.name()
                            + "\", or fewer uses a call; no size is given, because the"
                            + " replay of these calls does not confirm one");
        } else if (change == null && room > 0 && !threads && pool.setting(use).isEmpty()) {
            change = Change.of(
                    Where.CODE,
                    "more connections in \"" + verdict.name() + "\""
                            + (pool.kind() == PoolKind.HTTP
                                    ? " (maxConnections of the client's ConnectionProvider)"
                                    : "")
                            + ", or hold each for less time: " + use(verdict)
                            + "; no size is given, because no property for it is known");
        } else if (change == null) {
            String longest = longestWithout(part, account);
            change = Change.of(
                    Where.CODE,
                    room > 0 && pool.setting(use).isPresent()
                            ? "hold " + verdict.resource() + " for less time: " + use(verdict)
                                    + " is more than any size allows"
                            : "no size of \"" + verdict.name() + "\" meets the target: a call needs "
                                    + Times.millis(rest) + " ms without any wait"
                                    + (longest == null ? "" : ", most of it in " + longest));
        }
        return new Told(threads ? "EXECUTOR TOO SMALL" : "POOL TOO SMALL", verdict.name(), change, verdict.facts());
    }

    /**
     * Returns the advice for an executor that gets many more tasks than usual, for example from a batch; null
     * otherwise. More threads would only let the batch take more of the resources that calls need.
     *
     * @param started the number of tasks that are started per second
     */
    private @Nullable Change moreTasks(PoolSnapshot pool, double started) {
        double usually = evidence.usual().reliableFigure(Learner.TASKS + pool.name());
        boolean isFull = pool.active() >= pool.max() && pool.waiting() > pool.max();
        // If the tasks had become slower, fewer of them would be started.
        if (usually <= 0 || !isFull || started < MORE_TASKS * usually) {
            return null;
        }
        return Change.of(
                Where.CODE,
                String.format(
                        Locale.ROOT,
                        "an executor of its own for what submits many tasks at once, such as a batch, or submit them in"
                                + " smaller portions: \"%s\" starts %.0f tasks/s, and %d wait; usually, it starts"
                                + " %.1f/s%s",
                        pool.name(),
                        started,
                        pool.waiting(),
                        usually,
                        mostly(pool.name())));
    }

    private String use(PoolVerdict verdict) {
        return String.format(
                Locale.ROOT,
                "%.0f uses a second of %s ms each",
                verdict.pool().since().taken() / evidence.seconds(),
                Times.millis(Math.max(0, verdict.pool().holdNanos())));
    }

    private static @Nullable String longestWithout(Part waited, Times account) {
        for (Part part : account.longestFirst()) {
            if (!part.equals(waited)
                    && part.kind() != Kind.QUEUE
                    && !part.name().isEmpty()) {
                return part.name();
            }
        }
        return null;
    }

    /** Returns the advice to set the pool's size to the given value; null if there is no value. */
    private static @Nullable Change property(Remedy.@Nullable Size size) {
        return size == null ? null : size.change();
    }

    /**
     * Returns the most frequent activity in the samples of an executor's tasks, for example
     * {@code , mostly in Orders.export}. Returns an empty string if there are no samples.
     */
    private String mostly(String pool) {
        TaskSamples tasks = evidence.tasks().executor(ExecutorNames.threadsOf(pool));
        if (tasks == null) {
            tasks = awaited();
        }
        return tasks == null || tasks.parts.isEmpty() ? "" : ", mostly " + tasks.mostly();
    }

    /**
     * Returns the samples of an executor that is not a known pool, if calls wait for its results. An executor that the
     * application creates without a name has threads such as {@code pool-2-thread-1}.
     */
    private @Nullable TaskSamples awaited() {
        for (Part part : excess.account.longestFirst()) {
            String threads = part.kind() == Kind.RESULT
                    ? evidence.tasks().executorOf(excess.samples.lineOf(part), executor -> true)
                    : null;
            if (threads != null && !pools.containsKey(ExecutorNames.poolOf(threads))) {
                return evidence.tasks().executor(threads);
            }
        }
        return null;
    }

    /** Describes an executor whose tasks were run by the threads that submitted them, as a cause. */
    Told executor() {
        PoolVerdict full = full();
        if (full == null) {
            return new Told(
                    "CALLER RUNS",
                    "executor",
                    Change.of(Where.UNKNOWN, "more threads for the executor that makes callers run its tasks"),
                    List.of());
        }
        Told told = executor(full);
        if (told.change().property() != null) {
            return told;
        }
        PoolSnapshot pool = full.pool().now();
        double hold = full.pool().holdNanos();
        String slow = operations.slowest();
        return new Told(
                "CALLER RUNS",
                pool.name(),
                Change.of(
                        Where.CODE,
                        (slow == null ? "" : "see why " + slow + " is slow; ")
                                + "more threads or a longer queue for \"" + pool.name()
                                + "\", or a rejection policy other than caller-runs: it is full, so calls run its tasks"
                                + " themselves" + (hold < 0 ? "" : ", " + Times.millis(hold) + " ms each")
                                + mostly(pool.name())),
                told.facts());
    }

    /**
     * Returns the text for a full executor whose queued tasks wait for a thread, if calls wait for results of this
     * executor. Many applications have an executor with a backlog that no call waits for.
     *
     * @param wait the wait for a result
     * @return null if there is no such executor
     */
    @Nullable
    Told fullExecutor(Part wait) {
        StackTraceElement line = excess.samples.lineOf(wait);
        return pools.values().stream()
                .filter(PoolText::isFull)
                .filter(verdict -> isAwaited(verdict, wait, line))
                .findFirst()
                .map(this::executor)
                .orElse(null);
    }

    /**
     * Returns whether the calls probably wait for tasks of the given executor. Calls probably wait for an executor's
     * tasks if they submit tasks and wait for the executor's threads, or if the executor's tasks run code of the class
     * that waits.
     */
    private boolean isAwaited(PoolVerdict verdict, Part wait, @Nullable StackTraceElement line) {
        double queued = excess.account.of(new Part(Kind.POOL, verdict.name()));
        TaskSamples tasks = evidence.tasks().executor(ExecutorNames.threadsOf(verdict.name()));
        return (queued > 0 && queued >= HANDED_OVER * excess.account.of(wait)) || (tasks != null && tasks.runs(line));
    }

    private static boolean isFull(PoolVerdict verdict) {
        PoolSnapshot pool = verdict.pool().now();
        PoolSnapshot since = verdict.pool().since();
        boolean full = pool.active() >= pool.max() && (pool.waiting() > 0 || since.callerRuns() > 0);
        return pool.kind() == PoolKind.EXECUTOR && (full || since.refused() > 0);
    }

    private @Nullable PoolVerdict full() {
        return pools.values().stream().filter(PoolText::isFull).findFirst().orElse(null);
    }

    /** Describes a full executor, whose tasks wait for a thread, as a cause. */
    private Told executor(PoolVerdict verdict) {
        PoolSnapshot pool = verdict.pool().now();
        PoolSnapshot since = verdict.pool().since();
        double takings = since.taken() / evidence.seconds();
        double hold = verdict.pool().holdNanos();
        List<String> facts = new ArrayList<>();
        String full = CommonPool.isOne(verdict) ? ForkedWork.fullLooks(evidence.tasks(), excess.samples) : null;
        facts.add(
                full != null
                        ? full
                        : "threads  " + pool.active() + " of " + pool.max() + " busy, " + pool.waiting()
                                + " tasks wait");
        facts.addAll(verdict.facts());
        if (CommonPool.isOne(verdict)) {
            return CommonPool.told(pool, evidence.tasks().executor(ExecutorNames.COMMON_THREADS), facts);
        }
        double usual = verdict.pool().usualHoldNanos();
        boolean slower = usual > 0 && hold > 1.5 * usual;
        return new Told(
                slower ? "SLOW TASKS" : "EXECUTOR TOO SMALL", pool.name(), change(pool, takings, hold, slower), facts);
    }

    /**
     * @param takings the number of tasks that the executor's threads start per second
     * @param hold the mean duration of a task in nanoseconds; negative if unknown
     * @param slower whether tasks take longer than usual
     */
    Change change(PoolSnapshot pool, double takings, double hold, boolean slower) {
        Change batch = slower ? null : moreTasks(pool, takings);
        if (batch != null) {
            return batch;
        }
        String name = "\"" + pool.name() + "\"";
        // The mean duration covers only tasks that have ended. If all threads are busy although the ended tasks need
        // only a few threads, long tasks that have not ended occupy the threads.
        boolean areOccupied =
                pool.active() >= pool.max() && pool.waiting() > 0 && takings * hold / 1e9 < pool.max() / 2.0;
        if (hold < 0 || areOccupied) {
            return Change.of(
                    Where.CODE,
                    "give tasks that wait an executor of their own in place of " + name + ": "
                            + (pool.max() == 1
                                    ? "its only thread is busy"
                                    : "all of its " + pool.max() + " threads are busy")
                            + mostly(pool.name()) + ExecutorSize.hint(pool));
        }
        String tasks = "the tasks of " + name + " take " + Times.millis(hold) + " ms each" + mostly(pool.name());
        if (hold > evidence.targetNanos()) {
            return Change.of(
                    Where.CODE,
                    (slower ? "an executor of its own for the long tasks: " : "") + tasks
                            + "; no number of threads meets the target");
        }
        int wanted = QueueModel.placesFor(takings * hold / 1e9, hold, evidence.targetNanos() / 4.0, 2_000);
        if (slower) {
            String more = wanted > pool.max() && !evidence.machine().isFull()
                    ? ", or " + wanted + " threads in place of " + pool.max()
                    : "";
            return Change.of(Where.CODE, "an executor of its own for the long tasks" + more + ": " + tasks);
        }
        Change change = ExecutorSize.of(pool, wanted, evidence.machine());
        if (change == null && wanted > pool.max()) {
            change = ExecutorSize.moreThreads(pool, wanted);
        }
        return change == null ? Change.of(Where.CODE, tasks + "; no number of threads meets the target") : change;
    }
}
