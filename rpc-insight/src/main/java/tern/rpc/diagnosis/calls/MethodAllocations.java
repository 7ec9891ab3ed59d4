package tern.rpc.diagnosis.calls;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.LongSupplier;
import java.util.function.ToDoubleFunction;
import tern.rpc.CallLedger;

/**
 * Measures how much memory the threads of each method's calls allocate. The memory that a thread allocates between the
 * ends of two calls belongs to the second call. The measurement runs while it is needed, and a few seconds in each half
 * minute to learn the usual values. Methods served by virtual threads are not measured, because the JVM does not count
 * the allocations of a virtual thread. Any thread may call {@link #ended}; only the diagnosis thread calls the other
 * methods.
 */
public final class MethodAllocations {

    private static final int MAX_METHODS = 64;

    /** The measurement for the usual values begins every {@value} seconds. */
    private static final int CYCLE_SECONDS = 30;

    /** The measurement for the usual values lasts {@value} seconds. */
    private static final int MEASURED_SECONDS = 5;

    /** The current values are means over the last {@value} seconds. */
    private static final int WINDOW_SECONDS = 6;

    /** A mean over fewer than {@value} calls is not used. */
    private static final int MIN_CALLS = 3;

    private final LongSupplier allocatedBytes;
    private final ConcurrentMap<String, Counter> methods = new ConcurrentHashMap<>();

    // for each thread, the last period in which it was measured, and the bytes that it had allocated at that time
    private final ThreadLocal<long[]> last = ThreadLocal.withInitial(() -> new long[2]);
    private volatile long period; // the number of the current period of measurement; 0 while nothing is measured
    private long periods;
    private long seconds;
    private boolean isLearning;
    private final Deque<Snapshot> snapshots = new ArrayDeque<>();

    /** @param allocatedBytes returns the number of bytes that the current thread has allocated; -1 if unknown */
    public MethodAllocations(LongSupplier allocatedBytes) {
        this.allocatedBytes = allocatedBytes;
    }

    private static final class Counter {
        final LongAdder calls = new LongAdder();
        final LongAdder bytes = new LongAdder();
    }

    private record Sum(long calls, long bytes) {
        static final Sum NONE = new Sum(0, 0);

        Sum since(Sum earlier) {
            return new Sum(calls - earlier.calls, bytes - earlier.bytes);
        }
    }

    private record Snapshot(long atNanos, Map<String, Sum> sums) {}

    /** Records that a call has ended on the current thread. */
    void ended(String method, CallLedger ledger) {
        long current = period;
        if (current == 0 || Thread.currentThread() != ledger.thread()) {
            return;
        }
        long bytes = allocatedBytes.getAsLong();
        if (bytes < 0) {
            return;
        }
        long[] known = last.get();
        long before = known[0] == current ? known[1] : -1;
        known[0] = current;
        known[1] = bytes;
        if (before >= 0) {
            add(method, bytes - before);
        }
    }

    private void add(String method, long bytes) {
        Counter counter = methods.get(method);
        if (counter == null) {
            if (methods.size() >= MAX_METHODS) {
                return;
            }
            counter = methods.computeIfAbsent(method, name -> new Counter());
        }
        counter.calls.increment();
        counter.bytes.add(bytes);
    }

    /**
     * Begins or ends the measurement. Called once a second.
     *
     * @param isNeeded whether the current values are needed, because calls are late or the heap fills
     */
    public void second(boolean isNeeded, long now) {
        seconds++;
        isLearning = !isNeeded;
        if (!isNeeded && seconds % CYCLE_SECONDS >= MEASURED_SECONDS) {
            period = 0;
            snapshots.clear();
            return;
        }
        if (period == 0) {
            period = ++periods;
        }
        Map<String, Sum> sums = new HashMap<>();
        methods.forEach((method, counter) -> sums.put(method, new Sum(counter.calls.sum(), counter.bytes.sum())));
        snapshots.addLast(new Snapshot(now, sums));
        if (snapshots.size() > WINDOW_SECONDS + 1) {
            snapshots.removeFirst();
        }
    }

    /**
     * Returns the mean number of bytes that one call allocated in the seconds of the measurement for the usual values,
     * by method; empty in all other seconds.
     */
    public Map<String, Double> usual() {
        Map<String, Double> perCall = new HashMap<>();
        if (isLearning) {
            sums().forEach((method, sum) -> perCall.put(method, (double) sum.bytes / sum.calls));
        }
        return perCall;
    }

    /**
     * Returns how much memory the calls to each method have allocated in the last seconds; empty if it is unknown.
     *
     * @param usual returns the usual number of bytes of one call to the given method; -1 if unknown
     */
    public List<MethodAllocation> current(ToDoubleFunction<String> usual) {
        List<MethodAllocation> all = new ArrayList<>();
        double length = snapshots.isEmpty() ? 0 : (snapshots.getLast().atNanos - snapshots.getFirst().atNanos) / 1e9;
        sums().forEach((method, sum) -> all.add(new MethodAllocation(
                method, sum.bytes / length, (double) sum.bytes / sum.calls, usual.applyAsDouble(method))));
        return all;
    }

    private Map<String, Sum> sums() {
        Map<String, Sum> sums = new HashMap<>();
        if (snapshots.size() > 1) {
            Map<String, Sum> before = snapshots.getFirst().sums;
            snapshots.getLast().sums.forEach((method, sum) -> {
                Sum since = sum.since(before.getOrDefault(method, Sum.NONE));
                if (since.calls >= MIN_CALLS) {
                    sums.put(method, since);
                }
            });
        }
        return sums;
    }
}
