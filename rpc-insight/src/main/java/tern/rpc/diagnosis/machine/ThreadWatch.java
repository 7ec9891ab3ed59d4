package tern.rpc.diagnosis.machine;

import java.lang.management.ManagementFactory;
import java.lang.management.ThreadInfo;
import java.lang.management.ThreadMXBean;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import tern.rpc.NanoClock;
import tern.rpc.diagnosis.machine.Machine.Burner;
import tern.rpc.evidence.VirtualStacks;
import tern.rpc.pool.ApplicationCode;

/**
 * Finds the platform threads that use the most processor time or allocate the most memory, and the code that they run.
 * For carrier threads, this is the code of virtual threads.
 * Not thread-safe: only one thread uses it.
 */
final class ThreadWatch {

    // The maximum number of groups to report, both for processor time and for allocated bytes.
    private static final int MAX_BURNERS = 3;
    private static final int MAX_FRAMES = 256;
    private static final int MAX_PLACES = 64;
    private static final Pattern NUMBERS = Pattern.compile("[-#\\d]+$");
    private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();

    /** The diagnosis looks for the code on carrier threads only if they keep at least {@value} processors busy. */
    private static final double MUCH = 0.2;

    /** The diagnosis also looks for this code if they allocate at least {@value} bytes per second. */
    private static final double MUCH_BYTES = 10e6;

    private final CarrierCode carriers = new CarrierCode(VirtualStacks::read, NanoClock.SYSTEM);
    private Map<Long, long[]> last = Map.of(); // processor time and allocated bytes by thread id

    // The number of samples by thread group and application method.
    private final Map<String, Map<String, Integer>> places = new HashMap<>();

    /** The totals of a group of threads, and the group's busiest thread. */
    private static final class Group {
        int threads;
        long nanos;
        long bytes;
        long busiest = -1;
        long busiestUse = -1;

        void add(long id, long spentNanos, long allocated) {
            threads++;
            nanos += spentNanos;
            bytes += allocated;
            if (spentNanos + allocated > busiestUse) {
                busiestUse = spentNanos + allocated;
                busiest = id;
            }
        }
    }

    /**
     * Returns the groups that used the most processor time or allocated the most memory since the previous call to this
     * method.
     */
    List<Burner> read(double elapsedNanos) {
        Map<Long, long[]> now = use();
        Map<String, Group> groups = last.isEmpty() ? Map.of() : groups(now, elapsedNanos);
        last = now;
        List<Burner> burners = new ArrayList<>();
        for (String name : most(groups)) {
            Group group = groups.get(name);
            if (group != null) {
                double processors = group.nanos / elapsedNanos;
                double allocated = group.bytes / elapsedNanos * 1e9;
                String place = place(name, group.busiest);
                CarrierCode.Place virtual =
                        place == null && Burner.mayBeCarriers(name) && (processors >= MUCH || allocated >= MUCH_BYTES)
                                ? carriers.most()
                                : null;
                burners.add(
                        virtual == null
                                ? new Burner(name, group.threads, processors, allocated, place)
                                : new Burner(
                                        Burner.VIRTUAL,
                                        group.threads,
                                        processors,
                                        allocated,
                                        virtual.line(),
                                        virtual.isOfCalls()));
            }
        }
        return burners;
    }

    /** Returns the number of bytes that the current thread has allocated; -1 if unknown. Any thread may call this. */
    static long allocatedBytes() {
        return THREADS instanceof com.sun.management.ThreadMXBean bean && bean.isThreadAllocatedMemorySupported()
                ? bean.getCurrentThreadAllocatedBytes()
                : -1;
    }

    void clear() {
        last = Map.of();
        places.clear();
        carriers.clear();
    }

    private static Map<Long, long[]> use() {
        Map<Long, long[]> use = new HashMap<>();
        if (THREADS instanceof com.sun.management.ThreadMXBean bean
                && bean.isThreadCpuTimeSupported()
                && bean.isThreadCpuTimeEnabled()) {
            long[] ids = bean.getAllThreadIds();
            long[] nanos = bean.getThreadCpuTime(ids);
            long[] bytes = bean.getThreadAllocatedBytes(ids);
            for (int i = 0; i < ids.length; i++) {
                if (nanos[i] >= 0) {
                    use.put(ids[i], new long[] {nanos[i], Math.max(0, bytes[i])});
                }
            }
        }
        return use;
    }

    private Map<String, Group> groups(Map<Long, long[]> now, double elapsedNanos) {
        Map<String, Group> groups = new HashMap<>();
        now.forEach((id, use) -> {
            long[] before = last.getOrDefault(id, new long[2]);
            long nanos = use[0] - before[0];
            long bytes = use[1] - before[1];
            boolean much = nanos > elapsedNanos / 100 || bytes > 1_000_000;
            ThreadInfo info = much ? THREADS.getThreadInfo(id) : null;
            if (info != null) {
                String name = NUMBERS.matcher(info.getThreadName()).replaceFirst("");
                groups.computeIfAbsent(name, unknown -> new Group()).add(id, nanos, bytes);
            }
        });
        return groups;
    }

    private static Set<String> most(Map<String, Group> groups) {
        Set<String> names = new LinkedHashSet<>();
        // The diagnosis allocates, too, and must not take the place of a group of the application.
        List<Comparator<Map.Entry<String, Group>>> orders = List.of(
                Comparator.comparingLong(entry -> -entry.getValue().nanos),
                Comparator.comparingLong(entry -> OwnThreads.isOne(entry.getKey()) ? 0 : -entry.getValue().bytes));
        for (Comparator<Map.Entry<String, Group>> order : orders) {
            groups.entrySet().stream()
                    .sorted(order.thenComparing(Map.Entry::getKey))
                    .limit(MAX_BURNERS)
                    .forEach(entry -> names.add(entry.getKey()));
        }
        return names;
    }

    /**
     * Returns the method in which the group's busiest threads were found most often so far. A thread that waits does not
     * count, because the code that waits is rarely the code that has used the processor or the memory.
     */
    private @Nullable String place(String group, long thread) {
        Map<String, Integer> counts = places.computeIfAbsent(group, name -> new HashMap<>());
        ThreadInfo info = THREADS.getThreadInfo(thread, MAX_FRAMES);
        StackTraceElement frame = info == null || info.getThreadState() != Thread.State.RUNNABLE
                ? null
                : ApplicationCode.first(info.getStackTrace());
        if (frame != null && counts.size() < MAX_PLACES) {
            counts.merge(ApplicationCode.shown(frame), 1, Integer::sum);
        }
        return counts.entrySet().stream()
                .max(Map.Entry.<String, Integer>comparingByValue().thenComparing(Map.Entry::getKey))
                .map(Map.Entry::getKey)
                .orElse(null);
    }
}
