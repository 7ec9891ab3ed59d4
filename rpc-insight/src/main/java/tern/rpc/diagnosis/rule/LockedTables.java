package tern.rpc.diagnosis.rule;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Predicate;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import tern.rpc.Phase;
import tern.rpc.diagnosis.account.EndedCall;
import tern.rpc.diagnosis.account.OperationNames;
import tern.rpc.diagnosis.account.Part.Kind;
import tern.rpc.diagnosis.account.Times;
import tern.rpc.diagnosis.cause.Cause.Change;
import tern.rpc.diagnosis.cause.Cause.Where;
import tern.rpc.diagnosis.excess.Evidence;
import tern.rpc.diagnosis.excess.ExcessTime;
import tern.rpc.diagnosis.excess.RunningStatements;
import tern.rpc.diagnosis.sample.Statements;

/**
 * Finds a locked table: running statements on one table hang, while the database answers other statements. As soon as
 * the hanging statements occupy all connections, the database gets no other statements. The database then seems to be
 * dead. Therefore this class checks whether the database has answered since the first statement began to hang. If it has
 * not, the table counts as locked only if statements on other tables would very likely hang in a dead database, too.
 */
public final class LockedTables {

    private static final int MIN_CALLS = 3;

    /**
     * A table can be the locked table only if at least {@value} of the hanging statements use it. Other statements may
     * hang for a different reason.
     */
    private static final double MOST = 0.8;

    /**
     * A database may still answer some statements after the first statement hangs, and then stop answering. This is the
     * maximum time between the first hanging and the last answered statement, as a multiple of the latency target.
     */
    private static final double MARGIN_TARGETS = 0.5;

    /**
     * The maximum time between the answer of a database and the end of the call that received the answer, as a multiple
     * of the latency target. An answer is recorded only when its call ends.
     */
    private static final double RECORDED_TARGETS = 2;

    /**
     * If the database has answered nothing since the first statement hangs, a table counts as locked only if the
     * probability that all calls hang on this table in a dead database is at most {@value}.
     */
    private static final double CHANCE = 0.05;

    /** The views in which databases show which session holds a lock. */
    static final String SESSIONS = "PostgreSQL: pg_blocking_pids(pid) in pg_stat_activity; MySQL and MariaDB:"
            + " sys.schema_table_lock_waits, performance_schema.metadata_locks";

    private final Evidence evidence;
    private final ExcessTime excess;
    private final RunningStatements statements;

    public LockedTables(Evidence evidence, ExcessTime excess) {
        this.evidence = evidence;
        this.excess = excess;
        this.statements = new RunningStatements(excess);
    }

    /** A call that executes a statement, and the time when the statement began. */
    private record Hanging(EndedCall call, String statement, long begunNanos) {

        boolean uses(String table) {
            return Statements.tables(statement).contains(table);
        }
    }

    /**
     * A table, and the statements that wait for it.
     *
     * @param sinceNanos the time when the first of them began
     * @param answers the evidence that the database answers statements on other tables
     */
    private record Locked(
            String table, Set<String> statements, int calls, long sinceNanos, long longestNanos, String answers) {}

    /**
     * Returns whether the statements that hang in the given data source wait for a locked table or for locked rows of
     * one table. Returns false if nothing shows that the database would answer other statements.
     *
     * @param store the data source; empty if there is only one
     */
    boolean isAnswering(String store) {
        return find(store) != null;
    }

    /**
     * Returns the statements that hang for the same reason as the given statement, including the given statement.
     * Returns an empty set if the statement does not wait for a lock.
     */
    Set<String> hangingWith(String statement) {
        Locked locked = find(OperationNames.store(statement));
        return locked == null || !locked.statements().contains(statement) || isAnswered(locked)
                ? Set.of()
                : locked.statements();
    }

    private @Nullable Locked find(String store) {
        List<Hanging> hanging = hanging(store);
        String table = tableOf(hanging);
        String answers = table == null ? "" : answers(store, table, hanging);
        if (table == null || answers.isEmpty()) {
            return null;
        }
        Set<String> names = new TreeSet<>();
        long since = Long.MAX_VALUE;
        long longest = 0;
        for (Hanging one : hanging) {
            if (one.uses(table)) {
                names.add(one.statement());
                since = Math.min(since, one.begunNanos());
                longest = Math.max(longest, one.call().endedNanos() - one.begunNanos());
            }
        }
        return new Locked(table, names, count(hanging, one -> one.uses(table)), since, longest, answers);
    }

    /** Returns the evidence that the database answers statements on other tables; empty if there is none. */
    private String answers(String store, String table, List<Hanging> hanging) {
        if (hasAnsweredMeanwhile(store, hanging)) {
            return "the database answered other statements meanwhile";
        }
        double share = evidence.usual()
                .runs()
                .shareOfCalls(
                        Phase.SQL, name -> OperationNames.store(name).equals(store), name -> mayWaitFor(table, name));
        boolean areOthers = hanging.stream().anyMatch(one -> !mayWaitFor(table, one.statement()));
        // If calls usually do not use the table, they run new statements, and their usual statements prove nothing.
        return areOthers || share <= 0 || Math.pow(share, hanging.size()) > CHANCE
                ? ""
                : String.format(
                        Locale.ROOT,
                        "no read of another table hangs, and %.0f %% of the calls usually run only such reads",
                        100 * (1 - share));
    }

    /**
     * Returns whether the statement may wait for a lock on the table. A statement that writes to another table may wait
     * for it, too, because of a foreign key or a trigger.
     */
    private static boolean mayWaitFor(String table, String statement) {
        return Statements.tables(statement).contains(table) || Statements.isWrite(statement);
    }

    /**
     * Returns whether statements on the table only seem to hang, because the database has answered one of them. This is
     * the case if a call that began later has completed such a statement much sooner than the others. The statements
     * are then slow for another reason, for example because an index is missing.
     */
    private boolean isAnswered(Locked locked) {
        return Stream.concat(evidence.bad().stream(), evidence.good().stream())
                .filter(call -> call.failure() == null
                        && call.ledger().isEnded()
                        && call.startedNanos() - locked.sinceNanos() > MARGIN_TARGETS * evidence.targetNanos())
                .flatMap(call -> call.ledger().named().stream())
                .anyMatch(entry -> entry.kind() == Phase.SQL
                        && 2 * entry.nanos() < locked.longestNanos() * entry.count()
                        && Statements.tables(entry.name()).contains(locked.table()));
    }

    /** Returns the calls that have been executing a statement of the data source for longer than the latency target. */
    private List<Hanging> hanging(String store) {
        List<Hanging> hanging = new ArrayList<>();
        for (ExcessTime.Counted counted : excess.accounts) {
            String statement = statements.of(counted.call());
            double spent = statements.nanos(counted);
            if (statement != null
                    && spent >= evidence.targetNanos()
                    && OperationNames.store(statement).equals(store)) {
                hanging.add(
                        new Hanging(counted.call(), statement, counted.call().endedNanos() - (long) spent));
            }
        }
        return hanging;
    }

    /**
     * Returns the table that nearly all hanging statements use. If there are several, returns the one that most of
     * these statements name first. Returns null if there is none.
     */
    private static @Nullable String tableOf(List<Hanging> hanging) {
        Set<String> tables = new TreeSet<>();
        hanging.forEach(one -> tables.addAll(Statements.tables(one.statement())));
        return tables.stream()
                .filter(table -> count(hanging, one -> one.uses(table)) >= Math.max(MIN_CALLS, MOST * hanging.size()))
                .max(Comparator.comparing(
                        table -> count(hanging, one -> table.equals(Statements.table(one.statement())))))
                .orElse(null);
    }

    private static int count(List<Hanging> hanging, Predicate<Hanging> counted) {
        return (int) hanging.stream().filter(counted).count();
    }

    /**
     * Returns whether the database has answered a statement after the first hanging statement began. This is the case
     * if a call that began later has already completed a statement.
     */
    private boolean hasAnsweredMeanwhile(String store, List<Hanging> hanging) {
        long first = hanging.stream().mapToLong(Hanging::begunNanos).min().orElse(0);
        Long answered = evidence.answers().of(Kind.SQL, store);
        double target = evidence.targetNanos();
        return (answered != null && answered - first > RECORDED_TARGETS * target)
                || hanging.stream()
                        .anyMatch(one -> one.call().startedNanos() - first > MARGIN_TARGETS * target
                                && one.call().ledger().count(Phase.SQL) > 1);
    }

    /**
     * Returns the cause if the given statement hangs because a session locks its table. Returns null if the statement
     * may hang for a different reason. If only one statement hangs, it may be slow. If all statements that hang on the
     * table only change rows, they may wait for a row.
     *
     * @param in the code that runs the statement, preceded by {@code " in "}; empty if unknown
     */
    public DatabaseLocks.@Nullable Found of(String statement, String in) {
        Locked locked = find(OperationNames.store(statement));
        if (locked == null
                || !locked.statements().contains(statement)
                || isAnswered(locked)
                || locked.statements().size() == 1
                || locked.statements().stream().allMatch(LockedTables::mayWaitForRow)) {
            return null;
        }
        return new DatabaseLocks.Found(
                "TABLE LOCK",
                locked.table(),
                Change.of(
                        Where.PEER,
                        "end the session that locks the table " + locked.table() + ", or let it lock the table for"
                                + " less time: " + DatabaseLocks.elsewhere(statement) + " (" + SESSIONS + "), such as"
                                + " LOCK TABLE, ALTER TABLE, CREATE INDEX or a migration, or an open transaction for"
                                + " which such a statement waits; waiting: " + statement + in
                                + "; a different pool size does not help"),
                true,
                List.of(String.format(
                        Locale.ROOT,
                        "waiting  %d calls, up to %s ms: %s; %s",
                        locked.calls(),
                        Times.millis((double) locked.longestNanos()),
                        String.join("; ", locked.statements()),
                        locked.answers())));
    }

    private static boolean mayWaitForRow(String statement) {
        String lower = statement.toLowerCase(Locale.ROOT);
        return Statements.writes(lower) && !Statements.addsRows(lower);
    }
}
