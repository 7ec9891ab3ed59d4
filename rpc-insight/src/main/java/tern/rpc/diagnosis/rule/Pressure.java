package tern.rpc.diagnosis.rule;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;
import tern.rpc.diagnosis.calls.Baseline;
import tern.rpc.diagnosis.cause.Cause.Change;
import tern.rpc.diagnosis.cause.Cause.Where;
import tern.rpc.diagnosis.cause.CauseDescription;
import tern.rpc.diagnosis.machine.Machine;
import tern.rpc.evidence.MachineSecond;

/**
 * Decides from the kernel's counters whether threads wait for memory or for a disk, and describes such waits as a
 * cause. The stacks of the threads do not show these waits: a thread waiting for a page of memory seems to be running.
 */
public final class Pressure {

    /** The names of the measured quantities whose usual values are learned. */
    static final String MEMORY_STALLS = "memory stalls";

    static final String DISK_STALLS = "disk stalls";
    static final String FAULTS = "major faults";

    /** The machine is assumed to lack memory if tasks wait for memory for at least {@value} of the time. */
    private static final double MUCH_MEMORY = 0.1;

    /**
     * If the kernel does not report stalls, the machine is assumed to lack memory if at least {@value} pages are read
     * back per second.
     */
    private static final double MANY_FAULTS = 100;

    /** The process itself is assumed to wait for memory if it reads back at least {@value} pages per second. */
    private static final double LEAST_FAULTS = 10;

    /** A disk counts as busy if tasks wait for it for at least {@value} of the time. */
    private static final double MUCH_DISK = 0.3;

    private static final double NOTABLE_DISK = 0.1;

    /**
     * Other processes are assumed to occupy the disk if they transfer at least {@value} times the bytes that this
     * process transfers.
     */
    private static final double OTHERS = 4;

    private static final double MIN_OTHER_BYTES = 5e6;

    /** A value counts as higher than usual if it is at least {@value} times the usual value. */
    private static final double MORE_THAN_USUAL = 2;

    private static final double MEGA = 1e6;
    private static final double NEARLY_AT_LIMIT = 0.9;

    private final @Nullable MachineSecond now;
    private final Baseline usual;

    public Pressure(Machine machine, Baseline usual) {
        this.now = machine.second();
        this.usual = usual;
    }

    /** Updates the usual values from a second in which the latency target was not missed. */
    public static void learn(Baseline usual, @Nullable MachineSecond second) {
        if (second != null) {
            learn(usual, MEMORY_STALLS, second.memoryStallShare());
            learn(usual, DISK_STALLS, diskShare(second));
            learn(usual, FAULTS, second.majorFaultsPerSecond());
        }
    }

    private static void learn(Baseline usual, String name, double value) {
        if (value >= 0) {
            usual.learn(name, value);
        }
    }

    /** Returns whether this process waits for memory that is reclaimed or read back from a disk. */
    boolean isOfMemory() {
        if (now == null) {
            return false;
        }
        double stalls = now.memoryStallShare();
        double faults = now.majorFaultsPerSecond();
        boolean isShort = stalls >= 0
                ? stalls >= MUCH_MEMORY && isMore(MEMORY_STALLS, stalls)
                : faults >= MANY_FAULTS && isMore(FAULTS, faults);
        boolean isAffected = faults >= LEAST_FAULTS || isAtLimit(now);
        return isShort && isAffected;
    }

    /** Returns whether other processes keep the disk busy. */
    boolean isOfDisk() {
        return now != null && diskShare(now) >= MUCH_DISK && isMore(DISK_STALLS, diskShare(now)) && isOfOthers(now);
    }

    private static boolean isOfOthers(MachineSecond now) {
        double others = now.otherDiskBytesPerSecond();
        double own = Math.max(0, now.readBytesPerSecond()) + Math.max(0, now.writtenBytesPerSecond());
        return others >= MIN_OTHER_BYTES && others >= OTHERS * own;
    }

    private boolean isMore(String name, double value) {
        return value >= MORE_THAN_USUAL * Math.max(0, usual.figure(name));
    }

    private static boolean isAtLimit(MachineSecond now) {
        return now.memoryLimitHitsPerSecond() > 0 || now.memoryThrottledPerSecond() > 0;
    }

    /** Returns the share of the time in which tasks waited for a disk; -1 if unknown. */
    private static double diskShare(MachineSecond now) {
        return now.ioStallShare() >= 0 ? now.ioStallShare() : now.iowaitShare();
    }

    /** Returns the evidence about waits for memory and disks, one fact per short line. */
    public List<String> facts() {
        List<String> facts = new ArrayList<>();
        if (now == null) {
            return facts;
        }
        add(facts, "memory   tasks waited for memory for %.0f %% of the time", now.memoryStallShare() * 100, 1);
        add(facts, "faults   %.0f pages/s read from disk", now.majorFaultsPerSecond(), 1);
        add(facts, "swap     %.1f MB/s read back", now.swapInPerSecond() / MEGA, 0.1);
        add(facts, "disk     tasks waited for a disk for %.0f %% of the time", diskShare(now) * 100, 1);
        add(facts, "others   transfer %.1f MB/s", now.otherDiskBytesPerSecond() / MEGA, 0.1);
        add(facts, "own      writes %.1f MB/s", now.writtenBytesPerSecond() / MEGA, 0.1);
        return facts;
    }

    /** Returns the evidence about the disk if tasks wait for it noticeably; otherwise an empty list. */
    public List<String> diskFacts() {
        return now == null || diskShare(now) < NOTABLE_DISK
                ? List.of()
                : facts().stream().filter(fact -> !fact.startsWith("memory")).toList();
    }

    private static void add(List<String> facts, String format, double value, double threshold) {
        if (value >= threshold) {
            facts.add(String.format(Locale.ROOT, format, value));
        }
    }

    /** Returns the cause description for waits for memory. */
    public CauseDescription memory() {
        long limit = now == null ? -1 : now.to().memory().limitBytes() >> 20;
        boolean isLimit = now != null && limit > 0 && (isAtLimit(now) || now.memoryShare() >= NEARLY_AT_LIMIT);
        boolean isSwap = now != null && now.swapInPerSecond() > 0;
        List<String> facts = new ArrayList<>(facts());
        if (now != null && isLimit) {
            facts.add(String.format(Locale.ROOT, "limit    %d MB, %.0f %% in use", limit, now.memoryShare() * 100));
        }
        String text = isLimit && !isSwap
                ? "set a higher memory limit of the container than " + limit
                        + " MB, or use a smaller heap and fewer mapped files: at the limit, the kernel drops pages"
                        + " that are still in use and reads them again"
                : isSwap
                        ? "use more memory, or fewer or smaller processes on this machine: it swaps, and a JVM whose"
                                + " heap is swapped out pauses repeatedly; prevent the swapping of this process"
                                + " (memory.swap.max=0, swapoff)"
                        : "use more memory, or fewer or smaller processes on this machine: the kernel drops pages"
                                + " that are still in use and reads them again";
        return new CauseDescription(
                isSwap ? "SWAPPING" : isLimit ? "MEMORY LIMIT" : "MEMORY PRESSURE",
                isLimit ? "limit of the container" : "memory of the machine",
                Change.of(Where.MACHINE, text + "; a different pool size does not help"),
                facts);
    }

    /** Returns the cause description for waits for a disk that other processes keep busy. */
    public CauseDescription disk() {
        return new CauseDescription(
                "DISK",
                "busy with other processes",
                Change.of(
                        Where.MACHINE,
                        "stop or limit the other processes that use this disk, such as a backup, a copy"
                                + " or a database, or give this process another disk; meanwhile do not access files in"
                                + " calls"),
                facts());
    }
}
