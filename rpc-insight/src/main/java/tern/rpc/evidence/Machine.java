package tern.rpc.evidence;

import java.util.List;

/**
 * Counters of the machine, of the control groups of this process, and of the process. All count since the machine, the
 * group or the process started. A figure is -1 if the system does not provide it.
 *
 * @param missing a path and a reason for each file that could not be read
 */
public record Machine(
        Processors processors,
        Quota quota,
        Stalls stalls,
        Memory memory,
        Disk disk,
        Tcp tcp,
        Descriptors descriptors,
        List<String> missing) {

    public Machine {
        missing = List.copyOf(missing);
    }

    /** Returns the changes between two readings. */
    public MachineSecond since(Machine earlier, long nanos) {
        return new MachineSecond(earlier, this, nanos);
    }

    /**
     * Processor time. All figures except the first are those of the whole machine, as far as this container sees it.
     *
     * @param ownNanos time used by this process
     * @param userNanos time in user mode, including niced processes
     * @param systemNanos time in the kernel, including interrupts
     * @param stealNanos time taken by other virtual machines of the same host
     * @param online number of processors of the machine
     * @param allowed number of processors that the affinity of this process allows
     * @param available the number of processors by which the JVM sizes its pools; considers a quota
     */
    public record Processors(
            long ownNanos,
            long userNanos,
            long systemNanos,
            long idleNanos,
            long iowaitNanos,
            long stealNanos,
            long contextSwitches,
            int online,
            int allowed,
            int available) {}

    /**
     * Processor quotas of the own control group and of its parents.
     *
     * @param levels groups that have a quota, the own one first
     */
    public record Quota(List<Level> levels) {

        public Quota {
            levels = List.copyOf(levels);
        }

        /** The smallest quota, in processors; -1 if there is none. */
        public double processors() {
            return levels.stream().mapToDouble(Level::processors).min().orElse(-1);
        }

        /**
         * A control group with a quota.
         *
         * @param group its folder
         * @param processors number of processors that the group may use on average over a period
         * @param throttledNanos time spent throttled, added up over the group's run queues
         */
        public record Level(
                String group, double processors, long periods, long throttledPeriods, long throttledNanos) {}
    }

    /**
     * Time in which tasks were stalled (PSI).
     *
     * @param ofGroup whether the figures are of the own control group; otherwise they are of the whole machine
     */
    public record Stalls(boolean ofGroup, Stall cpu, Stall memory, Stall io) {

        /** Time in which some tasks, or all of them, waited for a resource. */
        public record Stall(long someNanos, long fullNanos) {

            static final Stall MISSING = new Stall(-1, -1);
        }
    }

    /**
     * Memory of the control group whose limit is lowest, and of this process.
     *
     * @param limitBytes -1 without a limit
     * @param limitHits number of allocations that reached the limit
     * @param throttled number of allocations that were slowed down at {@code memory.high}
     * @param minorFaults pages of this process that were mapped without reading
     * @param majorFaults pages of this process that had to be read from a disk
     * @param swapInBytes bytes swapped in by the whole machine
     */
    public record Memory(
            long limitBytes,
            long usedBytes,
            long limitHits,
            long throttled,
            long oomKills,
            long residentBytes,
            long swappedBytes,
            long minorFaults,
            long majorFaults,
            long swapInBytes,
            long swapOutBytes) {}

    /** Bytes that this process read from and wrote to devices. Bytes served by the page cache do not count. */
    public record Disk(long readBytes, long writtenBytes) {}

    /**
     * Counters of the network namespace.
     *
     * @param listenOverflows connections that were refused because the accept queue was full
     * @param listenDrops all connections that failed before they were accepted, including these
     * @param resetsSent connections that this side aborted
     * @param resetsReceived established connections that the other side aborted
     */
    public record Tcp(
            long segmentsOut,
            long retransmitted,
            long timeouts,
            long listenOverflows,
            long listenDrops,
            long resetsSent,
            long resetsReceived) {}

    /** Open files and sockets of this process. */
    public record Descriptors(long open, long max) {}
}
