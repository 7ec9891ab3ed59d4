package tern.rpc.diagnosis.text;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import tern.rpc.NamedTimes;
import tern.rpc.Phase;
import tern.rpc.diagnosis.account.EndedCall;
import tern.rpc.diagnosis.account.OperationNames;
import tern.rpc.diagnosis.account.Part;
import tern.rpc.diagnosis.account.Part.Kind;
import tern.rpc.diagnosis.account.RedisCommands;
import tern.rpc.diagnosis.account.Times;
import tern.rpc.diagnosis.cause.Cause.Change;
import tern.rpc.diagnosis.cause.Cause.Where;
import tern.rpc.diagnosis.cause.CauseDescription;
import tern.rpc.diagnosis.excess.Evidence;
import tern.rpc.diagnosis.excess.ExcessTime;
import tern.rpc.diagnosis.excess.Operations;
import tern.rpc.diagnosis.failure.FailurePart;
import tern.rpc.diagnosis.pool.PoolVerdict;
import tern.rpc.diagnosis.pool.StalledServers;
import tern.rpc.diagnosis.remedy.Remedy;
import tern.rpc.diagnosis.rule.OtherTasks;
import tern.rpc.diagnosis.sample.CommonPool;
import tern.rpc.diagnosis.sample.TaskSamples;
import tern.rpc.diagnosis.sample.TaskWatch;
import tern.rpc.pool.ApplicationCode;
import tern.rpc.pool.OutsideOperations;
import tern.rpc.pool.PoolKind;
import tern.rpc.pool.PoolSetting;
import tern.rpc.pool.PoolSnapshot;

/** Creates the cause descriptions for waits for connections and executor threads, and recommends pool sizes. */
final class PoolText {

    /**
     * The code is assumed to close HTTP connections after each use if no connection is idle and the exchanges keep less
     * than {@value} of the open connections busy on average. At least one connection is assumed to be open.
     */
    private static final double UNKEPT = 0.5;

    /**
     * Connections count as closed after each use only if at least {@value} were taken from the pool in the observed
     * period. For HTTP pools, the required number is multiplied by the number of connections in use.
     */
    private static final int MIN_UNKEPT = 20;

    /**
     * The code is assumed to close connections to a database or Redis server after each use if no connection is idle
     * and the operations keep less than {@value} of the pool busy on average.
     */
    private static final double FEW = 0.1;

    /**
     * Connections count as closed after each use only after calls have missed the latency target for this long. Until
     * then, the pool may still be opening its first connections.
     */
    private static final long MIN_UNKEPT_NANOS = TimeUnit.SECONDS.toNanos(10);

    private static final String STREAMS =
            ", such as streams (server-sent events) and answers that are not read to the end";
    private static final String SEPARATE = ", or use a separate pool for it";

    private final Evidence evidence;
    private final ExcessTime excess;
    private final Remedy remedy;
    private final Map<String, PoolVerdict> pools;
    private final Operations operations;
    private final ExecutorText executors;

    PoolText(
            Evidence evidence,
            ExcessTime excess,
            Map<String, PoolVerdict> pools,
            Operations operations,
            ExecutorText executors) {
        this.evidence = evidence;
        this.excess = excess;
        this.pools = pools;
        this.operations = operations;
        this.executors = executors;
        this.remedy = new Remedy(evidence);
    }

    CauseDescription pool(Part part) {
        PoolVerdict verdict = PoolVerdict.find(pools, part);
        if (verdict == null) {
            UnknownPoolText unknown = new UnknownPoolText(excess);
            return new CauseDescription(
                    unknown.kind(part), part.name(), unknown.change(part, executors.mostly(part.name())), List.of());
        }
        String name = "\"" + verdict.name() + "\"";
        String place = verdict.place() == null ? takers(verdict.pool().now().kind()) : verdict.place();
        boolean asUsual =
                verdict.reason() == PoolVerdict.Reason.SLOW_TO_USE || verdict.reason() == PoolVerdict.Reason.UNKNOWN;
        boolean isExecutor = verdict.pool().now().kind() == PoolKind.EXECUTOR;
        OtherTasks others = new OtherTasks(evidence, excess, operations);
        if (isExecutor && others.occupy(verdict)) {
            return others.describe(verdict);
        }
        if (isExecutor && (asUsual || CommonPool.isOne(verdict))) {
            return executors.executor(verdict);
        }
        boolean asksServer =
                verdict.reason() == PoolVerdict.Reason.OPENING || verdict.reason() == PoolVerdict.Reason.CHECKING;
        if (asksServer
                && !areConnectionsLost()
                && StalledServers.isOne(
                        evidence.trace(), verdict.pool().now().kind(), (double) evidence.targetNanos())) {
            return stalled(verdict);
        }
        return switch (verdict.reason()) {
            case LEAKED ->
                new CauseDescription(
                        "NOT GIVEN BACK",
                        verdict.name(),
                        Change.of(Where.CODE, "close the connection in " + place + "; no size of " + name + " helps"),
                        verdict.facts());
            case NESTED ->
                new CauseDescription(
                        "NESTED CONNECTIONS",
                        verdict.name(),
                        Change.of(
                                Where.CODE,
                                "use one connection per call: calls that hold a connection of " + name
                                        + " wait for a second one, as a new transaction (REQUIRES_NEW) within another"
                                        + " one does in " + place + "; otherwise the pool needs more connections than"
                                        + " there are concurrent calls"),
                        verdict.facts());
            case HELD_BY_OTHERS ->
                new CauseDescription(
                        "HELD BY OTHERS", verdict.name(), Change.of(Where.CODE, others(verdict)), verdict.facts());
            case CHECKING ->
                new CauseDescription(
                        "CONNECTIONS CHECKED SLOWLY",
                        verdict.name(),
                        Change.of(
                                Where.PEER,
                                "connections of " + name + " are free, but borrowing one is slow: " + check(verdict)
                                        + "; check idle connections in the background. No pool size helps"),
                        verdict.facts());
            case OPENING ->
                new CauseDescription(
                        "CONNECTIONS OPEN SLOWLY",
                        verdict.name(),
                        Change.of(
                                Where.PEER,
                                unkept(verdict)
                                        + "find out why new connections of " + name
                                        + " take so long: check the server's limit of connections, its name lookup, TLS"
                                        + " and the network"),
                        verdict.facts());
            case TOO_SMALL -> tooSmall(part, verdict);
            case FAIR -> fair(verdict);
            case SLOW_TO_USE, UNKNOWN ->
                new CauseDescription(
                        "WAIT AT POOL",
                        verdict.name(),
                        Change.of(
                                Where.UNKNOWN,
                                "do not change the size: the pool has free connections; check the next cause"),
                        verdict.facts());
        };
    }

    /**
     * Returns whether calls failed because connections to a database were lost. A pool then opens many connections at
     * once, and calls wait for them although the server answers.
     */
    private boolean areConnectionsLost() {
        return excess.accounts.stream()
                .map(counted -> excess.failureOf(counted.call()))
                .anyMatch(failure -> failure != null
                        && failure.kind() == Part.Kind.PEER_FAILS
                        && failure.name().contains(Part.LOST));
    }

    /** Describes a server that stops answering from time to time, so that calls get no connection to it. */
    private CauseDescription stalled(PoolVerdict verdict) {
        boolean isDatabase = verdict.isDatabase();
        String server = (isDatabase ? "the database of \"" : "the Redis server of \"") + verdict.name() + "\"";
        List<String> facts = new ArrayList<>(verdict.facts());
        facts.add("stops    while calls wait for a connection, hardly any other call gets one");
        return new CauseDescription(
                isDatabase ? "SLOW DATABASE" : "SLOW REDIS",
                verdict.name(),
                Change.of(
                        Where.PEER,
                        (isDatabase
                                        ? "find out what stops " + server
                                                + " for moments: its log, a backup, or a pause" + " of its machine"
                                        : "find the command or script that blocks " + server
                                                + " for moments (SLOWLOG GET, INFO commandstats), which any client may"
                                                + " have sent")
                                + "; new connections, and checks of open ones, wait for the server meanwhile, so no"
                                + " size of the pool helps"),
                facts);
    }

    /** Returns advice that names the settings for checking connections before the pool lends them. */
    private static String check(PoolVerdict verdict) {
        String settings = verdict.pool().now().settings().stream()
                .filter(setting -> setting.use() == PoolSetting.Use.CHECK)
                .map(setting -> setting.property() + "=" + setting.value())
                .collect(Collectors.joining(", "));
        return settings.isEmpty()
                ? "make the check before each use quick (test on borrow, validation query), or check the network"
                : "the pool checks each connection before each use (" + settings + "), so make this check quick";
    }

    /**
     * Returns the advice to keep connections open if a few open connections would be enough for all uses; empty
     * otherwise. If no HTTP connection is idle, the connections are closed soon after their use.
     */
    private String unkept(PoolVerdict verdict) {
        PoolSnapshot now = verdict.pool().now();
        long taken = verdict.pool().since().taken();
        double needed = taken * verdict.pool().holdNanos() / 1e9 / evidence.seconds();
        if (needed < 0 || taken < MIN_UNKEPT) {
            return "";
        }
        if (now.kind() == PoolKind.HTTP) {
            boolean isUnkept = now.idle() == 0
                    && needed < UNKEPT * Math.max(1, now.active())
                    && taken >= MIN_UNKEPT * now.active();
            return isUnkept
                    ? "keep connections open: nearly every exchange opens a new one, because the client or the server"
                            + " closes it afterwards (Connection: close, no keep-alive); then "
                    : "";
        }
        return needed < FEW * now.effectiveMax() && evidence.missedNanos() >= MIN_UNKEPT_NANOS
                ? "find out why connections of this pool are closed so soon: code that evicts them, a limit of"
                        + " their uses or their age (in HikariCP max-lifetime, in Druid phy-max-use-count,"
                        + " phy-timeout-millis), a check that fails, or the server; then "
                : "";
    }

    /** Returns the advice for connections that are held outside of calls. */
    private String others(PoolVerdict verdict) {
        PoolVerdict.User user = verdict.user();
        String place = verdict.place() == null ? "the code that takes them" : verdict.place();
        if (user == null) {
            return "give the connection back sooner in "
                    + sampledUser(verdict.pool().now().kind(), place);
        }
        String by = place + " (thread " + user.threads() + "*)";
        if (user.operation() != null && RedisCommands.isBlocking(user.operation())) {
            return "use a client with separate connections for the blocking command " + user.operation() + " in " + by
                    + ": it keeps a connection of \"" + verdict.name() + "\" while it waits; a larger pool does not"
                    + " help for long";
        }
        return "give the connection back sooner in " + by + SEPARATE
                + (user.operation() == null ? "" : ": " + user.operation());
    }

    /**
     * Returns text that names the likely user of the connections: threads that serve no call and were most often found
     * in operations of the pool's kind. The text also contains their code and their longest operation. HTTP connection
     * pools do not record who uses a connection.
     *
     * @param unknown the text if no such thread was found
     */
    private String sampledUser(PoolKind pool, String unknown) {
        Kind kind = pool == PoolKind.REDIS ? Kind.REDIS : Kind.HTTP;
        String threads = evidence.tasks().mostOftenIn(kind);
        TaskSamples found = threads == null ? null : evidence.tasks().executor(threads);
        StackTraceElement line = found == null ? null : found.lineIn(kind);
        if (threads == null || line == null || pool == PoolKind.JDBC) {
            return unknown + (pool == PoolKind.HTTP ? STREAMS : "") + SEPARATE;
        }
        String longest = evidence.outside().stream()
                .filter(operation -> operation.kind() == Operations.phase(kind)
                        && TaskWatch.nameOf(operation.threadName()).equals(threads))
                .max(Comparator.comparingDouble(OutsideOperations.Timed::nanos))
                .map(operation -> ": " + operation.name() + " takes " + Times.millis(operation.nanos()) + " ms")
                .orElse("");
        return ApplicationCode.shown(line) + " (thread " + threads + "*)" + SEPARATE + longest;
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
        String failing = line == null && kind == PoolKind.HTTP ? failedExchange() : null;
        if (failing != null) {
            return "the code that sends " + failing;
        }
        StackTraceElement seen = line == null ? waiting : line;
        // The stacks of virtual threads cannot be read, but the exceptions of refused calls show who asks.
        String place = seen == null ? refusedIn(kind) : ApplicationCode.shown(seen);
        return place == null ? "the code that takes them" : "the code that takes them, such as " + place;
    }

    /** Returns a line in which a call failed because it got no connection; null if there is none. */
    private @Nullable String refusedIn(PoolKind kind) {
        return excess.accounts.stream()
                .filter(counted -> counted.times().sum(part -> isOf(kind, part)) > 0)
                .map(counted -> FailurePart.placeOf(counted.call()))
                .filter(Objects::nonNull)
                .findFirst()
                .orElse(null);
    }

    private boolean isOf(PoolKind kind, Part part) {
        PoolVerdict verdict = part.kind() == Kind.POOL ? PoolVerdict.find(pools, part) : null;
        return verdict != null && verdict.pool().now().kind() == kind;
    }

    /**
     * Returns the exchange that failed most often in the last minutes; null if there is none. Code often does not close
     * the answers of such exchanges.
     */
    private @Nullable String failedExchange() {
        Times failed = new Times();
        for (EndedCall call : evidence.earlier()) {
            for (NamedTimes.Entry entry : call.ledger().named()) {
                if (entry.kind() == Phase.HTTP && OperationNames.isFailing(entry.name())) {
                    failed.add(new Part(Kind.HTTP, entry.name()), entry.count());
                }
            }
        }
        return failed.isEmpty() ? null : failed.longestFirst().get(0).name();
    }

    private CauseDescription fair(PoolVerdict verdict) {
        PoolSetting setting =
                verdict.pool().now().setting(PoolSetting.Use.FAIRNESS).orElse(null);
        return new CauseDescription(
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
                        : Change.of(Where.CODE, "use an unfair lock for the pool \"" + verdict.name() + "\""),
                verdict.facts());
    }

    private CauseDescription tooSmall(Part part, PoolVerdict verdict) {
        Times account = excess.accountOfCallsWith(part);
        double rest =
                account.sum() - account.of(part) - account.of(Part.of(Kind.QUEUE)) - waitsForThreads(part, account);
        double room = evidence.targetNanos() - rest;
        int size = room <= 0 ? -1 : verdict.sizeFor(evidence.seconds(), room);
        PoolSnapshot pool = verdict.pool().now();
        PoolSetting.Use use = FormerSize.use(pool);
        boolean threads = pool.kind() == PoolKind.EXECUTOR;
        Change more = threads && !verdict.isSlower()
                ? executors.moreTasks(pool, verdict.pool().since().taken() / evidence.seconds())
                : null;
        Change change = more != null
                ? more
                : size < 0
                        ? null
                        : threads
                                ? ExecutorSize.of(pool, size, evidence.machine())
                                : property(remedy.of(verdict.pool(), use, size));
        // If connections are also held for longer than usual, the former size of the pool may be sufficient, even if
        // more connections are needed at the moment.
        boolean isHeldLonger = !threads && verdict.isSlower();
        Change former = more == null ? FormerSize.of(verdict.pool(), isHeldLonger ? 0 : size, change) : null;
        if (former != null) {
            change = isHeldLonger
                    ? Change.of(former.where(), former.text() + "; they are also held for longer than usual")
                    : former;
        } else if (change == null && size > pool.max() && threads) {
            change = ExecutorSize.moreThreads(pool, size);
        } else if (change == null && size >= 0) {
            change = Change.of(
                    Where.CODE,
                    (threads ? "allow more threads in \"" : "allow more connections in \"") + verdict.name()
                            + "\"" + FormerSize.setting(pool)
                            + ", or use it less often per call; no size is recommended, because"
                            + " the replay of these calls does not confirm one");
        } else if (change == null && room > 0 && !threads && pool.setting(use).isEmpty()) {
            change = Change.of(
                    Where.CODE,
                    "allow more connections in \"" + verdict.name() + "\""
                            + (pool.kind() == PoolKind.HTTP
                                    ? " (maxConnections of the client's ConnectionProvider)"
                                    : "")
                            + ", or hold each for less time: " + use(verdict)
                            + "; no size is recommended, because no property for it is known");
        } else if (change == null) {
            String longest = longestWithout(part, account);
            change = Change.of(
                    Where.CODE,
                    room > 0 && pool.setting(use).isPresent()
                            ? "hold " + verdict.resource() + " for less time: " + use(verdict)
                                    + " are too many for a pool of any size"
                            : "no size of \"" + verdict.name() + "\" meets the target: a call needs "
                                    + Times.millis(rest) + " ms without any wait"
                                    + (longest == null ? "" : ", most of it in " + longest));
        }
        return new CauseDescription(
                threads ? "EXECUTOR TOO SMALL" : "POOL TOO SMALL", verdict.name(), change, verdict.facts());
    }

    /**
     * Returns the time that calls wait for full executors. If these executors are full because the pool has too few
     * connections, these waits also end when the pool has enough connections.
     */
    private double waitsForThreads(Part connections, Times account) {
        return account.sum(part -> {
            boolean isOther = part.kind() == Kind.POOL && !part.equals(connections);
            PoolVerdict pool = isOther ? PoolVerdict.find(pools, part) : null;
            return pool != null && pool.pool().now().kind() == PoolKind.EXECUTOR;
        });
    }

    private String use(PoolVerdict verdict) {
        return String.format(
                Locale.ROOT,
                "%.0f uses per second of %s ms each",
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
}
