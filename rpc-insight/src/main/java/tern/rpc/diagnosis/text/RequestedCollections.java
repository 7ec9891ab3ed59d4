package tern.rpc.diagnosis.text;

import com.sun.management.HotSpotDiagnosticMXBean;
import java.lang.management.BufferPoolMXBean;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadInfo;
import java.lang.management.ThreadMXBean;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import tern.rpc.diagnosis.cause.Cause.Change;
import tern.rpc.diagnosis.cause.Cause.Where;
import tern.rpc.diagnosis.cause.CauseDescription;
import tern.rpc.diagnosis.machine.CollectionCaller;
import tern.rpc.diagnosis.machine.Machine;
import tern.rpc.diagnosis.sample.CallSamples;
import tern.rpc.pool.ApplicationCode;

/**
 * Creates the cause description for collections that code in the process requests with {@code System.gc()}. The code
 * may belong to the application, to a library or to RMI. The JDK itself requests a collection if no memory is left for
 * a new direct buffer.
 */
final class RequestedCollections {

    /** The memory for direct buffers counts as exhausted if at least {@value} of it is in use. */
    private static final double FULL = 0.8;

    private final Machine machine;
    private final CallSamples samples;

    RequestedCollections(Machine machine, CallSamples samples) {
        this.machine = machine;
        this.samples = samples;
    }

    /** @param facts the evidence about the collector */
    CauseDescription describe(List<String> facts) {
        CollectionCaller caller = machine.collects();
        StackTraceElement direct = samples.lineCalling("ByteBuffer.allocateDirect");
        StackTraceElement asking = samples.lineCalling("System.gc", "Runtime.gc");
        String place = caller != null ? caller.shown() : asking == null ? null : ApplicationCode.shown(asking);
        List<String> all = new ArrayList<>(facts);
        if (caller != null) {
            all.add("called   in " + caller.shown());
        }
        CollectionCaller.Reason reason = caller == null ? null : caller.reason();
        boolean isForBuffers = reason == null
                ? direct != null || (asking == null && directShare() >= FULL)
                : reason == CollectionCaller.Reason.DIRECT_BUFFERS;
        if (isForBuffers) {
            return buffers(direct != null ? ApplicationCode.shown(direct) : place, all);
        }
        if (reason == CollectionCaller.Reason.RMI) {
            return new CauseDescription(
                    "COLLECTOR: requested by code",
                    "RMI",
                    Change.of(
                            Where.CODE,
                            "set a longer interval between the collections of RMI: -Dsun.rmi.dgc.client.gcInterval and"
                                    + " -Dsun.rmi.dgc.server.gcInterval (milliseconds)"),
                    all);
        }
        return new CauseDescription(
                "COLLECTOR: requested by code",
                "System.gc()",
                Change.of(
                        Where.CODE,
                        "do not call System.gc()" + (place == null ? "" : " in " + place)
                                + ", or set -XX:+DisableExplicitGC; if direct buffers need these collections,"
                                + " set -XX:+ExplicitGCInvokesConcurrent" + (place == null ? otherCallers() : "")),
                all);
    }

    private static CauseDescription buffers(@Nullable String place, List<String> facts) {
        return new CauseDescription(
                "DIRECT MEMORY",
                "direct buffers",
                Change.of(
                        Where.CODE,
                        "release or reuse the direct buffers" + (place == null ? "" : " of " + place)
                                + ", or raise -XX:MaxDirectMemorySize: if a buffer does not fit, the JVM runs the"
                                + " collector first"),
                facts);
    }

    /** Returns text that names the threads that are known to request collections; empty if there are none. */
    private static String otherCallers() {
        ThreadMXBean threads = ManagementFactory.getThreadMXBean();
        boolean hasRmi = Stream.of(threads.getThreadInfo(threads.getAllThreadIds()))
                .anyMatch(thread -> thread != null && isOfRmi(thread));
        return hasRmi
                ? "; the thread \"GC Daemon\" of RMI also requests collections (-Dsun.rmi.dgc.client.gcInterval,"
                        + " -Dsun.rmi.dgc.server.gcInterval)"
                : "";
    }

    private static boolean isOfRmi(ThreadInfo thread) {
        return thread.getThreadName().equals("GC Daemon");
    }

    /** Returns the share of the memory for direct buffers that is in use; 0 if it is unknown. */
    private static double directShare() {
        long maxBytes = maxDirectBytes();
        return maxBytes <= 0
                ? 0
                : ManagementFactory.getPlatformMXBeans(BufferPoolMXBean.class).stream()
                        .filter(pool -> pool.getName().equals("direct"))
                        .mapToDouble(pool -> (double) pool.getMemoryUsed() / maxBytes)
                        .sum();
    }

    /** Returns the maximum memory for direct buffers; 0 if it is unknown. */
    private static long maxDirectBytes() {
        HotSpotDiagnosticMXBean options = ManagementFactory.getPlatformMXBean(HotSpotDiagnosticMXBean.class);
        if (options == null) {
            return 0;
        }
        long maxBytes =
                Long.parseLong(options.getVMOption("MaxDirectMemorySize").getValue());
        return maxBytes > 0
                ? maxBytes
                : Runtime.getRuntime().maxMemory(); // The default limit for direct buffers is the maximum heap size.
    }
}
