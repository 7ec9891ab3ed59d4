package tern.rpc.load.peer;

import com.sun.management.OperatingSystemMXBean;
import com.sun.management.ThreadMXBean;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;

/**
 * Reads the resources that this process has used. The JVM reports allocated bytes only for live threads. Therefore this
 * meter samples the threads several times a second, and keeps the last value of each thread that has ended. Allocations
 * after the last sample of an ended thread are lost. Thread-safe.
 */
final class ProcessMeter {

    private static final long LOOK_EVERY_MILLIS = 200;

    private static final OperatingSystemMXBean PROCESS =
            (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();

    private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();

    private final Path directory;
    private Map<Long, Long> living = new HashMap<>(); // guarded by this
    private long ended; // guarded by this

    ProcessMeter() {
        this(Path.of("/proc/self"));
    }

    /** @param directory the process's directory in /proc, see proc(5) */
    ProcessMeter(Path directory) {
        this.directory = directory;
    }

    /** Starts sampling the threads. The sampling thread runs until the process ends. */
    void start() {
        Thread looking = new Thread(this::keepLooking, "cost-meter");
        looking.setDaemon(true);
        looking.start();
    }

    private void keepLooking() {
        try {
            while (true) {
                allocatedBytes();
                Thread.sleep(LOOK_EVERY_MILLIS);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** Reads the used resources before a measurement. The result does not include the cost of reading. */
    ProcessCost before() {
        long switches = switches();
        long writes = writes();
        long bytes = allocatedBytes();
        return new ProcessCost(PROCESS.getProcessCpuTime(), bytes, writes, switches);
    }

    /** Reads the used resources after a measurement. The result does not include the cost of reading. */
    ProcessCost after() {
        long cpu = PROCESS.getProcessCpuTime();
        long bytes = allocatedBytes();
        return new ProcessCost(cpu, bytes, writes(), switches());
    }

    private synchronized long allocatedBytes() {
        long[] ids = THREADS.getAllThreadIds();
        long[] bytes = THREADS.getThreadAllocatedBytes(ids);
        Map<Long, Long> found = new HashMap<>();
        long sum = 0;
        for (int i = 0; i < ids.length; i++) {
            if (bytes[i] >= 0) {
                found.put(ids[i], bytes[i]);
                sum += bytes[i];
            }
        }
        living.keySet().removeAll(found.keySet());
        ended += living.values().stream().mapToLong(Long::longValue).sum();
        living = found;
        return ended + sum;
    }

    private long writes() {
        try {
            return number(Files.readString(directory.resolve("io")), "syscw:");
        } catch (IOException e) {
            return ProcessCost.UNKNOWN; // The value is unknown, because the files in /proc exist only on Linux.
        }
    }

    /** Returns the number of context switches of all live threads. */
    private long switches() {
        long sum = 0;
        try (DirectoryStream<Path> threads = Files.newDirectoryStream(directory.resolve("task"))) {
            for (Path thread : threads) {
                sum += switches(thread.resolve("status"));
            }
            return sum;
        } catch (IOException e) {
            return ProcessCost.UNKNOWN; // The value is unknown, because the files in /proc exist only on Linux.
        }
    }

    private static long switches(Path status) {
        try {
            String text = Files.readString(status);
            return number(text, "\nvoluntary_ctxt_switches:") + number(text, "\nnonvoluntary_ctxt_switches:");
        } catch (IOException e) {
            return 0; // The thread has just ended, so its file no longer exists.
        }
    }

    private static long number(String text, String name) {
        int start = text.indexOf(name);
        if (start < 0) {
            return 0;
        }
        int end = text.indexOf('\n', start + 1);
        return Long.parseLong(text.substring(start + name.length(), end < 0 ? text.length() : end)
                .strip());
    }
}
