package tern.rpc.diagnosis;

import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.concurrent.Executor;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import tern.rpc.diagnosis.calls.MethodAllocation;
import tern.rpc.diagnosis.machine.HeapGrowth;
import tern.rpc.diagnosis.machine.Machine;
import tern.rpc.diagnosis.machine.ProcessWatch;
import tern.rpc.diagnosis.sample.SampledCall;
import tern.rpc.diagnosis.text.CollectorText;
import tern.rpc.diagnosis.text.HeapText;

/**
 * Reports a heap that will soon be full while calls still meet the latency target. Collections make calls late only
 * shortly before the heap is full. Not thread-safe: only the diagnosis thread uses it.
 */
final class FillingHeap {

    private static final Logger LOG = LoggerFactory.getLogger(Diagnostician.class);

    /** The heap is reported after it has grown in {@value} successive seconds. */
    private static final int MIN_SECONDS = 2;

    /** The minimum time between two logged lines. */
    private static final long SECONDS_BETWEEN_LINES = Duration.ofMinutes(1).toSeconds();

    private final ProcessWatch process;
    private final Executor log;
    private long seconds; // the number of consecutive seconds in which the heap grew too fast
    private long secondsSinceLine = SECONDS_BETWEEN_LINES;
    private String logged = ""; // the code in the last logged line whose objects stay; empty if it was unknown

    /** @param log writes log lines, usually on another thread */
    FillingHeap(ProcessWatch process, Executor log) {
        this.process = process;
        this.log = log;
    }

    /** Reads the growth of the heap. Called once a second. */
    void second(Machine machine) {
        HeapGrowth growth = machine.growth();
        seconds = growth != null && growth.isSoon() ? seconds + 1 : 0;
        secondsSinceLine++;
    }

    /** Returns whether the heap grew so fast in the last second that it will soon be full. */
    boolean isSuspected() {
        return seconds > 0;
    }

    /**
     * Adds a line about the heap to a diagnosis of late calls, if the heap will soon be full and no cause says so. The
     * calls may be late for another reason, and the objects of the waiting calls may fill the heap.
     */
    Diagnosis noted(Diagnosis diagnosis, Machine machine) {
        HeapGrowth growth = machine.growth();
        boolean isKnown = diagnosis.causes().stream()
                .anyMatch(cause -> cause.kind().startsWith(CollectorText.HEAP)
                        || cause.change().text().contains("the heap fills"));
        return growth == null || seconds < MIN_SECONDS || isKnown
                ? diagnosis
                : diagnosis.withNote(growth.line(machine.allocatedPerSecond()) + "; " + growth.untilFull());
    }

    /**
     * Adds lines about the heap to a diagnosis of calls that meet the target, if the heap will soon be full. Also logs
     * the lines, at most once a minute, and when the code is known whose objects stay.
     */
    Diagnosis added(
            Diagnosis healthy, Machine machine, Collection<SampledCall> samples, List<MethodAllocation> allocations) {
        HeapGrowth growth = machine.growth();
        if (growth == null || seconds < MIN_SECONDS) {
            return healthy;
        }
        if (process.recording().maySearchCheaply()) {
            process.searchObjects();
        }
        String kept = process.keptObjects();
        List<String> lines = new HeapText(kept, allocations, samples).lines(growth, machine);
        if (secondsSinceLine >= SECONDS_BETWEEN_LINES || !kept.equals(logged)) {
            secondsSinceLine = 0;
            logged = kept;
            log.execute(() -> LOG.warn(
                    "The heap is filling up, although calls still meet the target: {}", String.join("; ", lines)));
        }
        return healthy.withNote(String.join("\n  ", lines));
    }
}
