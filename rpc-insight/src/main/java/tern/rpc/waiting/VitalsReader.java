package tern.rpc.waiting;

import com.sun.management.OperatingSystemMXBean;
import java.io.IOException;
import java.lang.management.GarbageCollectorMXBean;
import java.lang.management.ManagementFactory;
import java.lang.management.MemoryUsage;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import tern.rpc.waiting.Vitals.Line;

/**
 * Reads the state of process and machine. Rates count since the last call; the first call counts from the start of the
 * process. Thread-safe.
 */
public final class VitalsReader {

    private static final double MEGA = 1 << 20;

    private final Path proc;
    private final LongSupplier uptimeMillis;
    private Sums before = Sums.NONE; // guarded by this

    public VitalsReader() {
        this(Path.of("/proc"), ManagementFactory.getRuntimeMXBean()::getUptime);
    }

    VitalsReader(Path proc, LongSupplier uptimeMillis) {
        this.proc = proc;
        this.uptimeMillis = uptimeMillis;
    }

    /** Counters; network and disk are null if the system does not provide them. */
    private record Sums(
            long uptimeMillis,
            long cpuNanos,
            @Nullable Traffic network,
            @Nullable Traffic disk,
            long collections,
            long collectingMillis) {

        static final Sums NONE = new Sums(0, 0, null, null, 0, 0);
    }

    /** Bytes from and to a device. */
    private record Traffic(long in, long out) {

        Traffic minus(@Nullable Traffic earlier) {
            return earlier == null ? this : new Traffic(in - earlier.in, out - earlier.out);
        }
    }

    public Vitals read() {
        java.lang.management.OperatingSystemMXBean system = ManagementFactory.getOperatingSystemMXBean();
        OperatingSystemMXBean known = system instanceof OperatingSystemMXBean own ? own : null;
        Sums now = sums(known);
        Sums last;
        synchronized (this) {
            last = before;
            before = now;
        }
        double seconds = Math.max(1, now.uptimeMillis - last.uptimeMillis) / 1e3;
        List<Line> lines = new ArrayList<>();
        lines.add(new Line("cpu", cpu(system, known, (now.cpuNanos - last.cpuNanos) / 1e9 / seconds)));
        lines.add(new Line("memory", memory(known)));
        if (now.network != null) {
            Traffic traffic = now.network.minus(last.network);
            lines.add(new Line(
                    "network", rate("received", traffic.in, seconds) + ", " + rate("sent", traffic.out, seconds)));
        }
        if (now.disk != null) {
            Traffic traffic = now.disk.minus(last.disk);
            lines.add(
                    new Line("disk", rate("read", traffic.in, seconds) + ", " + rate("written", traffic.out, seconds)));
        }
        lines.add(new Line("gc", collections(now, last, seconds)));
        return new Vitals(lines);
    }

    private Sums sums(@Nullable OperatingSystemMXBean system) {
        long collections = 0;
        long collectingMillis = 0;
        for (GarbageCollectorMXBean collector : ManagementFactory.getGarbageCollectorMXBeans()) {
            collections += Math.max(0, collector.getCollectionCount());
            collectingMillis += Math.max(0, collector.getCollectionTime());
        }
        return new Sums(
                uptimeMillis.getAsLong(),
                system == null ? 0 : system.getProcessCpuTime(),
                network(),
                disk(),
                collections,
                collectingMillis);
    }

    private static String cpu(
            java.lang.management.OperatingSystemMXBean system,
            @Nullable OperatingSystemMXBean known,
            double processors) {
        String machine = known == null ? "" : ", machine " + percent(Math.max(0, known.getCpuLoad()));
        double load = system.getSystemLoadAverage();
        return String.format(
                Locale.ROOT,
                "process uses %.1f of %d processors%s%s",
                processors,
                system.getAvailableProcessors(),
                machine,
                load < 0 ? "" : String.format(Locale.ROOT, ", load %.1f", load));
    }

    private static String memory(@Nullable OperatingSystemMXBean known) {
        MemoryUsage heap = ManagementFactory.getMemoryMXBean().getHeapMemoryUsage();
        String used = String.format(
                Locale.ROOT, "heap %.0f of %.0f MB", heap.getUsed() / MEGA, Math.max(heap.getMax(), 0) / MEGA);
        return known == null
                ? used
                : used
                        + String.format(
                                Locale.ROOT,
                                ", machine %.0f of %.0f MB free",
                                known.getFreeMemorySize() / MEGA,
                                known.getTotalMemorySize() / MEGA);
    }

    private static String collections(Sums now, Sums last, double seconds) {
        long millis = now.collectingMillis - last.collectingMillis;
        return String.format(
                Locale.ROOT,
                "%s of the time, %d collections in %.0f s",
                percent(millis / 1e3 / seconds),
                now.collections - last.collections,
                seconds);
    }

    /** The traffic of all interfaces except loopback. */
    private @Nullable Traffic network() {
        List<String> lines = lines("net/dev");
        long in = 0;
        long out = 0;
        boolean found = false;
        for (String line : lines) {
            int colon = line.indexOf(':');
            if (colon < 0 || line.substring(0, colon).strip().equals("lo")) {
                continue;
            }
            String[] figures = line.substring(colon + 1).strip().split("\\s+");
            if (figures.length > 8) {
                in += parse(figures[0]);
                out += parse(figures[8]);
                found = true;
            }
        }
        return found ? new Traffic(in, out) : null;
    }

    /** The traffic of this process with the devices. */
    private @Nullable Traffic disk() {
        long in = -1;
        long out = -1;
        for (String line : lines("self/io")) {
            if (line.startsWith("read_bytes:")) {
                in = parse(line.substring("read_bytes:".length()).strip());
            } else if (line.startsWith("write_bytes:")) {
                out = parse(line.substring("write_bytes:".length()).strip());
            }
        }
        return in < 0 || out < 0 ? null : new Traffic(in, out);
    }

    private List<String> lines(String file) {
        try {
            return Files.readAllLines(proc.resolve(file));
        } catch (IOException | SecurityException e) {
            return List.of(); // another system, or no access
        }
    }

    private static long parse(String figure) {
        try {
            return Long.parseLong(figure);
        } catch (NumberFormatException e) {
            return 0;
        }
    }

    private static String rate(String what, long bytes, double seconds) {
        return String.format(Locale.ROOT, "%s %.2f MB/s", what, bytes / MEGA / seconds);
    }

    private static String percent(double share) {
        return String.format(Locale.ROOT, "%.0f %%", share * 100);
    }
}
