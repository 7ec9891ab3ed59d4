package tern.rpc.diagnosis.rule;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import tern.rpc.Phase;
import tern.rpc.diagnosis.account.Part;
import tern.rpc.diagnosis.account.Part.Kind;
import tern.rpc.diagnosis.account.Times;
import tern.rpc.diagnosis.calls.Baseline;
import tern.rpc.diagnosis.calls.UsualOperations;
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

    /**
     * An operation of threads that serve no call.
     *
     * @param usualNanos its usual time; negative if unknown
     */
    public record Operation(OutsideOperations.Timed now, double usualNanos) {

        boolean isSlower() {
            return now.nanos() > usualNanos + Math.max(usualNanos / 2, Operations.WIDE_NANOS);
        }

        /** Returns text such as {@code StockService.reserve takes 12 ms, usually 11 ms}. */
        public String text() {
            return text(now.name(), now.nanos(), usualNanos);
        }

        public static String text(String operation, double nanos, double usualNanos) {
            return operation + " takes " + Times.millis(nanos) + " ms"
                    + (usualNanos < 0 ? "" : ", usually " + Times.millis(usualNanos) + " ms");
        }
    }

    /**
     * Returns those measured operations of the given threads whose usual time is known. Considers only the kind of
     * operation that most samples of these threads show. Returns an empty list if most samples show other work.
     *
     * @param name the common name of the threads
     */
    List<Operation> of(String name, TaskSamples threads) {
        return all(name, threads).stream()
                .filter(operation -> operation.usualNanos >= 0)
                .toList();
    }

    /** Returns the measured operations of all threads that serve no call. */
    List<Operation> all() {
        return evidence.outside().stream()
                .map(timed -> new Operation(timed, usualNanos(timed)))
                .toList();
    }

    /** Returns the operations that {@link #of} returns, and also the operations whose usual times are unknown. */
    private List<Operation> all(String name, TaskSamples threads) {
        Part largest =
                threads.parts.isEmpty() ? null : threads.parts.longestFirst().get(0);
        Phase phase = largest == null || largest.kind() == Kind.LOG ? null : Operations.phase(largest.kind());
        if (phase == null) {
            return List.of();
        }
        List<Operation> all = new ArrayList<>();
        for (OutsideOperations.Timed timed : evidence.outside()) {
            if (timed.kind() == phase && isOf(timed, name, threads)) {
                all.add(new Operation(timed, usualNanos(timed)));
            }
        }
        return all;
    }

    /**
     * Returns the usual time of an operation that threads outside of calls run; negative if it is unknown. If only its
     * usual time in calls is known, returns this time. The usual time in calls includes tasks: an operation of a task
     * counts as an operation of the task's call until the call has ended.
     */
    private double usualNanos(OutsideOperations.Timed timed) {
        double outside = evidence.usual().reliableFigure(Baseline.OUTSIDE + timed.key());
        return outside >= 0 ? outside : new UsualOperations(evidence.usual()).each(timed.kind(), timed.name());
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
     * Returns operations of threads that serve no call and have become slower. One of them may be the given operation.
     * The name of the given operation is unknown, because the operation is known only from samples of these threads.
     */
    public List<Operation> slowerIn(Part called) {
        return in(called).stream()
                .filter(operation -> operation.usualNanos >= 0 && operation.isSlower())
                .toList();
    }

    /**
     * Returns the names and times of the operations that became slower. If there are none, returns the longest
     * operation without a usual time; empty if there is none either.
     *
     * @param called as in {@link #slowerIn}
     */
    public String text(Part called) {
        List<Operation> slower = slowerIn(called);
        return slower.isEmpty()
                ? in(called).stream()
                        .filter(operation -> operation.usualNanos < 0)
                        .max(Comparator.comparingDouble(operation -> operation.now.nanos()))
                        .map(Operation::text)
                        .orElse("")
                : slower.stream().map(Operation::text).collect(Collectors.joining(", "));
    }

    private List<Operation> in(Part called) {
        String name =
                called.name().startsWith(StackReader.CALLED) ? evidence.tasks().executorIn(called) : null;
        TaskSamples threads = name == null ? null : evidence.tasks().executor(name);
        return name == null || threads == null ? List.of() : all(name, threads);
    }
}
