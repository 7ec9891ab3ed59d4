package tern.rpc.diagnosis.rule;

import java.util.EnumSet;
import java.util.Set;
import tern.rpc.diagnosis.account.Part;
import tern.rpc.diagnosis.account.Part.Kind;
import tern.rpc.diagnosis.account.Times;

/**
 * While threads wait for memory or for a disk, attributes the delay of late calls to the lack of memory or to the disk.
 * No stack shows a wait for memory or for a disk. Instead, code, the garbage collector and operations seem to become
 * slower.
 */
final class PressureRules extends Rule {

    /**
     * Activities and waits that may contain waits for memory or for a disk are sufficient evidence only if they take at
     * least {@value} of the time above the calls' usual time.
     */
    private static final double MUCH = 0.3;

    private static final double NOTABLE = 0.1;

    /**
     * An activity or wait that takes more than {@value} of the time above the calls' usual time remains a separate
     * cause.
     */
    private static final double NEARLY_ALL = 0.9;

    /** The kinds of activities and waits whose times include waits for memory that are not measured separately. */
    private static final Set<Kind> BY_MEMORY =
            EnumSet.of(Kind.NATIVE, Kind.JVM_PAUSE, Kind.OUTSIDE, Kind.COLLECTOR, Kind.UNEXPLAINED, Kind.CLASS_LOADING);

    /** The kinds of activities that also take longer if the machine lacks memory. */
    private static final Set<Kind> SLOWED =
            EnumSet.of(Kind.COMPUTING, Kind.FILE, Kind.LOG, Kind.SQL, Kind.REDIS, Kind.HTTP, Kind.RPC, Kind.RUN_QUEUE);

    private static final Set<Kind> BY_DISK = EnumSet.of(Kind.FILE, Kind.LOG, Kind.NATIVE);

    private final Pressure pressure;

    PressureRules(Rule other) {
        super(other);
        this.pressure = new Pressure(evidence.machine(), evidence.usual());
    }

    void apply() {
        if (pressure.isOfMemory()) {
            passOnToMemory();
        }
        double all = byCause.sum();
        Times waits = byCause.only(part -> BY_DISK.contains(part.kind()));
        if (pressure.isOfDisk() && waits.sum() >= MUCH * all) {
            waits.longestFirst().forEach(part -> byCause.move(part, Part.of(Kind.DISK)));
        }
    }

    private void passOnToMemory() {
        double all = byCause.sum();
        Times waits = byCause.only(this::isByMemory);
        Times slowed = byCause.only(part -> SLOWED.contains(part.kind()));
        long kinds = slowed.longestFirst().stream()
                .map(Part::kind)
                .distinct()
                .filter(kind -> slowed.sum(kind) >= NOTABLE * all)
                .count();
        boolean isOne = slowed.longestFirst().stream().anyMatch(part -> byCause.of(part) > NEARLY_ALL * all);
        if (isOne || (waits.sum() < MUCH * all && kinds < 2)) {
            return;
        }
        Part memory = Part.of(Kind.MEMORY);
        waits.longestFirst().forEach(part -> byCause.move(part, memory));
        if (kinds >= 2) {
            slowed.longestFirst().forEach(part -> byCause.move(part, memory));
        }
    }

    /**
     * Returns whether the given activity or wait may contain waits for memory. If the heap is nearly full, the
     * collector takes a lot of time even if the machine has enough memory.
     */
    private boolean isByMemory(Part part) {
        boolean isFull = part.kind() == Kind.COLLECTOR && evidence.machine().isHeapFilling();
        return BY_MEMORY.contains(part.kind()) && !isFull;
    }
}
