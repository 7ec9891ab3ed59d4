package tern.rpc.diagnosis.machine;

import java.lang.management.GarbageCollectorMXBean;
import java.lang.management.ManagementFactory;
import java.lang.management.MemoryPoolMXBean;
import java.lang.management.MemoryType;
import java.lang.management.MemoryUsage;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.function.LongSupplier;

/**
 * Finds out whether the heap is exhausted: it is nearly full after garbage collections, and the garbage collector takes
 * most of the time. Reads only counters, because {@link CollectorLog} depends on notifications, which may come late or
 * get lost while the heap is exhausted. Not thread-safe.
 */
final class CollectorShare {

    private static final double MOST = 0.5;

    /**
     * The heap counts as exhausted only after the garbage collector has taken most of the time for this period. The
     * period is longer than a single garbage collection.
     */
    private static final long LASTING_NANOS = TimeUnit.SECONDS.toNanos(2);

    private static final long MIN_NANOS = TimeUnit.MILLISECONDS.toNanos(500);

    private final LongSupplier collectionMillis;
    private final BooleanSupplier isFull;
    private long readNanos;
    private long readMillis;
    private boolean read; // whether the counters have been read before
    private long lastedNanos; // how long the heap has been nearly full while garbage collections take most of the time
    private double share;

    /**
     * @param collectionMillis returns the total time of all garbage collections that stop the application
     * @param isFull returns whether the heap is nearly full after garbage collections
     */
    CollectorShare(LongSupplier collectionMillis, BooleanSupplier isFull) {
        this.collectionMillis = collectionMillis;
        this.isFull = isFull;
    }

    /** Creates an instance that measures the collectors of this process. */
    static CollectorShare ofThisProcess() {
        List<GarbageCollectorMXBean> stopping = ManagementFactory.getGarbageCollectorMXBeans().stream()
                .filter(bean -> !bean.getName().contains("Concurrent")
                        && !bean.getName().contains("Cycles"))
                .toList();
        return new CollectorShare(() -> millis(stopping), CollectorShare::isNearlyFull);
    }

    private static long millis(List<GarbageCollectorMXBean> beans) {
        long millis = 0;
        for (GarbageCollectorMXBean bean : beans) {
            millis += Math.max(0, bean.getCollectionTime());
        }
        return millis;
    }

    /** Returns whether the objects that survived the last garbage collections nearly fill the heap. */
    private static boolean isNearlyFull() {
        long kept = 0;
        for (MemoryPoolMXBean pool : ManagementFactory.getMemoryPoolMXBeans()) {
            MemoryUsage afterCollection = pool.getType() == MemoryType.HEAP ? pool.getCollectionUsage() : null;
            kept += afterCollection == null ? 0 : afterCollection.getUsed();
        }
        return kept >= Machine.NEARLY_FULL * Runtime.getRuntime().maxMemory();
    }

    /**
     * Returns the collector's share of the time since the previous reading, or 0 if the heap is not exhausted.
     *
     * @param now a time in nanoseconds
     */
    double read(long now) {
        if (read && now - readNanos < MIN_NANOS) {
            return lastedNanos >= LASTING_NANOS ? share : 0;
        }
        long millis = collectionMillis.getAsLong();
        long elapsed = now - readNanos;
        share = read ? TimeUnit.MILLISECONDS.toNanos(millis - readMillis) / (double) elapsed : 0;
        lastedNanos = share >= MOST && isFull.getAsBoolean() ? lastedNanos + elapsed : 0;
        readNanos = now;
        readMillis = millis;
        read = true;
        return lastedNanos >= LASTING_NANOS ? share : 0;
    }
}
