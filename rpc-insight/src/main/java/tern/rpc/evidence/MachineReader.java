package tern.rpc.evidence;

import java.nio.file.Path;
import tern.rpc.evidence.Machine.Disk;
import tern.rpc.evidence.Machine.Processors;
import tern.rpc.evidence.Machine.Tcp;

/** Reads the counters in {@code /proc} and in the control group files. Thread-safe. */
public final class MachineReader {

    /**
     * The duration of a tick in {@code /proc/stat}, in nanoseconds. On all common Linux platforms, the kernel reports
     * 100 ticks per second to processes (USER_HZ).
     */
    private static final long NANOS_A_TICK = 10_000_000;

    private static final long KIB = 1024;

    private final Path root;
    private final OwnProcess own;
    private volatile Groups groups;

    /**
     * The control groups of the process.
     *
     * @param text the content of {@code /proc/self/cgroup} from which the groups were found
     */
    private record Groups(String text, ControlGroups found) {}

    /** @param root the folder that contains {@code proc} and {@code sys}; {@code /} in production */
    public MachineReader(Path root) {
        this(root, OwnProcess.ofThisJvm());
    }

    MachineReader(Path root, OwnProcess own) {
        this.root = root;
        this.own = own;
        this.groups = new Groups("", ControlGroups.find(new SystemFiles(root)));
    }

    /**
     * Returns the current control groups of the process. A process may be moved into another group, with another quota,
     * at any time.
     */
    private ControlGroups groups() {
        SystemFiles files = new SystemFiles(root);
        String text = files.text("proc/self/cgroup");
        Groups known = groups;
        if (!known.text.equals(text)) {
            known = new Groups(text, ControlGroups.find(files));
            groups = known;
        }
        return known.found;
    }

    /** Reads the counters of the operating system. The files are small, so reading them is fast. */
    public Machine read() {
        SystemFiles files = new SystemFiles(root);
        ControlGroups now = groups();
        String status = files.text("proc/self/status");
        String paging = files.text("proc/vmstat");
        return new Machine(
                processors(files, status),
                GroupReader.quota(files, now.cpu()),
                PressureReader.read(files, now.unified()),
                GroupReader.memory(files, now.memory(), paging),
                disk(files.text("proc/self/io"), paging),
                tcp(files.text("proc/net/snmp")),
                files.missing());
    }

    private Processors processors(SystemFiles files, String status) {
        String[] ticks = Figures.textAfter(files.text("proc/stat"), "cpu").split("\\s+");
        return new Processors(
                own.cpuNanos(),
                nanos(ticks, 0),
                nanos(ticks, 1),
                nanos(ticks, 2, 5, 6),
                nanos(ticks, 3),
                nanos(ticks, 4),
                nanos(ticks, 7),
                Figures.sizeOfSet(Figures.textAfter(status, "Cpus_allowed_list")),
                own.availableProcessors());
    }

    private static long nanos(String[] ticks, int... columns) {
        long sum = 0;
        for (int column : columns) {
            long figure = column < ticks.length ? Figures.number(ticks[column]) : Figures.MISSING;
            if (figure < 0) {
                return Figures.MISSING;
            }
            sum += figure;
        }
        return sum * NANOS_A_TICK;
    }

    /** Reads the disk counters. The kernel counts the bytes of the whole machine in KiB. */
    private static Disk disk(String io, String paging) {
        return new Disk(
                Figures.named(io, "read_bytes"),
                Figures.named(io, "write_bytes"),
                Figures.times(Figures.named(paging, "pgpgin"), KIB),
                Figures.times(Figures.named(paging, "pgpgout"), KIB));
    }

    private static Tcp tcp(String snmp) {
        return new Tcp(Figures.inTable(snmp, "Tcp", "OutSegs"), Figures.inTable(snmp, "Tcp", "RetransSegs"));
    }
}
