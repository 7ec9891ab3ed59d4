package tern.rpc.diagnosis.text;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import tern.rpc.Phase;
import tern.rpc.diagnosis.account.OperationNames;
import tern.rpc.diagnosis.account.Part;
import tern.rpc.diagnosis.account.Part.Kind;
import tern.rpc.diagnosis.account.Times;
import tern.rpc.diagnosis.cause.Cause.Change;
import tern.rpc.diagnosis.cause.Cause.Where;
import tern.rpc.diagnosis.cause.CauseDescription;
import tern.rpc.diagnosis.data.LargeResults;
import tern.rpc.diagnosis.excess.BackgroundStatements;
import tern.rpc.diagnosis.excess.Deadlocks;
import tern.rpc.diagnosis.excess.Evidence;
import tern.rpc.diagnosis.excess.ExcessTime;
import tern.rpc.diagnosis.excess.ManySlowOperations;
import tern.rpc.diagnosis.excess.OperationCounts;
import tern.rpc.diagnosis.excess.Operations;
import tern.rpc.diagnosis.excess.QuickExecutions;
import tern.rpc.diagnosis.excess.RunningStatements;
import tern.rpc.diagnosis.excess.UnchangedOperations;
import tern.rpc.diagnosis.pool.PoolVerdict;
import tern.rpc.diagnosis.rule.DatabaseLocks;
import tern.rpc.diagnosis.rule.LockedTables;
import tern.rpc.diagnosis.sample.HeldRows;
import tern.rpc.diagnosis.sample.SampledCall;
import tern.rpc.diagnosis.sample.Statements;
import tern.rpc.pool.StoreNames;

/** Creates the cause description for statements that calls run. */
final class SlowStatementText {

    private static final int MIN_ROW_LOOKS = 3;

    /**
     * A statement may load entries of a cache if calls usually run it at most {@value} times. If at least
     * {@link #SEVERAL} calls run it at the same time, they probably load the same entries.
     */
    private static final double RARELY = 0.5;

    private static final double SEVERAL = 4;

    private final Evidence evidence;
    private final ExcessTime excess;
    private final Operations operations;
    private final OperationCounts counts;
    private final Map<String, PoolVerdict> pools;
    private final ServerText servers;
    private final RowLockText rowLocks;
    private final LargeResults results;
    private final ManySlowOperations manySlow;

    private final Part part;
    private final String text;
    private final @Nullable String place;
    private final double eachNanos;
    private final List<String> facts;

    /** @param part the statement, or all statements of a database */
    SlowStatementText(
            Evidence evidence,
            ExcessTime excess,
            Operations operations,
            Map<String, PoolVerdict> pools,
            ServerText servers,
            RowLockText rowLocks,
            Part part) {
        this.evidence = evidence;
        this.excess = excess;
        this.operations = operations;
        this.counts = new OperationCounts(evidence, excess, operations);
        this.pools = pools;
        this.servers = servers;
        this.rowLocks = rowLocks;
        this.results = new LargeResults(evidence, excess, operations);
        this.manySlow = new ManySlowOperations(evidence, excess, operations);
        this.part = part;
        this.text = servers.name(part, "statements");
        this.place = operations.placeOf(Phase.SQL, part.name());
        this.eachNanos = operations.sum(Phase.SQL, part.name()).eachNanos();
        this.facts = new ArrayList<>(operations.figures("sql", Phase.SQL, part.name()));
        if (place != null) {
            facts.add("from     " + place);
        }
        String rows = results.fact(part);
        if (rows != null) {
            facts.add(rows);
        }
    }

    /** Returns the description of the first kind of cause that the evidence shows. */
    CauseDescription describe() {
        CauseDescription deadlock = new Deadlocks(excess, operations).of(text, Operations.at(place), facts);
        CauseDescription repeated = repeated();
        if (deadlock != null && repeated != null) {
            return deadlock;
        }
        return Stream.<Supplier<@Nullable CauseDescription>>of(
                        () -> repeated,
                        this::everyStatement,
                        () -> deadlock,
                        this::largeResult,
                        this::lockedTogether,
                        this::commit,
                        this::lockedRow,
                        this::unchanged)
                .map(Supplier::get)
                .filter(Objects::nonNull)
                .findFirst()
                .orElseGet(this::slow);
    }

    private CauseDescription cause(String kind, String name, Change change) {
        return new CauseDescription(kind, name, change, facts);
    }

    /** Returns the description of statements that calls run too often; null if their number is not the cause. */
    private @Nullable CauseDescription repeated() {
        boolean isServer =
                part.name().isEmpty() && !manySlow.slower(part.kind()).isEmpty();
        boolean areMany = (!isServer && counts.areMany(part.kind(), part.name())) || manySlow.areMany(part);
        if (areMany && !counts.isBehindEmptyCache(part) && !counts.wereRare(part)) {
            return cause(
                    "MANY STATEMENTS",
                    text,
                    Change.of(
                            Where.STATEMENT,
                            "run one statement instead of "
                                    + Math.round(operations
                                            .sum(Phase.SQL, part.name())
                                            .count())
                                    + " per call (join, IN list or batch)"
                                    + Operations.at(place) + ": " + text + MoreText.usuallyFewer(counts, part)
                                    + "; a different pool size does not help"));
        }
        if (!counts.areMore(part)) {
            return null;
        }
        facts.add(counts.text().figures(part));
        return cause("MORE STATEMENTS", text, MoreText.more(counts, part, place));
    }

    private @Nullable CauseDescription everyStatement() {
        String store = OperationNames.storeOfAll(part);
        if (store != null) {
            facts.add("all      " + operations.allSlowerOf(Kind.SQL, store).size()
                    + " different statements of this data source are slower");
            return slowDatabase(" of " + store, store);
        }
        Set<String> slower = operations.allSlower(Kind.SQL);
        Set<String> all = slower.isEmpty() ? manySlow.slower(Kind.SQL) : slower;
        if (!part.name().isEmpty() || all.isEmpty()) {
            return null;
        }
        facts.add("all      " + all.size() + " different statements are slower");
        return slowDatabase("", "");
    }

    private CauseDescription slowDatabase(String of, String store) {
        return cause(
                "SLOW DATABASE",
                "every statement" + of,
                servers.change(
                        "database" + of,
                        part,
                        store,
                        "its load, disk and locks" + BackgroundStatements.longest(pools, store)));
    }

    private @Nullable CauseDescription largeResult() {
        return !results.isLarge(part)
                ? null
                : cause(
                        "LARGE RESULT",
                        text,
                        Change.of(
                                Where.STATEMENT,
                                "read fewer rows with this statement: use pages (limit, Pageable), a narrower condition,"
                                        + " or fewer columns" + Operations.at(place) + ": it returns "
                                        + results.text(part) + ": " + text + "; a different pool size does not help"));
    }

    /** Returns the description of a lock that several statements wait for; null if there is none. */
    private @Nullable CauseDescription lockedTogether() {
        DatabaseLocks locks = new DatabaseLocks(excess, operations, pools);
        DatabaseLocks.Found hanging = new LockedTables(evidence, excess).of(text, Operations.at(place));
        DatabaseLocks.Found together = hanging == null ? locks.find(text, Operations.at(place)) : hanging;
        if (together == null) {
            return null;
        }
        facts.addAll(together.facts());
        HeldRows.Found holder = together.isHolderUnknown() ? rowLocks.holderDuring(locks.slowWith(text)) : null;
        return holder == null
                ? cause(together.kind(), together.name(), together.change())
                : RowLockText.describe(together.kind(), together.name(), holder, waiting(), facts);
    }

    private String waiting() {
        return text + Operations.at(place);
    }

    private @Nullable CauseDescription commit() {
        return !StoreNames.without(text).equals("commit")
                ? null
                : cause(
                        "SLOW COMMIT",
                        text,
                        Change.of(
                                Where.PEER,
                                DatabaseLocks.CHECK + "; run fewer transactions per call" + Operations.at(place)));
    }

    /**
     * Returns the description of a lock that only the described statement waits for; null if it does not wait for a
     * lock.
     */
    private @Nullable CauseDescription lockedRow() {
        HeldRows.Found found =
                Statements.writes(text.toLowerCase(Locale.ROOT)) ? rowLocks.holderDuring(Set.of(text)) : null;
        if (found != null) {
            return RowLockText.describe("ROW LOCK", text, found, waiting(), facts);
        }
        String holder = rowLocks.holderOf(text);
        if (holder != null) {
            return cause("ROW LOCK", text, Change.of(Where.CODE, holder + "; waiting: " + waiting()));
        }
        double running = new RunningStatements(excess).meanNanos(text);
        if (running > eachNanos) {
            facts.add("running  calls have been executing it for " + Times.millis(running) + " ms on average");
        }
        if (!rowLocks.waitsForLock(text, Math.max(running, eachNanos))) {
            return null;
        }
        facts.add("others   no other statement is nearly as much slower, so this one probably waits for a lock");
        return cause(
                "ROW LOCK",
                text,
                Change.of(
                        Where.PEER,
                        "shorten the transaction that holds the row" + ofOtherTable() + ": "
                                + DatabaseLocks.elsewhere(text)
                                + " with an open transaction (PostgreSQL: pg_stat_activity, state idle in transaction;"
                                + " MySQL and MariaDB: information_schema.innodb_trx); if no session holds it, check the"
                                + " plan or a trigger of this"
                                + " statement" + Operations.at(place) + ": "
                                + text
                                + "; a different pool size does not help"));
    }

    /** Returns text about the rows that an insert may wait for; empty for other statements. */
    private String ofOtherTable() {
        return Statements.addsRows(text.toLowerCase(Locale.ROOT))
                ? " (the row that a foreign key of the inserted row refers to, or a row with the same key)"
                : "";
    }

    private @Nullable CauseDescription unchanged() {
        UnchangedOperations unchanged = new UnchangedOperations(evidence, excess, operations);
        return MoreText.unchanged(unchanged, part, "MORE STATEMENTS", place, facts);
    }

    private CauseDescription slow() {
        if (waitsForRows()) {
            facts.add("rows     calls mostly wait for the next rows of the result");
            return cause("SLOW STATEMENT", text, Change.of(Where.STATEMENT, moreRowsAtOnce()));
        }
        return cause("SLOW STATEMENT", text, Change.of(Where.STATEMENT, check()));
    }

    private String moreRowsAtOnce() {
        return "check this statement's plan and indexes, read fewer rows, or set a larger fetch size"
                + " (Statement.setFetchSize, hibernate.jdbc.fetch_size)" + Operations.at(place) + ": " + text
                + "; a different pool size does not help";
    }

    /** Returns text about a statement that calls do not usually run; empty for a usual statement. */
    private String isNew() {
        boolean isNever = counts.areNeverRun(part);
        String keeps = Statements.isWrite(text) ? "" : ", or a cache that no longer holds its result";
        String isNew = counts.areNew(part)
                ? isNever
                        ? "; calls do not usually run it, and none has run it since the start, so new code runs it:"
                                + " compare its conditions with the indexes of its table (EXPLAIN)"
                        : "; calls do not usually run it, so also find out why they run it now (new code" + keeps + ")"
                : counts.areUnusual(part)
                        ? "; calls usually run another statement instead, so compare the two (a function on a column"
                                + " uses no index of the column)"
                        : counts.newIn(part);
        return isNew + (isNever || Statements.isWrite(text) ? "" : atOnce());
    }

    /** Returns the advice to check the statement's plan, its indexes and the number of its rows. */
    private String check() {
        String isNew = isNew();
        if (excess.samples.areReadingResults(Phase.SQL)) {
            String rows = results.fact(part) == null ? "" : " (" + results.text(part) + ")";
            return "read fewer rows or columns, or read in pages, because this statement returns a lot of data" + rows
                    + Operations.at(place) + ": " + text + isNew + "; a different pool size does not help";
        }
        String locks = Statements.writes(text.toLowerCase(Locale.ROOT))
                ? ", a trigger of its table, or the lock that it waits for"
                : "";
        String values = QuickExecutions.hint(evidence, text, eachNanos);
        String types = values.isEmpty() && text.contains("?")
                ? "the types of its parameters (a number compared with text uses no index), "
                : "";
        if (part.name().isEmpty()) {
            return "check the statements of these calls: their plans, their indexes, the number of rows"
                    + Operations.at(place)
                    + ": no single statement takes most of the time; a different pool size does not help";
        }
        return "check this statement: its plan, its indexes, " + types + "the number of rows" + locks
                + Operations.at(place) + ": " + text + values + isNew + "; a different pool size does not help";
    }

    /**
     * Returns advice for a statement that calls usually run rarely and now run at the same time, as if a cache had lost
     * its result; empty otherwise.
     */
    private String atOnce() {
        double calls = operations.atOnce(part);
        return calls < SEVERAL || !counts.areUsuallyRare(part, RARELY)
                ? ""
                : String.format(
                        Locale.ROOT,
                        "; about %.0f calls run it at the same time: if a cache holds its result, let one call load the"
                                + " missing entry while the others wait for it",
                        calls);
    }

    /** Returns whether at least half of the samples taken during the statement show a wait for the next rows. */
    private boolean waitsForRows() {
        int looks = 0;
        int rows = 0;
        for (ExcessTime.Counted counted : excess.accounts) {
            SampledCall samples = evidence.samples().get(counted.call().ledger());
            if (samples != null && counted.times().sum(Operations.only(part)) > 0) {
                looks += samples.sqlLooks;
                rows += samples.rowLooks;
            }
        }
        return rows >= MIN_ROW_LOOKS && 2 * rows >= looks;
    }
}
