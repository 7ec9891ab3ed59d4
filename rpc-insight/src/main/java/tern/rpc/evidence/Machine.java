package tern.rpc.evidence;

import java.util.List;

/**
 * Counters of the machine, of the control groups of this process, and of the process itself. Each counter started at
 * zero when the machine, the group or the process started. A value is -1 if the operating system does not provide it.
 *
 * @param missing the path of each file that could not be read, with the reason
 */
public record Machine(
        Processors processors, Quota quota, Stalls stalls, Memory memory, Disk disk, Tcp tcp, List<String> missing) {

    public Machine {
        missing = List.copyOf(missing);
    }

    /** Returns the changes between two readings. */
    public MachineSecond since(Machine earlier, long nanos) {
        return new MachineSecond(earlier, this, nanos);
    }

    /**
     * Processor time. All values except {@code ownNanos} apply to the whole machine, as far as it is visible from this
     * container.
     *
     * @param ownNanos the time used by this process
     * @param userNanos the time in user mode, without threads of low priority
     * @param lowPriorityNanos the time in user mode of threads with a nice value above 0
     * @param systemNanos the time in the kernel, including interrupts
     * @param stealNanos the time taken by other virtual machines on the same host
     * @param allowed the number of processors that the affinity of this process allows
     * @param available the number of processors from which the JVM derives its pool sizes; includes the effect of a
     *     quota
     */
    public record Processors(
            long ownNanos,
            long userNanos,
            long lowPriorityNanos,
            long systemNanos,
            long idleNanos,
            long iowaitNanos,
            long stealNanos,
            int allowed,
            int available) {}

    /**
     * The processor quotas of the process's own control group and its parents.
     *
     * @param levels the groups that have a quota, the process's own group first
     */
    public record Quota(List<Level> levels) {

        public Quota {
            levels = List.copyOf(levels);
        }

        /** The smallest quota, in processors; -1 if no group has a quota. */
        public double processors() {
            return levels.stream().mapToDouble(Level::processors).min().orElse(-1);
        }

        /**
         * A control group (cgroup) with a quota.
         *
         * @param group the directory of the cgroup
         * @param processors the number of processors that the cgroup may use on average over a period
         */
        public record Level(String group, double processors, long periods, long throttledPeriods) {}
    }

    /**
     * The times during which at least one task was stalled (pressure stall information, PSI).
     *
     * @param ofGroup whether the values apply to the process's own control group; otherwise they apply to the whole
     *     machine
     * @param memoryNanos how long tasks waited for memory to be reclaimed or read back
     * @param ioNanos how long tasks waited for a disk
     */
    public record Stalls(boolean ofGroup, long memoryNanos, long ioNanos) {}

    /**
     * Memory of the control group with the lowest limit, and of this process.
     *
     * @param limitBytes the memory limit; -1 if there is none
     * @param limitHits the number of allocations that reached the limit
     * @param throttled the number of allocations that were slowed down at {@code memory.high}
     * @param majorFaults the number of pages of this process that had to be read from a disk
     * @param swapInBytes the number of bytes swapped in by the whole machine
     */
    public record Memory(
            long limitBytes, long usedBytes, long limitHits, long throttled, long majorFaults, long swapInBytes) {}

    /**
     * The number of bytes read from and written to devices by this process. Bytes served by the page cache are not
     * counted.
     *
     * @param allReadBytes the number of bytes read from devices by the whole machine
     * @param allWrittenBytes the number of bytes written to devices by the whole machine
     */
    public record Disk(long readBytes, long writtenBytes, long allReadBytes, long allWrittenBytes) {}

    /** The number of TCP segments that were sent in the network namespace, and of segments that were sent again. */
    public record Tcp(long segmentsOut, long retransmitted) {}
}
