package tern.rpc.evidence;

import java.nio.file.Path;
import tern.rpc.evidence.Machine.Descriptors;
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
    private final ControlGroups groups;

    /** @param root the folder that contains {@code proc} and {@code sys}; {@code /} in production */
    public MachineReader(Path root) {
        this(root, OwnProcess.ofThisJvm());
    }

    MachineReader(Path root, OwnProcess own) {
        this.root = root;
        this.own = own;
        this.groups = ControlGroups.find(new SystemFiles(root));
    }

    /** Reads all counters that the operating system provides, from about twenty small files. */
    public Machine read() {
        SystemFiles files = new SystemFiles(root);
        String status = files.text("proc/self/status");
        String paging = files.text("proc/vmstat");
        return new Machine(
                processors(files, status),
                GroupReader.quota(files, groups.cpu()),
                PressureReader.read(files, groups.unified()),
                GroupReader.memory(files, groups.memory(), status, paging),
                disk(files.text("proc/self/io"), paging),
                tcp(files.text("proc/net/snmp"), files.text("proc/net/netstat")),
                new Descriptors(own.openDescriptors(), own.maxDescriptors()),
                files.missing());
    }

    private Processors processors(SystemFiles files, String status) {
        String stat = files.text("proc/stat");
        String[] ticks = Figures.textAfter(stat, "cpu").split("\\s+");
        return new Processors(
                own.cpuNanos(),
                nanos(ticks, 0, 1),
                nanos(ticks, 2, 5, 6),
                nanos(ticks, 3),
                nanos(ticks, 4),
                nanos(ticks, 7),
                Figures.named(stat, "ctxt"),
                online(stat),
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

    private static int online(String stat) {
        int online = 0;
        for (int at = stat.indexOf("\ncpu"); at >= 0; at = stat.indexOf("\ncpu", at + 1)) {
            online++;
        }
        return online == 0 ? (int) Figures.MISSING : online;
    }

    /** Reads the disk counters. The kernel counts the bytes of the whole machine in KiB. */
    private static Disk disk(String io, String paging) {
        return new Disk(
                Figures.named(io, "read_bytes"),
                Figures.named(io, "write_bytes"),
                Figures.times(Figures.named(paging, "pgpgin"), KIB),
                Figures.times(Figures.named(paging, "pgpgout"), KIB));
    }

    private static Tcp tcp(String snmp, String netstat) {
        return new Tcp(
                Figures.inTable(snmp, "Tcp", "OutSegs"),
                Figures.inTable(snmp, "Tcp", "RetransSegs"),
                Figures.inTable(netstat, "TcpExt", "TCPTimeouts"),
                Figures.inTable(netstat, "TcpExt", "ListenOverflows"),
                Figures.inTable(netstat, "TcpExt", "ListenDrops"),
                Figures.inTable(snmp, "Tcp", "OutRsts"),
                Figures.inTable(snmp, "Tcp", "EstabResets"));
    }
}
