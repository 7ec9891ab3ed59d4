package tern.rpc.diagnosis.sample;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import tern.rpc.Phase;
import tern.rpc.diagnosis.account.Account;
import tern.rpc.diagnosis.account.Part;
import tern.rpc.diagnosis.account.Part.Kind;
import tern.rpc.diagnosis.stack.StackReader;
import tern.rpc.diagnosis.stack.ThreadSnapshot;
import tern.rpc.pool.ApplicationCode;
import tern.rpc.pool.Holders;
import tern.rpc.pool.Holders.Holder;
import tern.rpc.pool.PoolSource;

/**
 * The transactions that probably hold locks that statements wait for. An inspection finds such a transaction only by
 * chance: it must be between its statements while another connection waits for the same table. Therefore a transaction
 * that was found remains the likely holder until the miss of the latency target ends. Not thread-safe: only the
 * diagnosis thread uses it.
 */
public final class HeldRows {

    /**
     * A transaction is a possible holder of a lock if at least {@value} pairs of consecutive inspections find it. Short
     * transactions may use the same table, but each of them is found by only one inspection.
     */
    private static final int MIN_PAIRS = 1;

    /**
     * Transactions that run an operation on a different server, such as an HTTP exchange, are possible holders of a
     * lock even if each of them is found by only one inspection. In this case, at least {@value} inspections must find
     * exactly one such transaction.
     */
    private static final int MIN_OUTSIDE = 4;

    private static final Set<Phase> OUTSIDE = EnumSet.of(Phase.HTTP, Phase.RPC, Phase.REDIS);

    /**
     * A transaction is assumed to hold the awaited row only if enough pairs of consecutive inspections find it: one
     * pair for every {@value} inspections that find the statement waiting.
     */
    private static final int PART_OF_WAITS = 3;

    /** A transaction or wait is forgotten if no inspection has found it for a minute. */
    private static final long KEPT_NANOS = TimeUnit.SECONDS.toNanos(60);

    // the maximum number of transactions remembered for one waiting statement and one locking statement
    private static final int MAX_TRANSACTIONS = 16;

    /** The maximum number of thread stacks to read in one inspection of the connections. */
    private static final int MAX_READ = 4;

    private static final int MAX_KNOWN = 64;
    private static final int MAX_WAITING = 8; // the maximum number of waiting statements in one inspection
    private static final int MAX_USES = 512;
    private static final int MAX_PLACES = 16; // the maximum number of remembered code lines of one holder

    /** A running statement is assumed to wait for a lock only if it takes at least {@value} of the latency target. */
    private static final double WAITS_OF_TARGET = 0.1;

    private static final Pattern NUMBER = Pattern.compile("[-#\\d]+$");

    private final Map<Key, Seen> known = new HashMap<>();
    private final Map<String, Use> uses = new HashMap<>();
    // for each statement, the inspections that found it waiting
    private final Map<String, Waits> waits = new HashMap<>();
    private int number; // the number of inspections so far

    /** The statement that waits, the statement that took the lock, and the name of the threads that hold the lock. */
    private record Key(String waiting, String locking, String threads) {}

    /**
     * The locks that a statement uses. The result is cached for each statement, because every inspection needs the
     * result for each connection.
     *
     * @param of the table; a common name for all locks that the application names itself; empty if the table is unknown
     */
    private record Use(String of, boolean mayWait, boolean locksTable) {

        static Use of(String statement) {
            String table = Statements.isNamedLock(statement) ? "(named)" : Statements.table(statement);
            return new Use(table == null ? "" : table, Statements.mayWait(statement), Statements.locksTable(statement));
        }

        boolean isOfOneLock(Use other) {
            return !of.isEmpty() && of.equals(other.of);
        }
    }

    private static final class Seen {
        final Map<String, Integer> places = new HashMap<>();
        final Map<Kind, Integer> work = new HashMap<>();
        final Map<String, Integer> operations = new HashMap<>();

        // the number of the last inspection of the connections that found each transaction
        final Map<Holder, Integer> transactions = new IdentityHashMap<>();

        @Nullable
        StackTraceElement begun;

        int looks;
        // the number of inspections in which exactly one holder was running an operation on a server other than the
        // database
        int outside;
        // the number of the last inspection that found a holder running an operation on another server
        int outsideIn;
        // whether the last inspection that found a holder running an operation on another server found exactly one
        boolean isOneOutside;
        int pairs; // the number of pairs of consecutive inspections that found the same transaction
        long lastNanos;
    }

    /** Counts the inspections in which the statement waited. */
    private static final class Waits {
        int looks;
        long lastNanos;
    }

    /**
     * A transaction that probably holds the lock that a statement waits for.
     *
     * @param locking the statement that locked the rows
     * @param threads the name of the holder's thread without trailing digits
     * @param begun the code that took the connection; null if unknown
     * @param place where the holder was found most often; empty if unknown
     * @param work what the holder did most often; null if unknown
     * @param operation the operation of another server that the holder ran most often; null if there is none
     * @param looks the number of inspections of the connections that found this holder while the statement waited
     */
    public record Found(
            String locking,
            String threads,
            @Nullable StackTraceElement begun,
            String place,
            @Nullable Kind work,
            @Nullable Part operation,
            int looks) {

        /** Returns the recommended change for the code of this transaction. */
        public String advice() {
            boolean isNamed = Statements.isNamedLock(locking);
            return (isNamed ? "release this lock sooner" : "shorten the transaction that holds the row")
                    + (begun == null ? "" : ", begun in " + ApplicationCode.shown(begun))
                    + (isNamed ? ": it was taken with " : ": it locked rows with ")
                    + locking
                    + (place.isEmpty() ? "" : "; thread " + threads + " is mostly in " + place)
                    + LockedWork.advice(work).replaceFirst("hold it", "hold the lock")
                    + (operation == null ? "" : ": " + operation.name());
        }

        public String fact() {
            return String.format(
                    Locale.ROOT, "holder   thread %s*, found in %d samples while the statement waited", threads, looks);
        }
    }

    /**
     * Inspects all connections of the pools once, and finds the transactions that hold the locks that statements are
     * waiting for.
     */
    public void look(List<PoolSource> pools, long targetNanos) {
        long now = System.nanoTime();
        List<Holder> holders = new ArrayList<>();
        for (PoolSource pool : pools) {
            Holders known = pool.holders();
            holders.addAll(known == null ? List.of() : known.all());
        }
        Map<String, Long> waiting = new HashMap<>(); // for each statement, when its latest execution began
        for (Holder holder : holders) {
            String statement = holder.isExecuting() ? holder.statement() : null;
            boolean waits = statement != null && now - holder.statementNanos() >= WAITS_OF_TARGET * targetNanos;
            if (waits && (waiting.size() < MAX_WAITING || waiting.containsKey(statement))) {
                waiting.merge(statement, holder.statementNanos(), (one, other) -> one - other < 0 ? other : one);
            }
        }
        number++;
        forget(now);
        for (String statement : waiting.keySet()) {
            Waits found = waits.computeIfAbsent(statement, unknown -> new Waits());
            found.looks++;
            found.lastNanos = now;
        }
        int read = 0;
        for (Holder holder : waiting.isEmpty() ? List.<Holder>of() : holders) {
            if (read < MAX_READ && add(holder, waiting)) {
                read++;
            }
        }
    }

    private void forget(long now) {
        known.values().removeIf(seen -> now - seen.lastNanos > KEPT_NANOS);
        waits.values().removeIf(found -> now - found.lastNanos > KEPT_NANOS);
    }

    /** @param waiting the statements that may wait for a lock, each with the start of its latest execution */
    private boolean add(Holder holder, Map<String, Long> waiting) {
        String runs = holder.isExecuting() ? holder.statement() : null;
        boolean isAny = false;
        for (Map.Entry<String, Long> wait : waiting.entrySet()) {
            String statement = wait.getKey();
            boolean isFirst = holder.lockingNanos() - wait.getValue() <= 0;
            for (String lock : isFirst ? holder.locking() : List.<String>of()) {
                if (mayWaitFor(lock, statement) && !mayWaitToo(runs, lock, statement)) {
                    isAny |= add(new Key(statement, lock, threads(holder)), holder);
                }
            }
        }
        return isAny;
    }

    /**
     * Returns whether a statement may wait for the lock of another statement. A statement that only reads waits only
     * for table locks.
     */
    private boolean mayWaitFor(String lock, String statement) {
        Use held = use(lock);
        Use wanted = use(statement);
        return held.isOfOneLock(wanted) && (wanted.mayWait || held.locksTable);
    }

    /**
     * Returns whether a connection that is running the statement {@code runs} may itself be waiting for the lock that
     * the given statement waits for.
     */
    private boolean mayWaitToo(@Nullable String runs, String lock, String statement) {
        boolean runsLock = lock.equals(runs) && use(lock).locksTable;
        return runs != null && !runsLock && use(runs).isOfOneLock(use(statement));
    }

    private Use use(String statement) {
        if (uses.size() >= MAX_USES) {
            uses.clear();
        }
        return uses.computeIfAbsent(statement, Use::of);
    }

    private boolean add(Key key, Holder holder) {
        if (known.size() >= MAX_KNOWN && !known.containsKey(key)) {
            return false;
        }
        Seen seen = known.computeIfAbsent(key, unknown -> new Seen());
        seen.looks++;
        seen.lastNanos = System.nanoTime();
        if (seen.transactions.size() >= MAX_TRANSACTIONS) {
            seen.transactions.values().removeIf(last -> last < number - 1);
        }
        if (seen.transactions.size() < MAX_TRANSACTIONS || seen.transactions.containsKey(holder)) {
            Integer last = seen.transactions.put(holder, number);
            seen.pairs += last != null && last == number - 1 ? 1 : 0;
        }
        seen.begun = seen.begun == null ? holder.place() : seen.begun;
        String place = Statements.place(holder);
        if (!place.isEmpty() && (seen.places.size() < MAX_PLACES || seen.places.containsKey(place))) {
            seen.places.merge(place, 1, Integer::sum);
        }
        Kind work = work(holder);
        if (work != null) {
            seen.work.merge(work, 1, Integer::sum);
        }
        addOperation(seen, holder);
        return true;
    }

    private void addOperation(Seen seen, Holder holder) {
        Phase phase = holder.call().phase();
        if (holder.isExecuting() || !holder.call().isOpen() || !OUTSIDE.contains(phase)) {
            return;
        }
        countOutside(seen);
        String operation = holder.call().running(phase);
        if (operation != null && (seen.operations.size() < MAX_PLACES || seen.operations.containsKey(operation))) {
            seen.operations.merge(operation, 1, Integer::sum);
        }
    }

    /**
     * Counts an inspection if exactly one holder was running an operation on a server other than the database. The
     * inspection is not counted if several holders were running such operations: they hold different rows at the same
     * time, and it is unknown which of these rows the statement waits for.
     */
    private void countOutside(Seen seen) {
        if (seen.outsideIn != number) {
            seen.outsideIn = number;
            seen.isOneOutside = true;
            seen.outside++;
        } else if (seen.isOneOutside) {
            seen.isOneOutside = false;
            seen.outside--;
        }
    }

    private static String threads(Holder holder) {
        return NUMBER.matcher(holder.thread().getName()).replaceFirst("");
    }

    private static @Nullable Kind work(Holder holder) {
        if (holder.isExecuting()) {
            return Kind.SQL;
        }
        Phase phase = holder.call().isOpen() ? holder.call().phase() : Phase.OWN;
        if (phase.isOperation()) {
            return Account.part(phase, "").kind();
        }
        Thread thread = holder.thread();
        StackTraceElement[] frames = thread.getStackTrace();
        return frames.length == 0
                ? null
                : StackReader.read(new ThreadSnapshot(
                                thread.getName(), thread.getId(), thread.getState(), frames, null, null, -1, -1))
                        .kind();
    }

    /**
     * Returns the transaction that held the lock most often while the given statement waited; null if there is none.
     *
     * @param ofSameServer returns whether a statement runs on the same server as the waiting statement
     */
    @Nullable
    public Found holderFor(String statement, Predicate<String> ofSameServer) {
        return known.entrySet().stream()
                .filter(entry -> entry.getKey().waiting().equals(statement))
                .filter(entry -> lasts(statement, entry.getValue())
                        && ofSameServer.test(entry.getKey().locking()))
                .max(Comparator.<Map.Entry<Key, Seen>>comparingInt(entry -> entry.getValue().looks)
                        .thenComparing(entry -> entry.getKey().toString()))
                .map(entry -> found(entry.getKey(), entry.getValue()))
                .orElse(null);
    }

    private boolean lasts(String statement, Seen seen) {
        Waits found = waits.get(statement);
        if (found == null) {
            return false;
        }
        boolean isLong = seen.pairs >= MIN_PAIRS && PART_OF_WAITS * seen.pairs >= found.looks - 1;
        return isLong || (seen.outside >= MIN_OUTSIDE && 2 * seen.outside >= found.looks);
    }

    private static Found found(Key key, Seen seen) {
        String place = most(seen.places);
        return new Found(
                key.locking(),
                key.threads(),
                seen.begun,
                place == null ? "" : place,
                most(seen.work),
                operation(seen),
                seen.looks);
    }

    /**
     * Returns the operation that the holders of the lock run in at least half of the inspections; null if there is
     * none.
     */
    private static @Nullable Part operation(Seen seen) {
        Kind kind = most(seen.work);
        String name = most(seen.operations);
        if (kind == null || name == null || kind == Kind.SQL) {
            return null;
        }
        return 2 * seen.operations.getOrDefault(name, 0) < seen.looks ? null : new Part(kind, name);
    }

    private static <T extends Comparable<T>> @Nullable T most(Map<T, Integer> counts) {
        return counts.entrySet().stream()
                .max(Map.Entry.<T, Integer>comparingByValue().thenComparing(Map.Entry.comparingByKey()))
                .map(Map.Entry::getKey)
                .orElse(null);
    }

    public void clear() {
        waits.clear();
        known.clear();
    }
}
