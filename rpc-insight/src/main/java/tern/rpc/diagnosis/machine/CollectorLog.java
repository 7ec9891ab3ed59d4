package tern.rpc.diagnosis.machine;

import com.sun.management.GarbageCollectionNotificationInfo;
import com.sun.management.GcInfo;
import java.lang.management.GarbageCollectorMXBean;
import java.lang.management.ManagementFactory;
import java.lang.management.MemoryUsage;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import javax.management.ListenerNotFoundException;
import javax.management.Notification;
import javax.management.NotificationEmitter;
import javax.management.NotificationListener;
import javax.management.openmbean.CompositeData;
import org.jspecify.annotations.Nullable;
import tern.rpc.diagnosis.account.Part;
import tern.rpc.diagnosis.account.PauseTimes;
import tern.rpc.diagnosis.account.Times;
import tern.rpc.diagnosis.machine.HeapGrowth.Use;

/** Records the pauses of the garbage collectors, and the memory in use after garbage collections. Thread-safe. */
public final class CollectorLog implements NotificationListener, PauseTimes {

    private static final Set<String> TOOLS = Set.of(
            "Heap Inspection Initiated GC",
            "Heap Dump Initiated GC",
            "Diagnostic Command",
            "JvmtiEnv ForceGarbageCollection");

    private static final int MAX_PAUSES = 4_096;

    /** The used share of the heap is computed from the last {@value} garbage collections. */
    private static final int RECENT = 8;

    /** The growth of the used heap is computed from the last {@value} garbage collections at most. */
    private static final int MAX_USES = 256;

    private static final long GROWTH_NANOS = TimeUnit.SECONDS.toNanos(60);

    private static final long MAJOR_NANOS = TimeUnit.SECONDS.toNanos(60);

    /** The reason that ZGC reports for a cycle that begins because threads wait for free memory. */
    public static final String STALL = "Allocation Stall";

    /**
     * The minimum total time of allocation stalls (waits of threads for free memory). Shorter stalls are not reported
     * as the main trigger of garbage collections.
     */
    private static final long MIN_STALL_NANOS = TimeUnit.MILLISECONDS.toNanos(20);

    /**
     * A garbage collection: either a pause of the application threads, or a cycle that runs concurrently with the
     * application threads.
     */
    private record Collection(long fromNanos, long toNanos, String cause) {
        /**
         * Returns the part of this garbage collection's time that lies within the period; negative if the collection is
         * outside of the period.
         */
        double within(long from, long to) {
            return Math.min(toNanos, to) - (double) Math.max(fromNanos, from);
        }
    }

    /**
     * The value of {@link System#nanoTime()} at the zero point of the clock in the JVM's garbage collection
     * notifications. The JVM does not publish this value, and it differs from the JVM's start time. This value is
     * estimated from the upper bound that each notification gives. Guarded by this.
     */
    private long zeroNanos = System.nanoTime()
            - TimeUnit.MILLISECONDS.toNanos(ManagementFactory.getRuntimeMXBean().getUptime());

    private boolean calibrated; // This object's lock guards this field and all fields below.
    private final Deque<Collection> pauses = new ArrayDeque<>();
    private final Deque<Collection> cycles = new ArrayDeque<>(); // the concurrent cycles of ZGC and Shenandoah
    private final Deque<Use> uses = new ArrayDeque<>();
    private final LeastUses minutes = new LeastUses();
    private long freedBytes;
    private boolean listening;

    /**
     * Registers this object as a listener for the collectors' notifications. Calling this method again has no effect.
     */
    synchronized void start() {
        if (listening) {
            return;
        }
        listening = true;
        collectors().forEach(collector -> collector.addNotificationListener(this, null, null));
    }

    /**
     * Removes this object as a listener. The collectors exist as long as the JVM, so they would otherwise keep this
     * object and its class loader after the application has ended, for example in a web server that runs several
     * applications. Calling this method again has no effect.
     */
    synchronized void stop() {
        if (!listening) {
            return;
        }
        listening = false;
        for (NotificationEmitter collector : collectors()) {
            try {
                collector.removeNotificationListener(this);
            } catch (ListenerNotFoundException e) {
                // The collector does not know this object, so there is nothing to remove.
            }
        }
    }

    /** Returns the collectors whose notifications are recorded. */
    static List<NotificationEmitter> collectors() {
        List<NotificationEmitter> collectors = new ArrayList<>();
        for (GarbageCollectorMXBean bean : ManagementFactory.getGarbageCollectorMXBeans()) {
            boolean isKnown = reportsPauses(bean.getName()) || reportsCycles(bean.getName());
            if (isKnown && bean instanceof NotificationEmitter emitter) {
                collectors.add(emitter);
            }
        }
        return collectors;
    }

    /** Returns whether the collector's MXBean reports pauses. Of the concurrent collectors, only G1 has such a bean. */
    private static boolean reportsPauses(String name) {
        return !name.contains("Cycles") && (!name.contains("Concurrent") || name.startsWith("G1 "));
    }

    /**
     * Returns whether the collector's MXBean reports the concurrent cycles of ZGC or Shenandoah. Threads run during
     * these cycles. The memory is freed by the cycles and not by the short pauses.
     */
    private static boolean reportsCycles(String name) {
        return name.contains("Cycles") && isConcurrent(name);
    }

    private static boolean isConcurrent(String name) {
        return name.startsWith("ZGC") || name.startsWith("Shenandoah");
    }

    @Override
    public void handleNotification(Notification notification, Object handback) {
        if (notification.getType().equals(GarbageCollectionNotificationInfo.GARBAGE_COLLECTION_NOTIFICATION)
                && notification.getUserData() instanceof CompositeData data) {
            GarbageCollectionNotificationInfo info = GarbageCollectionNotificationInfo.from(data);
            if (!info.getGcCause().equals("No GC")) {
                add(
                        info.getGcName(),
                        info.getGcInfo(),
                        info.getGcCause(),
                        freesAll(info.getGcAction(), info.getGcCause()));
            }
        }
    }

    /**
     * Returns whether this is a major collection after which the used memory can be compared with the used memory after
     * other major collections. A major collection that was triggered by full class metadata is not compared, because it
     * often happens while the application is starting and has few objects.
     */
    static boolean freesAll(String action, String cause) {
        return action.contains("major") && !cause.startsWith("Metadata");
    }

    private synchronized void add(String collector, GcInfo collection, String cause, boolean major) {
        long zero = System.nanoTime() - TimeUnit.MILLISECONDS.toNanos(collection.getEndTime());
        zeroNanos = calibrated ? Math.min(zeroNanos, zero) : zero;
        calibrated = true;
        add(
                collector,
                zeroNanos + TimeUnit.MILLISECONDS.toNanos(collection.getStartTime()),
                zeroNanos + TimeUnit.MILLISECONDS.toNanos(collection.getEndTime()),
                cause);
        if (isConcurrent(collector) && !reportsCycles(collector)) {
            return;
        }
        freedBytes += Math.max(0, all(collection.getMemoryUsageBeforeGc()) - all(collection.getMemoryUsageAfterGc()));
        addUse(new Use(
                zeroNanos + TimeUnit.MILLISECONDS.toNanos(collection.getEndTime()),
                kept(collection.getMemoryUsageAfterGc()),
                major,
                old(collector)));
    }

    static HeapGrowth.Old old(String collector) {
        if (collector.startsWith("G1 ")) {
            return collector.contains("Concurrent") ? HeapGrowth.Old.MARKS : HeapGrowth.Old.FREES_MARKED;
        }
        return isConcurrent(collector) && !collector.contains("Minor") ? HeapGrowth.Old.FREES : HeapGrowth.Old.KEEPS;
    }

    /** Records how much memory was in use after a garbage collection. */
    synchronized void addUse(Use use) {
        minutes.add(use);
        uses.addLast(use);
        if (uses.size() > MAX_USES) {
            uses.removeFirst();
        }
    }

    /** @param collector the name of the collector's MXBean */
    synchronized void add(String collector, long fromNanos, long toNanos, String cause) {
        Deque<Collection> kept = reportsCycles(collector) ? cycles : pauses;
        kept.addLast(new Collection(fromNanos, toNanos, cause));
        if (kept.size() > MAX_PAUSES) {
            kept.removeFirst();
        }
    }

    /** Returns the number of bytes used in memory pools whose objects have survived a young collection. */
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
                    || name.contains("Young")
                    || name.contains("Shenandoah");
            if (heap && !(keptOnly && (name.contains("Eden") || name.contains("Young")))) {
                sum += pool.getValue().getUsed();
            }
        }
        return sum;
    }

    /**
     * Returns the share of the heap that surviving objects occupy after garbage collections, or -1 if unknown. If the
     * last major collection was less than a minute ago, the method returns the share after that major collection. If
     * the last major collection is older, the method returns the smallest share after any of the last {@link #RECENT}
     * collections.
     */
    synchronized double live(long now) {
        long max = Runtime.getRuntime().maxMemory();
        long smallest = Long.MAX_VALUE;
        Iterator<Use> newest = uses.descendingIterator();
        for (int i = 0; i < RECENT && newest.hasNext(); i++) {
            Use use = newest.next();
            if (use.major() && now - use.atNanos() < MAJOR_NANOS) {
                smallest = use.bytes();
                break;
            }
            smallest = Math.min(smallest, use.bytes());
        }
        return uses.isEmpty() || max == Long.MAX_VALUE ? -1 : Math.min(1, (double) smallest / max);
    }

    /**
     * Returns the growth of the memory that surviving objects occupy after garbage collections. The growth is measured
     * within the last minute or, if it is slow, over the last minutes. Returns null if this growth will not fill the
     * heap soon.
     *
     * @param paused the fraction of time that the process currently spends in pauses of the collector
     */
    synchronized @Nullable HeapGrowth growth(long now, double paused) {
        long max = Runtime.getRuntime().maxMemory();
        if (max == Long.MAX_VALUE) {
            return null;
        }
        List<Use> recent =
                uses.stream().filter(use -> now - use.atNanos() <= GROWTH_NANOS).toList();
        HeapGrowth quick = HeapGrowth.of(recent, (double) max, paused);
        return quick != null ? quick : minutes.growth(now, (double) max, paused);
    }

    /**
     * Returns the trigger whose garbage collections have stopped threads for the longest total time since the given
     * time; null if there was no collection. Returns {@link #STALL} if the cycles with this trigger took longer than
     * the pauses with any other trigger. Cycles with another trigger do not count, because threads run during them.
     */
    synchronized @Nullable String mainCause(long sinceNanos) {
        long stalled = spent(cycles, sinceNanos).getOrDefault(STALL, 0L);
        Map<String, Long> paused = spent(pauses, sinceNanos);
        // While threads wait for the end of a garbage collection cycle, the pauses of this cycle are short. Therefore
        // the duration of the whole cycle is compared.
        paused.remove(STALL);
        boolean isStall = stalled >= MIN_STALL_NANOS && paused.values().stream().allMatch(nanos -> nanos < stalled);
        return isStall ? STALL : longest(paused);
    }

    private static Map<String, Long> spent(Deque<Collection> collections, long sinceNanos) {
        Map<String, Long> spent = new HashMap<>();
        for (Collection each : collections) {
            if (each.toNanos - sinceNanos > 0) {
                spent.merge(each.cause, each.toNanos - each.fromNanos, Long::sum);
            }
        }
        return spent;
    }

    private static @Nullable String longest(Map<String, Long> spent) {
        return spent.entrySet().stream()
                .max(Map.Entry.<String, Long>comparingByValue().thenComparing(Map.Entry::getKey))
                .map(Map.Entry::getKey)
                .orElse(null);
    }

    @Override
    public synchronized double stalledNanos(long fromNanos, long toNanos) {
        double sum = 0;
        for (Collection cycle : cycles) {
            sum += cycle.cause.equals(STALL) ? Math.max(0, cycle.within(fromNanos, toNanos)) : 0;
        }
        return sum;
    }

    /** Returns the total number of bytes that garbage collections have freed. */
    synchronized long freedBytes() {
        return freedBytes;
    }

    @Override
    public synchronized Times between(long fromNanos, long toNanos) {
        Times times = new Times();
        for (Collection pause : pauses) {
            times.add(Part.of(Part.Kind.COLLECTOR), pause.within(fromNanos, toNanos));
        }
        return times;
    }

    /** Returns whether a tool outside of the application has requested the garbage collections with the given cause. */
    public static boolean isAskedForFromOutside(@Nullable String cause) {
        return cause != null && TOOLS.contains(cause);
    }
}
