package tern.rpc.diagnosis.rule;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import tern.rpc.Phase;
import tern.rpc.diagnosis.account.Part;
import tern.rpc.diagnosis.account.Part.Kind;
import tern.rpc.diagnosis.account.Times;
import tern.rpc.diagnosis.calls.Baseline;
import tern.rpc.diagnosis.excess.Evidence;
import tern.rpc.diagnosis.excess.Operations;
import tern.rpc.diagnosis.sample.TaskSamples;
import tern.rpc.diagnosis.sample.TaskWatch;
import tern.rpc.diagnosis.stack.StackReader;
import tern.rpc.pool.OutsideOperations;

/**
 * Compares the operations of threads that serve no call with the usual times of these operations. The ledgers of calls
 * contain such operations only if the threads run tasks of calls on executors that Tern measures.
 */
public final class OutsideWork {

    private final Evidence evidence;

    public OutsideWork(Evidence evidence) {
        this.evidence = evidence;
    }

    /** An operation of threads that serve no call. */
    public record Operation(OutsideOperations.Timed now, double usualNanos) {

        boolean isSlower() {
            return now.nanos() > usualNanos + Math.max(usualNanos / 2, Operations.WIDE_NANOS);
        }

        /** Returns text such as {@code StockService.reserve takes 12 ms, usually 11 ms}. */
        public String text() {
            return text(now.name(), now.nanos(), usualNanos);
        }

        public static String text(String operation, double nanos, double usualNanos) {
            return operation + " takes " + Times.millis(nanos) + " ms, usually " + Times.millis(usualNanos) + " ms";
        }
    }

    /**
     * Returns the measured operations of the given threads that have a usual time. Considers only the kind of operation
     * in which the threads are found most often; returns an empty list if they are mostly found in other work.
     *
     * @param name the common name of the threads
     */
    List<Operation> of(String name, TaskSamples threads) {
        Part largest =
                threads.parts.isEmpty() ? null : threads.parts.longestFirst().get(0);
        Phase phase = largest == null || largest.kind() == Kind.LOG ? null : Operations.phase(largest.kind());
        if (phase == null) {
            return List.of();
        }
        List<Operation> known = new ArrayList<>();
        for (OutsideOperations.Timed timed : evidence.outside()) {
            double usually = evidence.usual().reliableFigure(Baseline.OUTSIDE + timed.key());
            if (timed.kind() == phase && usually >= 0 && isOf(timed, name, threads)) {
                known.add(new Operation(timed, usually));
            }
        }
        return known;
    }

    private static boolean isOf(OutsideOperations.Timed timed, String name, TaskSamples threads) {
        return timed.threadName().isEmpty()
                ? threads.callsRemotely(methodOf(timed.name()))
                : TaskWatch.nameOf(timed.threadName()).equals(name);
    }

    private static String methodOf(String operation) {
        return operation.substring(operation.lastIndexOf('.') + 1);
    }

    /**
     * Returns whether an operation of the given threads has become slower; null if the usual time of none of their
     * operations is known.
     */
    @Nullable
    Boolean isAnySlower(String name, TaskSamples threads) {
        List<Operation> known = of(name, threads);
        return known.isEmpty() ? null : known.stream().anyMatch(Operation::isSlower);
    }

    /**
     * Returns the operations of threads that serve no call. The operations must have become slower, and may be the
     * given operation. The name of the given operation is unknown, because the operation is known only from samples of
     * these threads.
     */
    public List<Operation> slowerIn(Part called) {
        String name =
                called.name().startsWith(StackReader.CALLED) ? evidence.tasks().executorIn(called) : null;
        TaskSamples threads = name == null ? null : evidence.tasks().executor(name);
        return name == null || threads == null
                ? List.of()
                : of(name, threads).stream().filter(Operation::isSlower).toList();
    }
}
