package tern.rpc.evidence;

import org.jspecify.annotations.Nullable;
import tern.rpc.evidence.Machine.Quota.Level;

/**
 * The changes between two readings of the machine. Every method returns -1 if a value is missing in one of the
 * readings, or if a counter was reset in between. Shares are between 0 and 1.
 */
public record MachineSecond(Machine from, Machine to, long nanos) {

    /** The number of processors that this process kept busy. */
    public double ownCpuProcessors() {
        return perNano(from.processors().ownNanos(), to.processors().ownNanos());
    }

    /** The number of processors that all processes together kept busy. */
    public double busyProcessors() {
        double user = perNano(from.processors().userNanos(), to.processors().userNanos());
        double low = lowPriorityProcessors();
        double system = perNano(from.processors().systemNanos(), to.processors().systemNanos());
        return user < 0 || low < 0 || system < 0 ? -1 : user + low + system;
    }

    /** The number of processors that threads with a nice value above 0 kept busy in user mode. */
    public double lowPriorityProcessors() {
        return perNano(from.processors().lowPriorityNanos(), to.processors().lowPriorityNanos());
    }

    /** The number of processors that other processes kept busy. */
    public double otherCpuProcessors() {
        double busy = busyProcessors();
        double own = ownCpuProcessors();
        return busy < 0 || own < 0 ? -1 : Math.max(0, busy - own);
    }

    /** The number of processors that this process may use: the smaller of its affinity and its quota. */
    public double allowedProcessors() {
        int allowed = to.processors().allowed();
        int affinity = allowed > 0 ? allowed : to.processors().available();
        double quota = to.quota().processors();
        return quota > 0 ? Math.min(quota, affinity) : affinity;
    }

    /** The time taken by other virtual machines on the same host, as a share of the processors' total time. */
    public double stealShare() {
        return ofMachine(delta(from.processors().stealNanos(), to.processors().stealNanos()));
    }

    /** The time taken by other virtual machines, as a share of the processor time needed by this machine. */
    public double stealShareOfDemand() {
        long user = delta(from.processors().userNanos(), to.processors().userNanos());
        long low = delta(from.processors().lowPriorityNanos(), to.processors().lowPriorityNanos());
        long system = delta(from.processors().systemNanos(), to.processors().systemNanos());
        long stolen = delta(from.processors().stealNanos(), to.processors().stealNanos());
        return user < 0 || low < 0 || system < 0 || stolen < 0 ? -1 : share(stolen, user + low + system + stolen);
    }

    /** The share of the processors' time during which they were idle because tasks waited for a disk. */
    public double iowaitShare() {
        return ofMachine(delta(from.processors().iowaitNanos(), to.processors().iowaitNanos()));
    }

    /**
     * The share of quota periods in which the process was throttled. If several groups have a quota, the value is the
     * largest share. The value is 0 if there is no quota.
     */
    public double throttledShare() {
        double worst = to.quota().levels().isEmpty() ? 0 : -1;
        for (Level level : to.quota().levels()) {
            Level before = before(level);
            if (before != null) {
                long periods = delta(before.periods(), level.periods());
                worst = Math.max(worst, share(delta(before.throttledPeriods(), level.throttledPeriods()), periods));
            }
        }
        return worst;
    }

    /**
     * The quota that throttled the process in the largest share of its periods, with the number of these periods
     * between the two readings. If the process did not belong to the quota's group at the first reading, all periods of
     * the group count. Null if there is no quota.
     */
    public @Nullable Level mostThrottling() {
        Level most = null;
        for (Level level : to.quota().levels()) {
            Level before = before(level);
            long periods = before == null ? level.periods() : delta(before.periods(), level.periods());
            long throttled = before == null
                    ? level.throttledPeriods()
                    : delta(before.throttledPeriods(), level.throttledPeriods());
            Level since = new Level(level.group(), level.processors(), periods, throttled);
            if (most == null || share(throttled, periods) > share(most.throttledPeriods(), most.periods())) {
                most = since;
            }
        }
        return most;
    }

    /** The share of the time during which at least one task waited for memory to be reclaimed or read back. */
    public double memoryStallShare() {
        return stalled(from.stalls().memoryNanos(), to.stalls().memoryNanos());
    }

    /** The share of the time during which at least one task waited for a disk. */
    public double ioStallShare() {
        return stalled(from.stalls().ioNanos(), to.stalls().ioNanos());
    }

    /** The used share of the control group's memory limit, including the page cache. */
    public double memoryShare() {
        return share(to.memory().usedBytes(), to.memory().limitBytes());
    }

    /** The number of allocations per second that were slowed down at {@code memory.high}. */
    public double memoryThrottledPerSecond() {
        return perSecond(from.memory().throttled(), to.memory().throttled());
    }

    public double memoryLimitHitsPerSecond() {
        return perSecond(from.memory().limitHits(), to.memory().limitHits());
    }

    public double majorFaultsPerSecond() {
        return perSecond(from.memory().majorFaults(), to.memory().majorFaults());
    }

    /** The number of bytes per second swapped in by the machine. */
    public double swapInPerSecond() {
        return perSecond(from.memory().swapInBytes(), to.memory().swapInBytes());
    }

    public double readBytesPerSecond() {
        return perSecond(from.disk().readBytes(), to.disk().readBytes());
    }

    /** The number of bytes per second read from and written to devices by other processes. */
    public double otherDiskBytesPerSecond() {
        double read = perSecond(from.disk().allReadBytes(), to.disk().allReadBytes());
        double written = perSecond(from.disk().allWrittenBytes(), to.disk().allWrittenBytes());
        double own = readBytesPerSecond() < 0 || writtenBytesPerSecond() < 0
                ? -1
                : readBytesPerSecond() + writtenBytesPerSecond();
        return read < 0 || written < 0 || own < 0 ? -1 : Math.max(0, read + written - own);
    }

    public double writtenBytesPerSecond() {
        return perSecond(from.disk().writtenBytes(), to.disk().writtenBytes());
    }

    /** The share of sent TCP segments that were retransmissions. */
    public double retransmitShare() {
        return share(
                delta(from.tcp().retransmitted(), to.tcp().retransmitted()),
                delta(from.tcp().segmentsOut(), to.tcp().segmentsOut()));
    }

    private @Nullable Level before(Level level) {
        for (Level candidate : from.quota().levels()) {
            if (candidate.group().equals(level.group())) {
                return candidate;
            }
        }
        return null;
    }

    private double stalled(long before, long after) {
        double share = perNano(before, after);
        return from.stalls().ofGroup() == to.stalls().ofGroup() ? Math.min(1, share) : -1;
    }

    private double ofMachine(long part) {
        Machine.Processors a = from.processors();
        Machine.Processors b = to.processors();
        long whole = 0;
        whole += Math.max(0, delta(a.userNanos(), b.userNanos()));
        whole += Math.max(0, delta(a.systemNanos(), b.systemNanos()));
        whole += Math.max(0, delta(a.idleNanos(), b.idleNanos()));
        whole += Math.max(0, delta(a.iowaitNanos(), b.iowaitNanos()));
        whole += Math.max(0, delta(a.stealNanos(), b.stealNanos()));
        return share(part, whole);
    }

    private double perSecond(long before, long after) {
        double rate = perNano(before, after);
        return rate < 0 ? -1 : rate * 1e9;
    }

    private double perNano(long before, long after) {
        long delta = delta(before, after);
        return delta < 0 || nanos <= 0 ? -1 : (double) delta / nanos;
    }

    private static double share(long part, long whole) {
        if (part < 0 || whole < 0) {
            return -1;
        }
        return whole == 0 ? 0 : Math.min(1, (double) part / whole);
    }

    private static long delta(long before, long after) {
        return before < 0 || after < before ? -1 : after - before;
    }
}
