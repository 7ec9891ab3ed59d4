package tern.rpc.diagnosis.sample;

import java.util.Comparator;
import java.util.List;
import org.jspecify.annotations.Nullable;
import tern.rpc.CallLedger;
import tern.rpc.NamedTimes;
import tern.rpc.Phase;
import tern.rpc.RunningCall;
import tern.rpc.diagnosis.account.Part;
import tern.rpc.diagnosis.account.Sample;
import tern.rpc.diagnosis.stack.LibraryWaits;

/**
 * Finds the operations that the threads that serve calls are running or waiting for. An example is a thread waiting for
 * the answer of a WebClient. Its stack shows only a wait for a result, but the ledger of its call shows the exchange.
 */
final class AwaitedOperations {

    private AwaitedOperations() {}

    /**
     * Returns the operation that the call's thread runs, or the asynchronous operation whose result it waits for.
     * Returns null if there is none, or if its name is unknown.
     *
     * @param activity the activity of the call's thread
     * @param called the method that the application called; null if unknown
     */
    static NamedTimes.@Nullable Entry of(RunningCall call, Part activity, @Nullable String called) {
        Phase phase = call.phase();
        if (phase.isOperation()) {
            String running = call.ledger().running(phase);
            return running == null ? null : new NamedTimes.Entry(phase, running, 1, call.phaseNanos());
        }
        boolean waits = phase == Phase.OWN
                && activity.kind() == Part.Kind.RESULT
                && !(called != null && LibraryWaits.takesFromQueue(called));
        return waits ? longest(call.ledger()) : null;
    }

    /**
     * Returns the call's asynchronous operation that has run longest; null if there is none. If a task of the call runs
     * or is queued, the call may wait for this task instead, so the result is null.
     */
    static NamedTimes.@Nullable Entry longest(CallLedger call) {
        List<NamedTimes.Entry> running = call.parts().isEmpty() ? call.unfinished() : List.of();
        return running.stream().anyMatch(entry -> entry.kind() == Phase.EXECUTOR)
                ? null
                : running.stream()
                        .max(Comparator.comparingLong(NamedTimes.Entry::nanos))
                        .orElse(null);
    }

    /**
     * Returns the samples of a call. In these samples, each wait for an operation that has ended is replaced with the
     * operation. The ledger contains the time of an ended operation, and no longer counts it as time of the call's own
     * code. An operation that has not ended has no time in the ledger, so its samples stay samples of a wait.
     */
    static List<Sample> resolved(List<Sample> samples, CallLedger ledger) {
        if (samples.stream().noneMatch(Sample::isAwaiting)) {
            return List.copyOf(samples);
        }
        List<NamedTimes.Entry> unfinished = ledger.unfinished();
        return samples.stream()
                .map(sample -> sample.isAwaiting() && !isIn(unfinished, sample.operation())
                        ? sample.duringOperation()
                        : sample)
                .toList();
    }

    private static boolean isIn(List<NamedTimes.Entry> running, NamedTimes.@Nullable Entry operation) {
        return operation != null
                && running.stream()
                        .anyMatch(entry ->
                                entry.kind() == operation.kind() && entry.name().equals(operation.name()));
    }
}
