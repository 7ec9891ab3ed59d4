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
import tern.rpc.diagnosis.account.Part;
import tern.rpc.diagnosis.account.Part.Kind;
import tern.rpc.diagnosis.account.Times;
import tern.rpc.diagnosis.cause.Cause.Change;
import tern.rpc.diagnosis.cause.Cause.Where;
import tern.rpc.diagnosis.cause.CauseDescription;
import tern.rpc.diagnosis.excess.BackgroundStatements;
import tern.rpc.diagnosis.excess.Deadlocks;
import tern.rpc.diagnosis.excess.Evidence;
import tern.rpc.diagnosis.excess.ExcessTime;
import tern.rpc.diagnosis.excess.OperationCounts;
import tern.rpc.diagnosis.excess.Operations;
import tern.rpc.diagnosis.excess.OutsideStatements;
import tern.rpc.diagnosis.excess.QuickExecutions;
import tern.rpc.diagnosis.excess.RunningStatements;
import tern.rpc.diagnosis.pool.PoolVerdict;
import tern.rpc.diagnosis.rule.DatabaseLocks;
import tern.rpc.diagnosis.rule.LargeResults;
import tern.rpc.diagnosis.rule.LockedTables;
import tern.rpc.diagnosis.rule.UnknownExecutors;
import tern.rpc.diagnosis.sample.HeldRows;
import tern.rpc.diagnosis.sample.Sampler;
import tern.rpc.diagnosis.sample.Statements;
import tern.rpc.diagnosis.stack.NewConnections;
import tern.rpc.diagnosis.stack.StackReader;
import tern.rpc.pool.ApplicationCode;
import tern.rpc.pool.Holders.Holder;
import tern.rpc.pool.StoreNames;

/** Creates the cause descriptions for databases. */
final class StoreText {

    private static final int MIN_ROW_LOOKS = 3;

    /**
     * A transaction is suspected of holding a row lock if it has run no statement for at least this share of the
     * latency target.
     */
    private static final double IDLE_OF_TARGET = 0.1;

    /**
     * A statement may load entries of a cache if calls usually run it at most this number of times. If at least {@link
     * #SEVERAL} calls run it at the same time, they probably load the same entries.
     */
    private static final double RARELY = 0.5;

    private static final double SEVERAL = 4;

    /** A write statement is assumed to wait for a lock if it takes more than this multiple of its usual time. */
    private static final double LOCKED_FACTOR = 20;

    private final Evidence evidence;
    private final ExcessTime excess;
    private final Operations operations;
    private final OperationCounts counts;
    private final Map<String, PoolVerdict> pools;
    private final ServerText servers;

    StoreText(
            Evidence evidence,
            ExcessTime excess,
            Operations operations,
            Map<String, PoolVerdict> pools,
            ServerText servers) {
        this.evidence = evidence;
        this.excess = excess;
        this.operations = operations;
        this.counts = new OperationCounts(evidence, excess, operations);
        this.pools = pools;
        this.servers = servers;
    }

    CauseDescription statement(Part part) {
        if (part.name().endsWith(NewConnections.OPENED)) {
            return withoutPool(part);
        }
        OutsideStatements.Found outside = new OutsideStatements(evidence, pools).of(part);
        if (outside != null) {
            return outside(part, outside);
        }
        Operations.Sum sum = operations.sum(Phase.SQL, part.name());
        String text = servers.name(part, "statements");
        String place = operations.placeOf(Phase.SQL, part.name());
        List<String> facts = new ArrayList<>(operations.figures("sql", Phase.SQL, part.name()));
        if (place != null) {
            facts.add("from     " + place);
        }
        LargeResults results = new LargeResults(evidence, excess, operations);
        String rows = results.fact(part);
        if (rows != null) {
            facts.add(rows);
        }
        CauseDescription deadlock = new Deadlocks(excess, operations).of(text, Operations.at(place), facts);
        boolean repeats = counts.areMany(part.kind(), part.name()) || counts.areMore(part);
        if (deadlock != null && repeats) {
            return deadlock;
        }
        if (counts.areMany(part.kind(), part.name()) && !counts.isBehindEmptyCache(part) && !counts.wereRare(part)) {
            return new CauseDescription(
                    "MANY STATEMENTS",
                    text,
                    Change.of(
                            Where.STATEMENT,
                            "run one statement instead of " + Math.round(sum.count()) + " per call (join, IN list or"
                                    + " batch)"
                                    + Operations.at(place) + ": " + text + RemoteText.usuallyFewer(counts, part)
                                    + "; a different pool size does not help"),
                    facts);
        }
        if (counts.areMore(part)) {
            facts.add(counts.figures(part));
            return new CauseDescription("MORE STATEMENTS", text, RemoteText.more(counts, part, place), facts);
        }
        String store = OperationNames.storeOfAll(part);
        if (store != null) {
            facts.add("all      " + operations.allSlowerOf(Kind.SQL, store).size()
                    + " different statements of this data source are slower");
            return new CauseDescription(
                    "SLOW DATABASE",
                    "every statement of " + store,
                    servers.change(
                            "database of " + store,
                            part,
                            store,
                            "its load, disk and locks" + BackgroundStatements.longest(pools, store)),
                    facts);
        }
        Set<String> all = operations.allSlower(Kind.SQL);
        if (part.name().isEmpty() && !all.isEmpty()) {
            facts.add("all      " + all.size() + " different statements are slower");
            return new CauseDescription(
                    "SLOW DATABASE",
                    "every statement",
                    servers.change(
                            "database", part, "", "its load, disk and locks" + BackgroundStatements.longest(pools, "")),
                    facts);
        }
        if (deadlock != null) {
            return deadlock;
        }
        if (results.isLarge(part)) {
            return new CauseDescription(
                    "LARGE RESULT",
                    text,
                    Change.of(
                            Where.STATEMENT,
                            "read fewer rows with this statement: use pages (limit, Pageable), a narrower condition, or"
                                    + " fewer columns" + Operations.at(place) + ": it returns " + results.text(part)
                                    + ": " + text
                                    + "; a different pool size does not help"),
                    facts);
        }
        DatabaseLocks locks = new DatabaseLocks(operations, pools);
        DatabaseLocks.Found hanging = new LockedTables(evidence, excess).of(text, Operations.at(place));
        DatabaseLocks.Found together = hanging == null ? locks.find(text, Operations.at(place)) : hanging;
        if (together != null) {
            facts.addAll(together.facts());
            HeldRows.Found found = together.isHolderUnknown() ? heldWhile(locks.slowWith(text)) : null;
            return found == null
                    ? new CauseDescription(together.kind(), together.name(), together.change(), facts)
                    : lock(together.kind(), together.name(), found, text + Operations.at(place), facts);
        }
        if (StoreNames.without(text).equals("commit")) {
            return new CauseDescription(
                    "SLOW COMMIT",
                    text,
                    Change.of(
                            Where.PEER,
                            DatabaseLocks.CHECK + "; run fewer transactions per call" + Operations.at(place)),
                    facts);
        }
        HeldRows.Found found = Statements.writes(text.toLowerCase(Locale.ROOT)) ? heldWhile(Set.of(text)) : null;
        if (found != null) {
            return lock("ROW LOCK", text, found, text + Operations.at(place), facts);
        }
        String holder = holderOfRow(text);
        if (holder != null) {
            return new CauseDescription(
                    "ROW LOCK",
                    text,
                    Change.of(Where.CODE, holder + "; waiting: " + text + Operations.at(place)),
                    facts);
        }
        double running = new RunningStatements(excess).meanNanos(text);
        if (running > sum.eachNanos()) {
            facts.add("running  calls have been executing it for " + Times.millis(running) + " ms on average");
        }
        if (waitsForLock(text, Math.max(running, sum.eachNanos()))) {
            facts.add("others   no other statement is slower, so this one probably waits for a lock");
            return new CauseDescription(
                    "ROW LOCK",
                    text,
                    Change.of(
                            Where.PEER,
                            "shorten the transaction that holds the row: " + DatabaseLocks.elsewhere(text)
                                    + "; if no session holds it, check the plan or a trigger of this"
                                    + " statement" + Operations.at(place) + ": "
                                    + text
                                    + "; a different pool size does not help"),
                    facts);
        }
        if (waitsForRows(part)) {
            facts.add("rows     calls mostly wait for the next rows of the result");
            return new CauseDescription(
                    "SLOW STATEMENT", text, Change.of(Where.STATEMENT, moreRowsAtOnce(text, place)), facts);
        }
        return new CauseDescription(
                "SLOW STATEMENT", text, Change.of(Where.STATEMENT, slow(part, text, place, sum.eachNanos())), facts);
    }

    /**
     * Returns the transaction that held a lock most often while one of the given statements waited; null if unknown.
     */
    private HeldRows.@Nullable Found heldWhile(Set<String> statements) {
        return statements.stream()
                .map(OperationNames::withoutStatus)
                .map(statement ->
                        evidence.heldRows().holderFor(statement, other -> operations.areOfSameServer(other, statement)))
                .filter(Objects::nonNull)
                .max(Comparator.comparingInt(HeldRows.Found::looks))
                .orElse(null);
    }

    private static CauseDescription lock(
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
     * Returns the cause description for a statement run by a thread that serves no call, while calls wait for its
     * result.
     */
    private CauseDescription outside(Part part, OutsideStatements.Found outside) {
        String text = outside.statement();
        String line = excess.samples.shownLineOf(part);
        String in = " in " + (line == null ? part.name().replace(StackReader.CALLED, "") : line);
        List<String> facts = new ArrayList<>(List.of(outside.fact()));
        HeldRows.Found holder = heldWhile(Set.of(text));
        if (holder != null) {
            return lock("ROW LOCK", text, holder, text + in, facts);
        }
        String waiting = text + ", which thread " + outside.threads() + "* runs" + in;
        if (outside.waitsForLock()) {
            boolean isRow = Statements.writes(text.toLowerCase(Locale.ROOT))
                    && !Statements.addsRows(text.toLowerCase(Locale.ROOT));
            String table = Statements.table(text);
            return new CauseDescription(
                    isRow ? "ROW LOCK" : "TABLE LOCK",
                    text,
                    Change.of(
                            Where.PEER,
                            "end or shorten the transaction or the statement that locks"
                                    + (table == null ? "" : " the table " + table + " or rows of it")
                                    + ": the database's list of sessions and of locks names it, for example a session"
                                    + " that is idle in a transaction, a LOCK TABLE, or a change of the table (ALTER"
                                    + " TABLE) that waits for one itself; a plan does not become this slow at once;"
                                    + " waiting: " + waiting),
                    facts);
        }
        return new CauseDescription(
                "SLOW STATEMENT",
                text,
                Change.of(
                        Where.STATEMENT,
                        "check this statement: its plan, its indexes, the number of rows, and the locks that it waits"
                                + " for: " + waiting + "; calls wait for the result of this thread"
                                + UnknownExecutors.poolSize(outside.threads())),
                facts);
    }

    /** Returns the text for code that opens a database connection for each use. */
    private CauseDescription withoutPool(Part part) {
        String where = part.name()
                .substring(StackReader.CALLED.length(), part.name().length() - NewConnections.OPENED.length());
        String line = excess.samples.shownLineOf(part);
        return new CauseDescription(
                "CONNECTIONS OPEN SLOWLY",
                "opened in " + where,
                Change.of(
                        Where.CODE,
                        "use a connection pool instead of a new connection for each use in "
                                + (line == null ? where : line)),
                List.of("samples  " + excess.samples.looks(part) + " found a call that opens a connection"));
    }

    private static String moreRowsAtOnce(String text, @Nullable String place) {
        return "check this statement's plan and indexes, read fewer rows, or set a larger fetch size"
                + " (Statement.setFetchSize, hibernate.jdbc.fetch_size)" + Operations.at(place) + ": " + text
                + "; a different pool size does not help";
    }

    private String slow(Part part, String text, @Nullable String place, double eachNanos) {
        String keeps = Statements.isWrite(text) ? "" : ", or a cache that no longer holds its result";
        String isNew = counts.areNew(part)
                ? "; calls do not usually run it, so also find out why they run it now (new code" + keeps + ")"
                : counts.areUnusual(part)
                        ? "; calls usually run another statement instead, so compare the two (a function on a column"
                                + " uses no index of the column)"
                        : "";
        isNew += Statements.isWrite(text) ? "" : atOnce(part);
        if (excess.samples.areReadingResults(Phase.SQL)) {
            LargeResults results = new LargeResults(evidence, excess, operations);
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
    private String atOnce(Part part) {
        double calls = operations.atOnce(part);
        return calls < SEVERAL || !counts.areUsuallyRare(part, RARELY)
                ? ""
                : String.format(
                        Locale.ROOT,
                        "; about %.0f calls run it at the same time: if a cache holds its result, let one call load the"
                                + " missing entry while the others wait for it",
                        calls);
    }

    /**
     * Returns whether a write statement suddenly became many times slower while all other statements kept their usual
     * times. Read statements are not considered, because a slow disk or a bad query plan would also slow them down.
     * Inserts are not considered either, because a row that is not visible yet is rarely locked, so a trigger or an
     * index is just as likely to be the reason.
     */
    private boolean waitsForLock(String statement, double eachNanos) {
        double usually = operations.usualNamed(Phase.SQL, statement);
        String lower = statement.toLowerCase(Locale.ROOT);
        return Statements.writes(lower)
                && !Statements.addsRows(lower)
                && usually > 0
                && eachNanos > LOCKED_FACTOR * usually
                && 2 * eachNanos > evidence.targetNanos()
                && operations.othersAreAsUsual(Phase.SQL, statement, eachNanos);
    }

    /**
     * Returns the connection that probably holds the lock of the row for which a write statement waits: a connection
     * with an open transaction on the same table.
     */
    private @Nullable String holderOfRow(String statement) {
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

    /** Returns whether at least half of the samples taken during the given statement show a wait for the next rows. */
    private boolean waitsForRows(Part statement) {
        int looks = 0;
        int rows = 0;
        for (ExcessTime.Counted counted : excess.accounts) {
            Sampler.Samples samples = evidence.samples().get(counted.call().ledger());
            if (samples != null && counted.times().sum(Operations.only(statement)) > 0) {
                looks += samples.sqlLooks;
                rows += samples.rowLooks;
            }
        }
        return rows >= MIN_ROW_LOOKS && 2 * rows >= looks;
    }
}
