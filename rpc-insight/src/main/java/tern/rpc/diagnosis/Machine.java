package tern.rpc.diagnosis;

import java.util.List;

/**
 * Processors and memory during the miss. A value of -1 is unknown.
 *
 * @param processors the processors that the process may use; less than a whole number under a quota
 * @param own the processors that the process kept busy
 * @param others the processors that other processes kept busy
 * @param throttled the share of the quota's periods in which the process was stopped
 * @param collecting the share of time in pauses of the collector
 * @param live the share of the old generation in use after a collection
 * @param allocatedPerSecond bytes
 * @param usuallyAllocatedPerSecond bytes
 * @param majorFaultsPerSecond pages read from disk
 * @param retransmitted the share of TCP segments that were sent again
 * @param burners groups of threads by the processor time that they used, the most first
 * @param missing evidence that the system does not give
 */
record Machine(
        double processors,
        double own,
        double others,
        double throttled,
        double collecting,
        double live,
        double allocatedPerSecond,
        double usuallyAllocatedPerSecond,
        double majorFaultsPerSecond,
        double retransmitted,
        List<Burner> burners,
        List<String> missing) {

    /** Nothing is known. */
    static final Machine UNKNOWN = new Machine(1, -1, -1, -1, -1, -1, -1, -1, -1, -1, List.of(), List.of());

    private static final double FULL = 0.8;

    Machine {
        burners = List.copyOf(burners);
        missing = List.copyOf(missing);
    }

    /**
     * Threads that are named alike.
     *
     * @param processors the processors that they kept busy
     */
    record Burner(String name, int threads, double processors) {}

    /** The same with the usual rate of allocation. */
    Machine usually(double allocated) {
        return new Machine(
                processors,
                own,
                others,
                throttled,
                collecting,
                live,
                allocatedPerSecond,
                allocated,
                majorFaultsPerSecond,
                retransmitted,
                burners,
                missing);
    }

    boolean isFull() {
        return Math.max(0, own) + Math.max(0, others) >= FULL * processors;
    }
}
