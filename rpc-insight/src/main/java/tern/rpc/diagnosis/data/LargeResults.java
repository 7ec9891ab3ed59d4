package tern.rpc.diagnosis.data;

import java.util.Locale;
import org.jspecify.annotations.Nullable;
import tern.rpc.Phase;
import tern.rpc.diagnosis.account.OperationNames;
import tern.rpc.diagnosis.account.Part;
import tern.rpc.diagnosis.account.Part.Kind;
import tern.rpc.diagnosis.calls.Baseline;
import tern.rpc.diagnosis.excess.Evidence;
import tern.rpc.diagnosis.excess.ExcessTime;
import tern.rpc.diagnosis.excess.OperationCounts;
import tern.rpc.diagnosis.excess.Operations;
import tern.rpc.pool.ResultRows;

/**
 * Recognizes statements whose results have become large. Such a statement takes more time in the database, and its rows
 * take time in the code that reads them, in the answer that contains them, and in the collector.
 */
public final class LargeResults {

    /** A result counts as large only if it has at least {@value} rows. */
    private static final double MANY = 1_000;

    /** A result counts as large if it contains at least {@value} times the usual number of rows. */
    private static final double MORE = 3;

    /**
     * Results count as large only if the rows of at least {@value} results were counted, because a single large result
     * may occur by chance.
     */
    private static final int MIN_RESULTS = 3;

    /** The evidence mentions the number of rows only if it is at least {@value}. */
    private static final double NOTABLE = 100;

    /** The time that is usually sufficient to read a row over the network and create its object, in nanoseconds. */
    private static final double NANOS_OF_ROW = 50e3;

    private final Evidence evidence;
    private final ExcessTime excess;
    private final Operations operations;

    public LargeResults(Evidence evidence, ExcessTime excess, Operations operations) {
        this.evidence = evidence;
        this.excess = excess;
        this.operations = operations;
    }

    static String nameOf(Part statement) {
        return OperationNames.withoutStatus(statement.name());
    }

    private static double rows(Part statement) {
        return statement.kind() == Kind.SQL && !statement.name().isEmpty() ? ResultRows.mean(nameOf(statement)) : -1;
    }

    private double usually(Part statement) {
        return evidence.usual().reliableFigure(Baseline.ROWS + nameOf(statement));
    }

    /**
     * Returns whether the results of the given statement have become large. If the usual number of rows is unknown, the
     * statement must be new.
     */
    public boolean isLarge(Part statement) {
        double rows = rows(statement);
        if (rows < MANY || ResultRows.counted(nameOf(statement)) < MIN_RESULTS) {
            return false;
        }
        double usually = usually(statement);
        if (usually >= 0) {
            return rows >= MORE * usually;
        }
        OperationCounts counts = new OperationCounts(evidence, excess, operations);
        return counts.areNew(statement) || (counts.areUnusual(statement) && takesTheTimeOfItsRows(statement, rows));
    }

    /**
     * Returns whether the number of rows explains the time of a statement. If not, a new statement with many rows may
     * still be slow for a different reason, such as a missing index.
     */
    private boolean takesTheTimeOfItsRows(Part statement, double rows) {
        double eachNanos = operations.of(Phase.SQL, statement.name()).eachNanos();
        return eachNanos > 0 && eachNanos <= rows * NANOS_OF_ROW;
    }

    /** Returns the evidence about the number of rows; null if results contain few rows or if the number of rows is
     * unknown. */
    @Nullable
    public String fact(Part statement) {
        return rows(statement) < NOTABLE ? null : "rows     " + text(statement);
    }

    /** Returns the number of rows of a result, with the usual number if it is known. */
    public String text(Part statement) {
        double usually = usually(statement);
        return String.format(Locale.ROOT, "%,.0f rows a result", rows(statement))
                + (usually < 0 ? "" : String.format(Locale.ROOT, ", usually %,.0f", usually));
    }
}
