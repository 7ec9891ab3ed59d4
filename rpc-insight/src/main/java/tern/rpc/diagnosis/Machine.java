package tern.rpc.diagnosis;

import java.util.List;
import org.jspecify.annotations.Nullable;
import tern.rpc.evidence.MachineSecond;

/**
 * Processors and memory during the miss. A value of -1 is unknown.
 *
 * @param processors the processors that the process may use; may be a fraction under a quota
 * @param own the processors that the process kept busy
 * @param others the processors that other processes kept busy
 * @param throttled the share of the quota's periods in which the process was stopped
 * @param collecting the share of time spent in pauses of the garbage collector
 * @param live the share of the heap in use after a collection
 * @param collectionCause the cause that the JVM gives for most of the time of collections; null if there were none
 * @param allocatedPerSecond allocated bytes per second
 * @param usuallyAllocatedPerSecond usually allocated bytes per second
 * @param burners groups of threads by used processor time, the busiest first
 * @param collectorThreads the processors that threads of the collector kept busy
 * @param second the counters of the kernel; null if nothing is known
 * @param missing evidence that the system does not provide
 */
record Machine(
        double processors,
        double own,
        double others,
        double throttled,
        double collecting,
        double live,
        @Nullable String collectionCause,
        double allocatedPerSecond,
        double usuallyAllocatedPerSecond,
        List<Burner> burners,
        double collectorThreads,
        @Nullable MachineSecond second,
        List<String> missing) {

    /** The value if nothing is known. */
    static final Machine UNKNOWN = new Machine(1, -1, -1, -1, -1, -1, null, -1, -1, List.of(), -1, null, List.of());

    private static final double FULL = 0.8;

    Machine {
        burners = List.copyOf(burners);
        missing = List.copyOf(missing);
    }

    /**
     * A group of threads with similar names.
     *
     * @param processors the processors that they kept busy
     * @param allocatedPerSecond the bytes that they allocated
     * @param place the method of the application that they were found in most often; null if there is none
     */
    record Burner(
            String name,
            int threads,
            double processors,
            double allocatedPerSecond,
            @Nullable String place) {}

    /** Returns a copy with the usual rate of allocation. */
    Machine usually(double allocated) {
        return new Machine(
                processors,
                own,
                others,
                throttled,
                collecting,
                live,
                collectionCause,
                allocatedPerSecond,
                allocated,
                burners,
                collectorThreads,
                second,
                missing);
    }

    boolean isFull() {
        return Math.max(0, own) + Math.max(0, others) >= FULL * processors;
    }
}
