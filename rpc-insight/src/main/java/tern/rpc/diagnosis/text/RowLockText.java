package tern.rpc.diagnosis.text;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import tern.rpc.Phase;
import tern.rpc.diagnosis.account.OperationNames;
import tern.rpc.diagnosis.cause.Cause.Change;
import tern.rpc.diagnosis.cause.Cause.Where;
import tern.rpc.diagnosis.cause.CauseDescription;
import tern.rpc.diagnosis.excess.Evidence;
import tern.rpc.diagnosis.excess.Operations;
import tern.rpc.diagnosis.excess.QuickExecutions;
import tern.rpc.diagnosis.pool.PoolVerdict;
import tern.rpc.diagnosis.sample.HeldRows;
import tern.rpc.diagnosis.sample.Statements;
import tern.rpc.pool.ApplicationCode;
import tern.rpc.pool.Holders.Holder;

/**
 * Finds the transactions that hold the locks that statements wait for, and creates the cause descriptions for these
 * locks.
 */
final class RowLockText {

    /**
     * A transaction is suspected of holding a row lock if it has run no statement for at least {@value} of the latency
     * target.
     */
    private static final double IDLE_OF_TARGET = 0.1;

    /** A write statement is assumed to wait for a lock if it takes more than {@value} times its usual time. */
    private static final double LOCKED_FACTOR = 20;

    /**
     * An insert is assumed to wait for a lock if it takes more than {@value} times its usual time. Indexes and triggers
     * slow it down less.
     */
    private static final double LOCKED_INSERT_FACTOR = 500;

    /** An insert is assumed to wait for a lock only if it takes at least {@value} times the latency target. */
    private static final double LOCKED_INSERT_TARGETS = 5;

    /**
     * A statement counts as much quicker than a slow statement if the slow one takes at least {@value} times as long.
     */
    private static final double MUCH_QUICKER = 5;

    private final Evidence evidence;
    private final Operations operations;
    private final Map<String, PoolVerdict> pools;

    RowLockText(Evidence evidence, Operations operations, Map<String, PoolVerdict> pools) {
        this.evidence = evidence;
        this.operations = operations;
        this.pools = pools;
    }

    /**
     * Returns the transaction that held a lock most often while one of the given statements waited; null if unknown.
     */
    HeldRows.@Nullable Found holderDuring(Set<String> statements) {
        return statements.stream()
                .map(OperationNames::withoutStatus)
                .map(statement ->
                        evidence.heldRows().holderFor(statement, other -> operations.areOfSameServer(other, statement)))
                .filter(Objects::nonNull)
                .max(Comparator.comparingInt(HeldRows.Found::looks))
                .orElse(null);
    }

    /** Returns the cause description for a lock whose holder is known. */
    static CauseDescription describe(
            String kind, String name, HeldRows.Found holder, String waiting, List<String> facts) {
        List<String> all = new ArrayList<>(facts);
        all.add(holder.fact());
        return new CauseDescription(
                kind,
                name,
                Change.of(
                        Where.CODE,
                        holder.advice() + "; waiting: " + waiting + "; a different pool size does not help"),
                all);
    }

    /**
     * Returns whether a write statement suddenly became many times slower while all other statements kept their usual
     * times. Read statements are ignored, because a slow disk or a bad query plan would also slow them down. An
     * insert must be slower by a far greater factor, because a trigger or an index can also slow it down. It waits for
     * the row that a foreign key refers to, or for another insert with the same key. If the usual times are unknown, the quick executions of the last minutes
     * take their place, and the other statements must be much quicker.
     */
    boolean waitsForLock(String statement, double eachNanos) {
        String lower = statement.toLowerCase(Locale.ROOT);
        if (!Statements.writes(lower) || 2 * eachNanos <= evidence.targetNanos()) {
            return false;
        }
        double usually = operations.usualNamed(Phase.SQL, statement);
        if (Statements.addsRows(lower)) {
            return usually > 0
                    && eachNanos >= LOCKED_INSERT_TARGETS * evidence.targetNanos()
                    && eachNanos > LOCKED_INSERT_FACTOR * usually
                    && operations.othersAreAsUsual(Phase.SQL, statement, eachNanos);
        }
        if (usually <= 0) {
            return QuickExecutions.ofLastMinutes(evidence, statement, eachNanos, LOCKED_FACTOR) >= 0
                    && areOthersQuick(statement, eachNanos);
        }
        return eachNanos > LOCKED_FACTOR * usually && operations.othersAreAsUsual(Phase.SQL, statement, eachNanos);
    }

    /** Returns whether late calls run other statements on the same data source, and all of them are much quicker. */
    private boolean areOthersQuick(String statement, double eachNanos) {
        List<Double> others = operations.each(Phase.SQL).entrySet().stream()
                .filter(other -> !other.getKey().equals(statement)
                        && OperationNames.store(other.getKey()).equals(OperationNames.store(statement)))
                .map(Map.Entry::getValue)
                .toList();
        return !others.isEmpty() && others.stream().allMatch(nanos -> MUCH_QUICKER * nanos <= eachNanos);
    }

    /**
     * Returns the connection that probably holds the lock of the row that a write statement waits for: a connection
     * with an open transaction on the same table.
     */
    @Nullable
    String holderOf(String statement) {
        String lower = statement.toLowerCase(Locale.ROOT);
        if (!Statements.writes(lower)) {
            return null;
        }
        long now = System.nanoTime();
        for (PoolVerdict pool : pools.values()) {
            for (Holder holder : pool.pool().holders()) {
                String last = holder.statement();
                boolean idle = !holder.isExecuting()
                        && now - holder.statementNanos() > IDLE_OF_TARGET * evidence.targetNanos();
                if (last != null
                        && idle
                        && operations.areOfSameServer(last, statement)
                        && holds(lower, last.toLowerCase(Locale.ROOT))) {
                    StackTraceElement place = holder.place();
                    return "shorten the transaction that holds the row"
                            + (place == null ? "" : ", begun in " + ApplicationCode.shown(place))
                            + ": its last statement is " + last + Statements.now(holder);
                }
            }
        }
        return null;
    }

    private static boolean holds(String waiting, String last) {
        if (!Statements.writes(last)) {
            return false;
        }
        Set<String> words = new HashSet<>(List.of(last.split("[^a-z0-9_]+")));
        for (String keyword : List.of("update", "from", "into", "join")) {
            int at = (" " + waiting).indexOf(" " + keyword + " ");
            if (at >= 0) {
                String[] rest = waiting.substring(Math.min(waiting.length(), at + keyword.length()))
                        .strip()
                        .split("[^a-z0-9_]+");
                for (String table : rest) {
                    if (!table.isEmpty()) {
                        return words.contains(table);
                    }
                }
            }
        }
        return false;
    }
}
