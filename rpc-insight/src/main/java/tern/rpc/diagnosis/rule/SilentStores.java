package tern.rpc.diagnosis.rule;

import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import tern.rpc.CallLedger;
import tern.rpc.NamedTimes;
import tern.rpc.Phase;
import tern.rpc.diagnosis.account.EndedCall;
import tern.rpc.diagnosis.account.Part;
import tern.rpc.diagnosis.account.Part.Kind;
import tern.rpc.diagnosis.account.RedisCommands;
import tern.rpc.diagnosis.account.Times;
import tern.rpc.diagnosis.calls.Silence;
import tern.rpc.diagnosis.calls.UsualOperations;
import tern.rpc.diagnosis.data.LargeData;
import tern.rpc.diagnosis.excess.Evidence;
import tern.rpc.diagnosis.excess.ExcessTime;
import tern.rpc.diagnosis.excess.RunningStatements;
import tern.rpc.diagnosis.excess.TimesByCause;
import tern.rpc.diagnosis.failure.FailurePart;
import tern.rpc.diagnosis.failure.FailureText;
import tern.rpc.diagnosis.pool.PeerKinds;
import tern.rpc.diagnosis.pool.PoolVerdict;
import tern.rpc.diagnosis.sample.Statements;
import tern.rpc.diagnosis.stack.StackReader;
import tern.rpc.pool.Holders.Holder;

/**
 * Recognizes a database or Redis server that has stopped answering: several calls are waiting for it, and it has
 * answered no call since they began to wait. A store that is slow, or in which some calls wait for a lock, still
 * answers other calls.
 */
final class SilentStores {

    /** Separates the peer from its failure in the name of a failed peer. */
    private static final String TEXT = ": ";

    private static final int MIN_CALLS = 3;

    /**
     * The minimum wait of a running call for a store (a database or Redis server), as a multiple of the latency target.
     * Shorter waits are ignored.
     */
    private static final int LONG_TARGETS = 10;

    /**
     * If all hanging statements use the same table, or if none of them has a usual time, the cause may be a lock or a
     * slow statement. In these two cases, the waits are attributed to the store only if one of the waiting calls has
     * taken at least {@value} times the latency target.
     */
    private static final int LONG_HANG_TARGETS = 50;

    /**
     * An answer of a store is recorded only when the call that received it ends. The delay is assumed to be at most
     * {@value} times the latency target.
     */
    private static final int RECORDED_TARGETS = 2;

    /** A Redis server that has sent no answer for this long is silent even if a new command has a large reply. */
    private static final long LONG_SILENCE_NANOS = 3_000_000_000L;

    private final Evidence evidence;
    private final ExcessTime excess;
    private final Map<String, PoolVerdict> pools;
    private final PeerKinds kinds;
    private final RunningStatements statements;
    private final LockedTables locked;
    private final AwaitedStores names;
    private final UsualOperations usual;
    private final TimesByCause byCause;

    SilentStores(Evidence evidence, ExcessTime excess, Map<String, PoolVerdict> pools, TimesByCause byCause) {
        this.evidence = evidence;
        this.excess = excess;
        this.pools = pools;
        this.kinds = new PeerKinds(pools);
        this.statements = new RunningStatements(excess);
        this.locked = new LockedTables(evidence, excess);
        this.names = new AwaitedStores(evidence, pools);
        this.usual = new UsualOperations(evidence.usual());
        this.byCause = byCause;
    }

    /**
     * A call that is waiting for a store, or whose wait for a store ended with a timeout. {@code atPool} is true if the
     * call waited mostly for a connection.
     */
    private record Waiting(EndedCall call, boolean atPool) {}

    /**
     * Finds databases and Redis servers that have stopped answering, and attributes all waits for such a server to the
     * server itself.
     *
     * @return the failures of these servers, by the kind of their operations
     */
    Map<Kind, Part> apply() {
        Map<Kind, Part> silent = new EnumMap<>(Kind.class);
        Silence known = evidence.answers().silence();
        for (Kind store : List.of(Kind.SQL, Kind.REDIS)) {
            Map<String, List<Waiting>> byName = waiting(store);
            Set<String> names = new TreeSet<>(byName.keySet());
            names.addAll(known.names(store));
            names.forEach(name -> {
                List<Waiting> waiting = byName.getOrDefault(name, List.of());
                Long answered = evidence.answers().of(store, name);
                boolean isNew = waiting.size() >= MIN_CALLS && isPossible(store, name, waiting);
                if (answered != null && (isNew || known.lasts(store, name, answered))) {
                    known.found(store, name, answered);
                    Part failure = failing(store, name);
                    silent.put(store, failure);
                    pourAll(store, name, failure, since(answered));
                }
            });
        }
        for (Part part : byCause.longestFirst()) {
            if (isUnmeasured(part)) {
                passOnUnmeasured(part);
            }
        }
        return silent;
    }

    /**
     * Returns the calls that have waited for a long time for a store of the given kind, if the store has not answered
     * since the calls began. The key is the name of the data source or of the Redis server; it is empty if there is
     * only one.
     */
    private Map<String, List<Waiting>> waiting(Kind store) {
        Map<String, List<Waiting>> byName = new TreeMap<>();
        for (ExcessTime.Counted counted : excess.accounts) {
            EndedCall call = counted.call();
            CallLedger ledger = call.ledger();
            String name = names.awaitedBy(call, store);
            Long answered = evidence.answers().of(store, name);
            if (answered == null) {
                continue;
            }
            double waited = counted.times()
                    .sum(part -> kinds.of(part, ledger) == store
                            && !part.name().startsWith(StackReader.CALLED)
                            && names.mayBeOf(part, name));
            boolean isRunning = isRunning(call) && PeerKinds.of(ledger.phase()) == store;
            boolean hangs = isRunning
                    ? waited >= LONG_TARGETS * (double) evidence.targetNanos()
                    : waited >= evidence.targetNanos() && 2 * waited >= call.tookNanos() && hasGivenUp(call);
            if (hangs && isAfter(call, answered)) {
                byName.computeIfAbsent(name, unknown -> new ArrayList<>())
                        .add(new Waiting(call, isAtPool(counted, store)));
            }
        }
        return byName;
    }

    private static boolean isRunning(EndedCall call) {
        return call.failure() == null && !call.ledger().isEnded();
    }

    /**
     * Returns whether the call ended because of a timeout, because a pool had no connection for it, or because of a
     * failure that shows no other reason.
     */
    private static boolean hasGivenUp(EndedCall call) {
        Part failure = call.failure() == null ? null : FailurePart.of(call);
        return call.failure() != null && (failure == null || failure.kind() == Kind.POOL || isVague(failure));
    }

    /** Returns whether the failure of a store shows only that a client could not use it. */
    private static boolean isVague(Part failure) {
        String name = failure.name();
        return failure.kind() == Kind.PEER_FAILS
                && !FailureText.isSpecific(name.substring(name.lastIndexOf(TEXT) + TEXT.length()));
    }

    /**
     * Returns whether the last answer of the store came before the call began, or so shortly after its beginning that
     * the answer may have been recorded late.
     */
    private boolean isAfter(EndedCall call, long answeredNanos) {
        return answeredNanos - call.startedNanos() <= RECORDED_TARGETS * evidence.targetNanos();
    }

    /** Returns whether the call has waited longer for a connection than for operations. */
    private boolean isAtPool(ExcessTime.Counted counted, Kind store) {
        Times times = counted.times();
        return times.sum(part -> part.kind() == Kind.POOL
                        && kinds.of(part, counted.call().ledger()) == store)
                > times.sum(store);
    }

    /**
     * Returns whether the store itself is the likely cause. Returns false if the use of its connections, a lock, or
     * slow statements or commands may be the cause.
     */
    private boolean isPossible(Kind store, String name, List<Waiting> waiting) {
        long operations = waiting.stream().filter(call -> !call.atPool).count();
        List<PoolVerdict> known = names.poolsOf(store, name);
        boolean opens = !known.isEmpty();
        int size = MIN_CALLS;
        boolean anyHangs = false;
        for (PoolVerdict pool : known) {
            boolean hangs = hangInStatements(pool);
            anyHangs |= hangs;
            if ((pool.isHeld() && !hangs) || pool.reason() == PoolVerdict.Reason.NESTED) {
                return false;
            }
            opens &= switch (pool.reason()) {
                case OPENING, CHECKING -> true;
                // The connections of a full pool are in use. If no call uses them, they are lost.
                case UNKNOWN ->
                    store != Kind.REDIS
                            || pool.pool().now().active() < pool.pool().now().effectiveMax();
                default -> false;
            };
            size = Math.min(size, Math.max(1, pool.pool().now().effectiveMax()));
        }
        boolean hang = operations >= size || anyHangs;
        return (hang || opens)
                && (store == Kind.REDIS ? !areBlocking(name) : !areSlow(waiting) && !locked.isAnswering(name));
    }

    /**
     * Returns whether at least half of the pool's connections are in use by statements of calls that have been running
     * for a long time. The calls may have ended at their deadlines, so their connections seem to be lost or to be held
     * outside of calls. If the threads are virtual, only their connections show the hanging statements, because their
     * stacks cannot be read. Returns false if the statements may wait for a lock.
     */
    private boolean hangInStatements(PoolVerdict pool) {
        long now = now();
        List<Holder> hanging = pool.pool().holders().stream()
                .filter(holder -> holder.isExecuting() && holder.call().isOpen())
                .filter(holder -> now - holder.sinceNanos() >= LONG_TARGETS * evidence.targetNanos())
                .toList();
        Map<String, Long> known = new TreeMap<>();
        for (Holder holder : hanging) {
            String statement = holder.statement();
            if (statement != null) {
                known.merge(statement, now - holder.sinceNanos(), Math::max);
            }
        }
        return !known.isEmpty()
                && 2 * hanging.size() >= Math.max(1, pool.pool().now().active())
                && !areSlow(known);
    }

    /**
     * Returns whether the hanging statements themselves may explain why calls wait for the database. There are two
     * cases. In the first case, all hanging statements may wait for a row lock or for the database's log. In the second
     * case, no hanging statement has hung for very long, and all hanging statements use the same table or have no usual
     * time.
     */
    private boolean areSlow(List<Waiting> waiting) {
        Map<String, Long> known = new TreeMap<>();
        for (Waiting one : waiting) {
            String statement = statements.of(one.call);
            if (statement != null) {
                known.merge(statement, one.call.tookNanos(), Math::max);
            }
        }
        return areSlow(known);
    }

    /** @param known the hanging statements, each with its longest time in nanoseconds */
    private boolean areSlow(Map<String, Long> known) {
        Set<String> tables = new TreeSet<>();
        long longest = 0;
        for (Map.Entry<String, Long> entry : known.entrySet()) {
            String table = Statements.table(entry.getKey());
            tables.add(table == null ? entry.getKey() : table);
            longest = Math.max(longest, entry.getValue());
        }
        boolean isShort = longest < LONG_HANG_TARGETS * evidence.targetNanos();
        boolean areNew = known.keySet().stream().noneMatch(statement -> usual.each(Phase.SQL, statement) >= 0);
        return !known.isEmpty()
                && ((isShort && (tables.size() == 1 || areNew))
                        || known.keySet().stream().allMatch(Statements::mayWait));
    }

    /**
     * Returns whether late calls run commands that wait for data or block the server. A command with a large reply
     * blocks the server and the thread that reads the reply. A new command that reads a whole collection may have a
     * large reply that has never arrived in time; a server that has answered nothing for a while is silent anyway.
     */
    private boolean areBlocking(String store) {
        Long answered = evidence.answers().of(Kind.REDIS, store);
        boolean isQuiet = answered == null || now() - answered > LONG_SILENCE_NANOS;
        return excess.accounts.stream()
                .flatMap(counted -> commands(counted.call().ledger()))
                .anyMatch(name -> RedisCommands.isBlocking(name)
                        || RedisCommands.stopsServer(name)
                        || LargeData.isNewlyLarge(name, evidence)
                        || (!isQuiet && RedisCommands.readsAll(name) && usual.each(Phase.REDIS, name) < 0));
    }

    /** Returns the Redis commands that the call has run, and the one that it is running. */
    private static Stream<String> commands(CallLedger call) {
        Stream<String> ended = Stream.concat(call.named().stream(), call.unfinished().stream())
                .filter(entry -> PeerKinds.of(entry.kind()) == Kind.REDIS)
                .map(NamedTimes.Entry::name);
        return Stream.concat(ended, Stream.ofNullable(call.running(Phase.REDIS)));
    }

    /** Returns the time when the last of the late calls ended. */
    private long now() {
        return evidence.bad().stream().mapToLong(EndedCall::endedNanos).max().orElse(0);
    }

    /**
     * Returns the failure that explains the waits for the store. The failure's name comes from the exceptions of other
     * calls. If their exceptions show no reason, the failure's name contains {@link Part#SILENT}.
     */
    private Part failing(Kind store, String name) {
        Part known = failuresOf(store, name).stream()
                .filter(part -> !isVague(part))
                .findFirst()
                .orElse(null);
        return known != null ? known : new Part(Kind.PEER_FAILS, names.shown(store, name) + TEXT + Part.SILENT);
    }

    /** Returns the failures of the given store, most expensive first. */
    private List<Part> failuresOf(Kind store, String name) {
        return byCause.longestFirst().stream()
                .filter(part -> part.kind() == Kind.PEER_FAILS && isOf(store, name, part))
                .toList();
    }

    private boolean isOf(Kind store, String name, Part failure) {
        return excess.accounts.stream()
                .map(ExcessTime.Counted::call)
                .anyMatch(call -> failure.equals(excess.failureOf(call))
                        && PeerKinds.of(FailurePart.phase(call)) == store
                        && names.awaitedBy(call, store).equals(name));
    }

    private void pourAll(Kind store, String name, Part silent, String since) {
        Times one = new Times();
        one.add(silent, 1);
        failuresOf(store, name).stream()
                .filter(part -> isVague(part) && !part.equals(silent))
                .forEach(part -> byCause.pour(part, one, "calls fail: " + part.name()));
        for (Part part : byCause.longestFirst()) {
            boolean waits = part.kind() == Kind.POOL ? kinds.ofPool(part) == store : part.kind() == store;
            if (waits && !part.name().startsWith(StackReader.CALLED) && names.mayBeOf(part, name)) {
                PoolVerdict pool = part.kind() == Kind.POOL ? PoolVerdict.find(pools, part) : null;
                String answer = part.name().isEmpty() ? "an answer" : "the answer of " + part.name();
                byCause.pour(part, one, TimesByCause.WAIT_FOR + (pool == null ? answer : pool.resource()) + since);
            }
        }
    }

    /** Returns text that says for how long the store has not answered. */
    private String since(@Nullable Long answered) {
        return answered == null
                ? ""
                : String.format(Locale.ROOT, ", and none came in the last %.1f s", (now() - answered) / 1e9);
    }

    /** Returns whether the given wait is a wait for a store whose client Tern does not measure. */
    private static boolean isUnmeasured(Part part) {
        boolean isCalled = part.name().startsWith(StackReader.CALLED);
        return part.kind() == Kind.SOCKET || (isCalled && (part.kind() == Kind.SQL || part.kind() == Kind.REDIS));
    }

    private void passOnUnmeasured(Part part) {
        List<Waiting> waiting = new ArrayList<>();
        for (ExcessTime.Counted counted : excess.accounts) {
            EndedCall call = counted.call();
            Long answered = evidence.answers().of(call.method());
            if (isRunning(call)
                    && answered != null
                    && counted.times().of(part) >= LONG_TARGETS * (double) evidence.targetNanos()
                    && isAfter(call, answered)) {
                waiting.add(new Waiting(call, false));
            }
        }
        if (waiting.size() < MIN_CALLS) {
            return;
        }
        Part known = failuresOf(part.kind(), "").stream().findFirst().orElse(null);
        String name = switch (part.kind()) {
            case SQL -> "database " + part.name();
            case REDIS -> "Redis " + part.name();
            default -> "peer of " + part.name();
        };
        Long answered = evidence.answers().of(waiting.get(0).call.method());
        Times one = new Times();
        one.add(known != null ? known : new Part(Kind.PEER_FAILS, name + TEXT + Part.SILENT), 1);
        byCause.pour(part, one, TimesByCause.WAIT_FOR + "an answer" + since(answered));
    }
}
