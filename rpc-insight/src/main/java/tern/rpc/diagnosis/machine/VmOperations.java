package tern.rpc.diagnosis.machine;

import java.lang.management.ManagementFactory;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Predicate;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.management.JMException;
import javax.management.ObjectName;

/**
 * All JVM operations that stopped all threads, except garbage collections. The JVM lists its last operations in an
 * event log. Only one thread calls {@link #read}; any thread may call {@link #since}.
 */
public final class VmOperations {

    /**
     * The minimum duration of a JVM operation that can explain a pause of the process, because shorter pauses are not
     * measured.
     */
    public static final double MIN_PAUSE_NANOS = 20e6;

    private static final double KEPT_SECONDS = 60;

    /**
     * Matches the line that the log contains for the beginning or the end of an operation. Since JDK 21, the line also
     * says whether the operation stops all threads.
     */
    private static final Pattern EVENT =
            Pattern.compile("Event: ([0-9.]+) Executing (non-safepoint |safepoint )?VM operation: (\\w+)[^\\n]*");

    /**
     * Matches the operations that are not recorded: operations of collectors, whose pauses are measured elsewhere, and
     * operations that stop only single threads.
     */
    private static final Pattern OTHER =
            Pattern.compile("(?:Handshake|Rendezvous|G1|Gen|Parallel|Serial|CollectFor|Shenandoah|[ZX][A-Z]).*");

    // operations that stopped all threads, by their start in seconds after the start of the JVM
    private final Map<Double, Operation> operations = new ConcurrentHashMap<>();

    /**
     * An operation that stopped all threads.
     *
     * @param fromSeconds the beginning of the operation, in seconds after the start of the JVM
     * @param toSeconds the end of the operation, in seconds after the start of the JVM
     */
    private record Operation(String name, double fromSeconds, double toSeconds) {}

    /** Reads the JVM's event log. Does nothing if this JVM has no event log. */
    void read() {
        try {
            Object log = ManagementFactory.getPlatformMBeanServer()
                    .invoke(
                            new ObjectName("com.sun.management:type=DiagnosticCommand"),
                            "vmEvents",
                            new Object[] {new String[] {"log=vmops"}},
                            new String[] {String[].class.getName()});
            add(String.valueOf(log));
        } catch (JMException | RuntimeException e) {
            // The pauses are reported without names, because there is no event log.
        }
    }

    /** Adds the operations of the given event log. Operations that are already known are ignored. */
    void add(String log) {
        Matcher event = EVENT.matcher(log);
        String running = "";
        double from = 0;
        double last = 0;
        while (event.find()) {
            double at = Double.parseDouble(event.group(1));
            String name = event.group(3);
            boolean stops = !"non-safepoint ".equals(event.group(2));
            boolean ends = event.group().endsWith(" done");
            if (ends && name.equals(running) && stops && !OTHER.matcher(name).matches()) {
                operations.put(from, new Operation(name, from, at));
            }
            running = ends ? "" : name;
            from = at;
            last = at;
        }
        double oldest = last - KEPT_SECONDS;
        operations.values().removeIf(operation -> operation.toSeconds < oldest);
    }

    /**
     * Returns how long each operation has stopped all threads since the given time, in nanoseconds. The given time is
     * in seconds after the start of the JVM.
     *
     * @param minNanos the minimum duration; shorter operations are ignored, because their sum could be mistaken for one
     *     long pause
     */
    Map<String, Double> since(double seconds, double minNanos) {
        Map<String, Double> sums = new HashMap<>();
        for (Operation operation : operations.values()) {
            double nanos = (operation.toSeconds - operation.fromSeconds) * 1e9;
            if (operation.toSeconds >= seconds && nanos >= minNanos) {
                sums.merge(operation.name, nanos, Double::sum);
            }
        }
        return sums;
    }

    /**
     * Returns how long operations of the diagnosis itself stopped all threads in the given part of a pause, in
     * nanoseconds. Times are in seconds after the start of the JVM.
     *
     * @param isOwn accepts the names of operations that the diagnosis has requested
     * @param withWait whether to add the time until the threads had stopped for the operation
     */
    double ownNanos(double fromSeconds, double toSeconds, Predicate<String> isOwn, boolean withWait) {
        double seconds = 0;
        double lastEnd = fromSeconds;
        for (Operation operation : operations.values()) {
            double from = Math.max(fromSeconds, operation.fromSeconds);
            double to = Math.min(toSeconds, operation.toSeconds);
            if (to > from && isOwn.test(operation.name)) {
                seconds += to - from;
                lastEnd = Math.max(lastEnd, to);
            }
        }
        return (withWait ? lastEnd - fromSeconds : seconds) * 1e9;
    }

    /**
     * Returns whether the diagnosis itself requests operations with the given name while it samples late calls. Such an
     * operation does not explain a pause. If it takes a long time, it is usually waiting for a thread that does not
     * stop promptly.
     */
    public static boolean isOwn(String operation) {
        return operation.equals("ThreadDump") || operation.equals("FindDeadlocks");
    }

    static double uptimeSeconds() {
        return ManagementFactory.getRuntimeMXBean().getUptime() / 1e3;
    }

    /** Returns the advice for an operation that stops all threads. */
    public static String advice(String operation) {
        String lower = operation.toLowerCase(Locale.ROOT);
        if (lower.contains("heapdump") || lower.contains("heapinspection") || lower.contains("heapwalk")) {
            return "stop the tool that writes heap dumps or histograms of this JVM (jcmd, jmap, /actuator/heapdump, an"
                    + " agent); if the JVM writes them itself (-XX:+HeapDumpOnOutOfMemoryError), find out in the dump"
                    + " what fills the heap";
        }
        if (lower.contains("printthreads")
                || lower.contains("deadlock")
                || lower.contains("stacktrace")
                || lower.contains("printjni")) {
            return "take fewer thread dumps, or dumps without locks: a tool or an agent (jstack, jcmd) requests them";
        }
        if (lower.contains("redefine") || lower.contains("retransform") || lower.contains("breakpoint")) {
            return "do not use an agent or debugger that changes classes of the running application";
        }
        if (lower.startsWith("jfr")) {
            return "use a flight recording with fewer events (no old-object samples, longer periods)";
        }
        if (lower.contains("bias")) {
            return "set -XX:-UseBiasedLocking: many threads use locks that another thread has biased";
        }
        if (lower.contains("deopt") || lower.contains("icbuffer") || lower.contains("codecache")) {
            return "find out what the JVM compiles repeatedly (-Xlog:deoptimization*=debug), or raise"
                    + " -XX:ReservedCodeCacheSize";
        }
        return "find out what requests this operation of the JVM, such as an agent or a tool (-Xlog:safepoint shows"
                + " each)";
    }
}
