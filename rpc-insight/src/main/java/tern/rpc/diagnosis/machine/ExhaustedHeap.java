package tern.rpc.diagnosis.machine;

import com.sun.management.ThreadMXBean;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadInfo;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.LongUnaryOperator;
import org.jspecify.annotations.Nullable;
import tern.rpc.CallLedger;
import tern.rpc.Phase;
import tern.rpc.RunningCall;
import tern.rpc.diagnosis.cause.Cause;
import tern.rpc.diagnosis.cause.Cause.Change;
import tern.rpc.diagnosis.cause.Cause.Where;
import tern.rpc.pool.ApplicationCode;

/**
 * Finds the cause of missed latency targets while the heap is exhausted. Every allocation may then take seconds or
 * fail. Therefore this class reads only one counter per running call and a few stacks. Not thread-safe.
 */
public final class ExhaustedHeap {

    private static final int MAX_FRAMES = 256;

    /** The maximum number of stacks to read if no thread allocates much more than all other threads. */
    private static final int MAX_STACKS = 5;

    /** If at least {@value} calls run at the same time, the recommended change begins with a limit for calls. */
    private static final int MANY_CALLS = 500;

    private static final Phase[] PHASES = Phase.values();

    private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();

    private final LongUnaryOperator allocatedBytes;
    // for each running call, the bytes that its thread had allocated when this object first inspected the call
    private Map<CallLedger, Long> firstSeen = new IdentityHashMap<>();

    public ExhaustedHeap() {
        this(ExhaustedHeap::allocatedBytes);
    }

    /** @param allocatedBytes returns the number of bytes allocated by the thread with the given id; -1 if unknown */
    public ExhaustedHeap(LongUnaryOperator allocatedBytes) {
        this.allocatedBytes = allocatedBytes;
    }

    private static long allocatedBytes(long threadId) {
        return THREADS.isThreadAllocatedMemoryEnabled() ? THREADS.getThreadAllocatedBytes(threadId) : -1;
    }

    /** Forgets all calls. Called while the heap is not exhausted. */
    public void clear() {
        firstSeen = new IdentityHashMap<>();
    }

    /**
     * Returns the exhausted heap as the cause, with the evidence and the recommended change.
     *
     * @param share the garbage collector's share of the time
     */
    public Cause cause(List<RunningCall> running, double share) {
        double ofMs =
                running.stream().mapToLong(RunningCall::runningNanos).average().orElse(0) / 1e6;
        RunningCall largest = largest(running);
        long heap = Runtime.getRuntime().maxMemory() >> 20;
        List<String> facts = new ArrayList<>();
        facts.add(String.format(Locale.ROOT, "paused   %.0f %% of the time", 100 * share));
        facts.add("heap     " + heap + " MB, nearly full after collections");
        facts.add("calls    " + running.size() + " run at the same time" + mostlyIn(running));
        String fewer = running.size() < MANY_CALLS
                ? ""
                : "limit the number of concurrent calls (a semaphore, max-concurrency of the methods, or"
                        + " server.tomcat.max-connections; virtual threads do not limit it): " + running.size()
                        + " run at the same time" + mostlyIn(running) + ", and keep their objects until they end; ";
        String who = "a histogram of its objects (jcmd PID GC.class_histogram) shows which objects fill it";
        if (largest != null) {
            String place = place(largest);
            facts.add("running  " + largest.method() + ", whose thread allocates most" + place);
            who = "check " + largest.method() + " first, whose thread allocates most" + place + "; " + who;
        } else {
            String common = commonPlace(running);
            who = common == null ? who : "check " + common + " first, where most running calls were found; " + who;
        }
        return new Cause(
                "COLLECTOR: heap nearly full",
                "heap",
                share * ofMs,
                ofMs,
                share,
                0,
                share * ofMs,
                Change.of(
                        Where.CODE,
                        fewer + "keep fewer or smaller objects, or set a larger heap than " + heap + " MB; " + who),
                facts,
                List.of(),
                List.of(),
                List.of());
    }

    /** Returns text that names the phase of more than half of the calls; empty if there is no such phase. */
    private static String mostlyIn(List<RunningCall> running) {
        int[] counts = new int[PHASES.length];
        running.forEach(call -> counts[call.phase().ordinal()]++);
        for (Phase phase : PHASES) {
            if (phase != Phase.OWN && 2 * counts[phase.ordinal()] > running.size()) {
                return ", most of them in "
                        + phase.name().toLowerCase(Locale.ROOT).replace('_', '-');
            }
        }
        return "";
    }

    /**
     * Returns the running call whose thread has allocated the most bytes since the call was first seen; null if
     * unknown.
     */
    private @Nullable RunningCall largest(List<RunningCall> running) {
        Map<CallLedger, Long> seen = new IdentityHashMap<>();
        RunningCall largest = null;
        long largestBytes = 0;
        for (RunningCall call : running) {
            long bytes = call.threadId() == RunningCall.NO_THREAD ? -1 : allocatedBytes.applyAsLong(call.threadId());
            if (bytes < 0) {
                continue;
            }
            long first = firstSeen.getOrDefault(call.ledger(), bytes);
            seen.put(call.ledger(), first);
            if (bytes - first > largestBytes) {
                largestBytes = bytes - first;
                largest = call;
            }
        }
        firstSeen = seen;
        return largest;
    }

    /**
     * Samples a few running calls. Returns the source line that most of these calls are executing; null if there is no
     * such line.
     */
    private static @Nullable String commonPlace(List<RunningCall> running) {
        Map<String, Integer> places = new HashMap<>();
        int read = 0;
        for (RunningCall call : running) {
            if (call.threadId() != RunningCall.NO_THREAD && read < MAX_STACKS) {
                read++;
                StackTraceElement frame = frame(call);
                if (frame != null) {
                    places.merge(ApplicationCode.shown(frame), 1, Integer::sum);
                }
            }
        }
        int threshold = read / 2;
        return places.entrySet().stream()
                .filter(place -> place.getValue() > threshold)
                .map(Map.Entry::getKey)
                .findFirst()
                .orElse(null);
    }

    private static String place(RunningCall call) {
        StackTraceElement frame = frame(call);
        return frame == null ? "" : ", in " + ApplicationCode.shown(frame);
    }

    private static @Nullable StackTraceElement frame(RunningCall call) {
        ThreadInfo info = THREADS.getThreadInfo(call.threadId(), MAX_FRAMES);
        return info == null ? null : ApplicationCode.first(info.getStackTrace());
    }
}
