package tern.rpc.diagnosis.excess;

import java.util.List;
import java.util.Locale;
import java.util.stream.Stream;
import tern.rpc.NamedTimes;
import tern.rpc.Phase;
import tern.rpc.diagnosis.account.EndedCall;
import tern.rpc.diagnosis.account.Times;
import tern.rpc.diagnosis.sample.Statements;

/**
 * Finds quick executions of a statement that is slow in other calls. The diagnosis treats statements with equal texts,
 * apart from their values, as one statement. If some executions of a slow statement are quick, the statement is
 * probably slow only for some values.
 */
public final class QuickExecutions {

    /**
     * Quick executions are considered only if the recorded calls that met the latency target contain at least {@value}
     * executions. A smaller number of quick executions proves nothing.
     */
    private static final int MIN_EXECUTIONS = 5;

    /** Executions count as quick only if slow executions take at least {@value} times as long. */
    private static final double SLOWER = 5;

    private QuickExecutions() {}

    /**
     * Returns the advice to compare the values of a statement; empty if there are too few quick executions. A statement
     * that changes or locks rows is more likely to wait for a row lock.
     *
     * @param slowNanos the mean time of the executions in late calls
     */
    public static String hint(Evidence evidence, String statement, double slowNanos) {
        double quick = meanNanos(evidence, statement);
        if (quick < 0 || quick * SLOWER > slowNanos) {
            return "";
        }
        return Statements.writes(statement.toLowerCase(Locale.ROOT))
                ? "; other executions take " + Times.millis(quick)
                        + " ms, so the slow ones probably wait for rows that other transactions have locked"
                : "; compare its values, because other executions take " + Times.millis(quick)
                        + " ms: a number for a text column, for example, prevents the use of an index";
    }

    /**
     * Returns the mean time of the quick executions of a statement in the last minutes, also in late calls; -1 if there
     * are too few.
     *
     * @param slowNanos the mean time of the slow executions
     * @param factor an execution is quick if the slow ones take at least this multiple of its time
     */
    public static double ofLastMinutes(Evidence evidence, String statement, double slowNanos, double factor) {
        long count = 0;
        long nanos = 0;
        for (EndedCall call : concat(evidence.earlier(), evidence.earlierGood())) {
            for (NamedTimes.Entry entry : call.ledger().named()) {
                if (entry.kind() == Phase.SQL
                        && entry.name().equals(statement)
                        && factor * entry.nanos() <= slowNanos * entry.count()) {
                    count += entry.count();
                    nanos += entry.nanos();
                }
            }
        }
        return count >= MIN_EXECUTIONS ? (double) nanos / count : -1;
    }

    private static List<EndedCall> concat(List<EndedCall> some, List<EndedCall> others) {
        return Stream.concat(some.stream(), others.stream()).toList();
    }

    /**
     * Returns the mean time of a statement's executions in calls that met the target and ended after the first late
     * call. Returns -1 if there are too few such executions.
     */
    private static double meanNanos(Evidence evidence, String statement) {
        long first =
                evidence.bad().stream().mapToLong(EndedCall::endedNanos).min().orElse(Long.MAX_VALUE);
        long count = 0;
        long nanos = 0;
        for (EndedCall call : evidence.good()) {
            if (call.endedNanos() - first < 0) {
                continue;
            }
            for (NamedTimes.Entry entry : call.ledger().named()) {
                if (entry.kind() == Phase.SQL && entry.name().equals(statement)) {
                    count += entry.count();
                    nanos += entry.nanos();
                }
            }
        }
        return count >= MIN_EXECUTIONS ? (double) nanos / count : -1;
    }
}
