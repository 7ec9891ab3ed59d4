package tern.rpc.pool;

import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.LongAdder;

/**
 * Counts the rows in the results of one statement. A statement that suddenly returns many rows makes calls late in
 * several places: in the database, in the code that reads the rows, and in the collector. Only some results are
 * counted, because counting the rows of a result needs a proxy for it. Results without rows are not counted.
 * Thread-safe.
 */
public final class ResultRows {

    /** If counting the rows of a result needs a proxy, only one in {@value} results is counted. */
    private static final int ONE_IN = 8;

    private static final int MAX_STATEMENTS = 1_024;

    /**
     * The length of the periods over which rows are counted, in nanoseconds. The counts of the current and the previous
     * period are used.
     */
    private static final long PERIOD_NANOS = 5_000_000_000L;

    /**
     * If the current period contains at least {@value} results, the mean number of rows is computed from this period
     * alone.
     */
    private static final int ENOUGH = 8;

    private static final ConcurrentMap<String, ResultRows> STATEMENTS = new ConcurrentHashMap<>();
    private static final ResultRows OTHERS = new ResultRows();
    private static volatile long turnedNanos; // the beginning of the current period

    private static final class Period {
        final LongAdder results = new LongAdder();
        final LongAdder rows = new LongAdder();
    }

    private final AtomicInteger executions = new AtomicInteger();
    private volatile Period present = new Period();
    private volatile Period last = new Period();

    private ResultRows() {}

    /**
     * Returns the counter of the statement with the given name. If there are too many statements, all other statements
     * share one counter.
     */
    public static ResultRows of(String statement) {
        ResultRows known = STATEMENTS.get(statement);
        if (known != null) {
            return known;
        }
        return STATEMENTS.size() >= MAX_STATEMENTS
                ? OTHERS
                : STATEMENTS.computeIfAbsent(statement, name -> new ResultRows());
    }

    /** Returns whether the rows of the next result should be counted. */
    public boolean countsNext() {
        return Math.floorMod(executions.getAndIncrement(), ONE_IN) == 0;
    }

    /**
     * Counts one row.
     *
     * @param isFirst whether the row is the first one of its result
     */
    public void row(boolean isFirst) {
        Period period = present;
        if (isFirst) {
            period.results.increment();
        }
        period.rows.increment();
    }

    /** Begins a new period if the current one is long enough. Only the diagnosis calls this. */
    public static void turn(long now) {
        if (Math.abs(now - turnedNanos) < PERIOD_NANOS) {
            return;
        }
        turnedNanos = now;
        STATEMENTS.values().forEach(statement -> {
            statement.last = statement.present;
            statement.present = new Period();
        });
    }

    /** Returns the mean number of rows of a result of the given statement in the last seconds; -1 if it is unknown. */
    public static double mean(String statement) {
        ResultRows known = STATEMENTS.get(statement);
        return known == null ? -1 : known.mean();
    }

    /** Returns the number of results of the given statement that were counted in the last seconds. */
    public static long counted(String statement) {
        ResultRows known = STATEMENTS.get(statement);
        return known == null ? 0 : known.present.results.sum() + known.last.results.sum();
    }

    /** Returns the mean number of rows of a result in the last seconds, by statement. */
    public static Map<String, Double> means() {
        Map<String, Double> means = new HashMap<>();
        STATEMENTS.forEach((name, statement) -> {
            double mean = statement.mean();
            if (mean >= 0) {
                means.put(name, mean);
            }
        });
        return means;
    }

    private double mean() {
        long results = present.results.sum();
        long rows = present.rows.sum();
        if (results < ENOUGH) {
            results += last.results.sum();
            rows += last.rows.sum();
        }
        return results == 0 ? -1 : (double) rows / results;
    }
}
