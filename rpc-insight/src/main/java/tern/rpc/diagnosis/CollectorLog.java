package tern.rpc.diagnosis;

import com.sun.management.GarbageCollectionNotificationInfo;
import com.sun.management.GcInfo;
import java.lang.management.GarbageCollectorMXBean;
import java.lang.management.ManagementFactory;
import java.lang.management.MemoryUsage;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import javax.management.Notification;
import javax.management.NotificationEmitter;
import javax.management.NotificationListener;
import javax.management.openmbean.CompositeData;

/** The pauses of the collectors, and what is in use after them. Thread-safe. */
final class CollectorLog implements NotificationListener, PauseTimes {

    private static final int MAX_PAUSES = 4_096;

    /** The zero of collections: the start of the JVM, on the clock of {@link System#nanoTime()}. */
    private final long zeroNanos = System.nanoTime()
            - TimeUnit.MILLISECONDS.toNanos(ManagementFactory.getRuntimeMXBean().getUptime());

    private final Deque<long[]> pauses = new ArrayDeque<>(); // start and end; guarded by this
    private double live = -1; // guarded by this, like the next ones
    private long freedBytes;
    private boolean listening;

    /** Starts to listen. Does nothing the second time. */
    synchronized void start() {
        if (listening) {
            return;
        }
        listening = true;
        for (GarbageCollectorMXBean bean : ManagementFactory.getGarbageCollectorMXBeans()) {
            boolean concurrent =
                    bean.getName().contains("Cycles") || bean.getName().contains("Concurrent");
            if (!concurrent && bean instanceof NotificationEmitter emitter) {
                emitter.addNotificationListener(this, null, null);
            }
        }
    }

    @Override
    public void handleNotification(Notification notification, Object handback) {
        if (notification.getType().equals(GarbageCollectionNotificationInfo.GARBAGE_COLLECTION_NOTIFICATION)
                && notification.getUserData() instanceof CompositeData data) {
            GarbageCollectionNotificationInfo info = GarbageCollectionNotificationInfo.from(data);
            if (!info.getGcCause().equals("No GC")) {
                add(info.getGcInfo());
            }
        }
    }

    private synchronized void add(GcInfo collection) {
        pauses.addLast(new long[] {
            zeroNanos + TimeUnit.MILLISECONDS.toNanos(collection.getStartTime()),
            zeroNanos + TimeUnit.MILLISECONDS.toNanos(collection.getEndTime())
        });
        if (pauses.size() > MAX_PAUSES) {
            pauses.removeFirst();
        }
        long after = kept(collection.getMemoryUsageAfterGc());
        freedBytes += Math.max(0, all(collection.getMemoryUsageBeforeGc()) - all(collection.getMemoryUsageAfterGc()));
        long max = Runtime.getRuntime().maxMemory();
        live = max == Long.MAX_VALUE ? -1 : Math.min(1, (double) after / max);
    }

    /** What survives young collections, in bytes. */
    private static long kept(Map<String, MemoryUsage> pools) {
        return sum(pools, true);
    }

    private static long all(Map<String, MemoryUsage> pools) {
        return sum(pools, false);
    }

    private static long sum(Map<String, MemoryUsage> pools, boolean keptOnly) {
        long sum = 0;
        for (Map.Entry<String, MemoryUsage> pool : pools.entrySet()) {
            String name = pool.getKey();
            boolean heap = name.contains("Eden")
                    || name.contains("Survivor")
                    || name.contains("Old")
                    || name.contains("Tenured")
                    || name.contains("ZHeap")
                    || name.contains("Shenandoah");
            if (heap && !(keptOnly && name.contains("Eden"))) {
                sum += pool.getValue().getUsed();
            }
        }
        return sum;
    }

    /** The share of the heap that was in use after the last collection, without new objects; -1 if unknown. */
    synchronized double live() {
        return live;
    }

    /** The bytes that collections have freed so far. */
    synchronized long freedBytes() {
        return freedBytes;
    }

    @Override
    public synchronized Times between(long fromNanos, long toNanos) {
        Times times = new Times();
        for (long[] pause : pauses) {
            times.add(
                    Part.of(Part.Kind.COLLECTOR), Math.min(pause[1], toNanos) - (double) Math.max(pause[0], fromNanos));
        }
        return times;
    }
}
