package tern.rpc.diagnosis.rule;

import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import tern.rpc.Phase;
import tern.rpc.diagnosis.account.OperationNames;
import tern.rpc.diagnosis.cause.Cause.Change;
import tern.rpc.diagnosis.cause.Cause.Where;
import tern.rpc.diagnosis.excess.ExcessTime;
import tern.rpc.diagnosis.excess.HangingWrites;
import tern.rpc.diagnosis.excess.Operations;
import tern.rpc.diagnosis.pool.PoolVerdict;
import tern.rpc.diagnosis.sample.Statements;
import tern.rpc.pool.ApplicationCode;
import tern.rpc.pool.Holders.Holder;
import tern.rpc.pool.StoreNames;

/**
 * Finds statements that became slow together while other statements take their usual time. The slow statements are
 * either all statements of one table, which then wait for a lock, or all statements that write, which then wait for the
 * database's log.
 */
public final class DatabaseLocks {

    /** A statement is assumed to wait for a lock if it takes more than {@value} times its usual time. */
    private static final double LOCKED_FACTOR = 20;

    private static final double SLOWER_FACTOR = 3;
    private static final double LEAST_NANOS = 3e6;

    /**
     * The slowdown of a statement is its current time minus its usual time. The slowdowns of two statements count as
     * equal if the longer one is at most {@value} times the shorter one.
     */
    private static final double SIMILAR = 3;

    /**
     * Reading statements are assumed not to wait for the same lock as writing statements if they slow down by at most
     * {@value} of the time by which the writing statements slow down. Such a small slowdown may be due to busy
     * processors or a busy database.
     */
    private static final double LITTLE = 0.1;

    /** A lock on all tables is reported only if at least {@value} different writing statements wait. */
    private static final int MIN_LOCKED = 3;

    /**
     * Writing statements that exceed their usual time by at least {@value} ns wait for a lock, and not for the disk
     * with the database's log.
     */
    private static final double HANGING_NANOS = 1e9;

    private static final String COMMIT = "commit";

    /** The advice for commits that became slow. */
    public static final String CHECK =
            "check the database's log disk or replication, and backups that block commits while they run";

    private final Operations operations;
    private final Map<String, PoolVerdict> pools;
    private final Map<String, Double> each;
    private final HangingWrites hanging;

    public DatabaseLocks(ExcessTime excess, Operations operations, Map<String, PoolVerdict> pools) {
        this.hanging = new HangingWrites(excess, operations);
        this.operations = operations;
        this.pools = pools;
        this.each = operations.each(Phase.SQL);
    }

    /**
     * Returns the statements that are slow for the same reason as the given statement, including the given statement.
     * Returns an empty set if no other statement is slow for the same reason.
     */
    public Set<String> slowWith(String statement) {
        if (Statements.isNamedLock(statement)) {
            return Set.of(statement);
        }
        Set<String> locked = lockedWith(statement);
        if (!locked.isEmpty() || !Statements.isWrite(statement)) {
            return locked;
        }
        Set<String> hanging = hangingWith(statement);
        return hanging.isEmpty() ? slowWrites(statement) : hanging;
    }

    /**
     * A cause in the database that makes several statements slow.
     *
     * @param isHolderUnknown whether statements wait for a lock, and no connection is known to hold it
     * @param facts the evidence, one fact per short line
     */
    public record Found(String kind, String name, Change change, boolean isHolderUnknown, List<String> facts) {}

    /**
     * Returns the cause that makes the given statement and other statements slow; null if the statement is slow for a
     * different reason.
     *
     * @param in the code that runs the statement, preceded by {@code " in "}; empty if unknown
     */
    @Nullable
    public Found find(String statement, String in) {
        if (Statements.isNamedLock(statement)) {
            return new Found("LOCK", statement, Change.of(Where.CODE, namedLock(in)), true, List.of());
        }
        Set<String> locked = lockedWith(statement);
        String table = Statements.table(statement);
        if (!locked.isEmpty() && table != null) {
            return locked(statement, table, locked, in);
        }
        Set<String> hanging = hangingWith(statement);
        if (!hanging.isEmpty()) {
            return allTables(statement, hanging, in);
        }
        Set<String> writes = Statements.isWrite(statement) ? slowWrites(statement) : Set.of();
        String commit = commitIn(writes);
        if (commit != null && !writes.equals(writes(statement))) {
            return new Found(
                    "SLOW COMMIT",
                    commit,
                    Change.of(Where.PEER, CHECK + "; run fewer transactions per call" + in),
                    false,
                    List.of("all      " + String.join("; ", only(writes, name -> !name.equals(commit)))
                            + " takes the same additional time, because it commits by itself"));
        }
        if (!writes.isEmpty() && writes.stream().allMatch(name -> longer(name) >= HANGING_NANOS)) {
            return allTables(statement, writes, in);
        }
        return writes.isEmpty()
                ? null
                : new Found(
                        "SLOW COMMIT",
                        "every statement that writes",
                        Change.of(
                                Where.PEER, CHECK + "; run fewer transactions per call, or" + " write in a batch" + in),
                        false,
                        List.of("all      " + writes.size()
                                + " different write statements are slower, but no read statement is"));
    }

    /** Returns the writing statements that hang together with the given one while the database answers reads. */
    private Set<String> hangingWith(String statement) {
        Set<String> found = Statements.isWrite(statement) ? hanging.of(OperationNames.store(statement)) : Set.of();
        return found.contains(statement) ? found : Set.of();
    }

    private static Found allTables(String statement, Set<String> writes, String in) {
        return new Found(
                "TABLE LOCK",
                "all tables",
                Change.of(
                        Where.PEER,
                        "find the session that lets no other session write, such as a backup (MySQL and MariaDB:"
                                + " FLUSH TABLES WITH READ LOCK, LOCK INSTANCE FOR BACKUP; SHOW PROCESSLIST names"
                                + " the wait), and end it or run it at another time; if there is none, check the"
                                + " database's log disk, whether a disk is full, and replication; waiting: "
                                + statement + in + "; a different pool size does not help"),
                true,
                List.of("waiting  " + writes.size()
                        + " different write statements of several tables, but no read statement: "
                        + String.join("; ", writes)));
    }

    private Found locked(String statement, String table, Set<String> locked, String in) {
        boolean isRow = locked.stream().allMatch(Statements::isWrite)
                && locked.size() < of(table, statement).size();
        Holder holder = holder(table, statement);
        return new Found(
                isRow ? "ROW LOCK" : "TABLE LOCK",
                table,
                Change.of(
                        holder == null ? Where.PEER : Where.CODE,
                        change(table, statement, holder, isRow) + "; waiting: " + statement + in
                                + "; a different pool size does not help"),
                holder == null,
                List.of("waiting  " + String.join("; ", locked)));
    }

    private static String namedLock(String in) {
        return "hold this lock of the database for less time: the database's list of locks names its holder; wanted"
                + in + "; a different pool size does not help";
    }

    /**
     * Returns text that says which connections do not hold the lock, and where to look for the session that holds it.
     */
    public static String elsewhere(String statement) {
        return OperationNames.store(statement).isEmpty()
                ? "no connection of these pools holds the lock, so look in the database's list of locks for a"
                        + " session of another process"
                : "no connection of this data source holds the lock, so look in the database's list of locks for a"
                        + " session of another data source or process";
    }

    private static String change(String table, String statement, @Nullable Holder holder, boolean isRow) {
        if (holder == null) {
            return "shorten the transaction that locks " + (isRow ? "rows of " : "") + "the table " + table
                    + ": " + elsewhere(statement)
                    + " that changes, locks or writes it, such as a migration or a batch (" + LockedTables.SESSIONS
                    + "); if no session holds a lock,"
                    + " check the plans of these statements for a missing or unused index or old statistics";
        }
        StackTraceElement begun = holder.place();
        return "run the statement that locks the table " + table + " at another time, or for less time:"
                + " " + holder.statement()
                + (begun == null ? "" : ", begun in " + ApplicationCode.shown(begun)) + Statements.now(holder);
    }

    /**
     * Returns the statements that probably wait for a lock on the given statement's table: either all statements of the
     * table, or all writing statements of the table. Returns an empty set unless two conditions hold. First, several
     * statements wait, or the holder of the lock is known. Second, statements of other tables take their usual time.
     */
    private Set<String> lockedWith(String statement) {
        String table = Statements.table(statement);
        if (table == null || !isLocked(statement)) {
            return Set.of();
        }
        Set<String> all = of(table, statement);
        Set<String> writes = only(all, Statements::isWrite);
        boolean areAll = all.stream().allMatch(this::isLocked);
        boolean areWrites = !areAll
                && Statements.isWrite(statement)
                && writes.size() > 1
                && all.stream().allMatch(name -> Statements.isWrite(name) ? isLocked(name) : isAsUsual(name));
        Set<String> others = only(ofStore(statement), name -> !table.equals(Statements.table(name)) && isKnown(name));
        boolean isShown = others.isEmpty()
                ? holder(table, statement) != null
                : all.size() > 1 || holder(table, statement) != null;
        boolean isLock = (areAll && isShown) || areWrites;
        return isLock && others.stream().allMatch(this::isAsUsual) ? (areAll ? all : writes) : Set.of();
    }

    /**
     * Returns all writing statements of the data source that runs the given statement, if all writing statements are
     * slower than usual and all reading statements take their usual time. Returns an empty set if all writing
     * statements write to the same table, because a lock on the table may then make the statements slow.
     */
    private Set<String> slowWrites(String statement) {
        Set<String> writes = writes(statement);
        Set<String> reads = only(ofStore(statement), name -> !Statements.isWrite(name) && isKnown(name));
        Set<String> tables = new TreeSet<>();
        for (String write : writes) {
            String table = Statements.table(write);
            tables.add(table == null ? write : table);
        }
        boolean slow = tables.size() > 1
                && !reads.isEmpty()
                && writes.stream().noneMatch(this::isAsUsual)
                && areLittleSlower(reads, writes);
        if (slow) {
            return writes;
        }
        Set<String> locked = lockedWrites(writes, reads);
        if (locked.contains(statement)) {
            return locked;
        }
        Set<String> commits = slowCommits(writes, reads);
        return commits.contains(statement) ? commits : Set.of();
    }

    /**
     * Returns the writing statements that wait for a lock on all tables: most writing statements, on several tables.
     * The other writing statements may have been executed before the lock was taken. Returns an empty set if there is
     * no such lock.
     */
    private Set<String> lockedWrites(Set<String> writes, Set<String> reads) {
        Set<String> locked = only(writes, this::isLocked);
        long tables = locked.stream().map(Statements::table).distinct().count();
        boolean areMost = locked.size() >= MIN_LOCKED && 2 * locked.size() > writes.size();
        return areMost && tables > 1 && !reads.isEmpty() && areLittleSlower(reads, locked) ? locked : Set.of();
    }

    /** Returns the known writing statements of the data source that runs the given statement. */
    private Set<String> writes(String statement) {
        return only(ofStore(statement), name -> Statements.isWrite(name) && isKnown(name));
    }

    /**
     * Returns the commit of transactions, together with the writing statements that became slower by about the same
     * time. These statements probably run outside of explicit transactions and end with a commit themselves, because
     * statements within a transaction do not wait for the database's log. Returns an empty set if only the commit
     * became slower, or if reading statements became slower, too.
     */
    private Set<String> slowCommits(Set<String> writes, Set<String> reads) {
        String commit = commitIn(writes);
        if (commit == null || isAsUsual(commit) || reads.isEmpty() || !areLittleSlower(reads, Set.of(commit))) {
            return Set.of();
        }
        Set<String> commits = only(
                writes,
                name -> !isAsUsual(name)
                        && SIMILAR * longer(name) >= longer(commit)
                        && SIMILAR * longer(commit) >= longer(name));
        return commits.size() > 1 ? commits : Set.of();
    }

    /**
     * Returns whether the reading statements slowed down only slightly: each by at most a small share of the smallest
     * slowdown of a writing statement.
     */
    private boolean areLittleSlower(Set<String> reads, Set<String> writes) {
        double smallest = writes.stream().mapToDouble(this::longer).min().orElse(0);
        return reads.stream().allMatch(read -> isAsUsual(read) || longer(read) <= LITTLE * smallest);
    }

    private static @Nullable String commitIn(Set<String> statements) {
        return statements.stream()
                .filter(name -> StoreNames.without(name).equals(COMMIT))
                .findFirst()
                .orElse(null);
    }

    /** Returns by how many nanoseconds the statement exceeds its usual time. */
    private double longer(String statement) {
        return each.getOrDefault(statement, 0.0) - operations.usualNamed(Phase.SQL, statement);
    }

    /**
     * Returns the connection to the given statement's database that probably locks the table; null if it is unknown.
     * Connections to other databases are ignored, because another database may have a table of the same name.
     */
    private @Nullable Holder holder(String table, String statement) {
        for (PoolVerdict pool : pools.values()) {
            for (Holder holder : pool.pool().holders()) {
                String last = holder.statement();
                if (last != null
                        && operations.areOfSameServer(last, statement)
                        && Statements.locksTable(last)
                        && table.equals(Statements.table(last))) {
                    return holder;
                }
            }
        }
        return null;
    }

    /** Returns the statements that run on the same data source as the given statement. */
    private Set<String> ofStore(String statement) {
        String store = OperationNames.store(statement);
        return only(each.keySet(), name -> OperationNames.store(name).equals(store));
    }

    private Set<String> of(String table, String statement) {
        return only(ofStore(statement), name -> table.equals(Statements.table(name)) && isKnown(name));
    }

    private static Set<String> only(Set<String> names, Predicate<String> wanted) {
        Set<String> chosen = new TreeSet<>(names);
        chosen.removeIf(wanted.negate());
        return chosen;
    }

    private boolean isKnown(String statement) {
        return operations.usualNamed(Phase.SQL, statement) > 0;
    }

    private boolean isLocked(String statement) {
        return isKnown(statement) && isSlower(statement, LOCKED_FACTOR);
    }

    private boolean isAsUsual(String statement) {
        return !isSlower(statement, SLOWER_FACTOR);
    }

    private boolean isSlower(String statement, double factor) {
        double usually = operations.usualNamed(Phase.SQL, statement);
        double now = each.getOrDefault(statement, 0.0);
        return now > factor * usually && now > usually + LEAST_NANOS;
    }
}
