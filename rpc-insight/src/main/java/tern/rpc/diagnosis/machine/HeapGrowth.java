package tern.rpc.diagnosis.machine;

import java.util.List;
import java.util.Locale;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * The growth of the memory that objects occupy after garbage collections. If this memory will soon reach the size of
 * the heap, the application keeps too many objects. If it stays the same, the application only allocates a lot.
 *
 * @param fromShare the used share of the heap at the beginning of the growth, from 0 to 1
 * @param toShare the current used share of the heap
 * @param seconds the duration of the growth so far
 * @param keptPerSecond the number of bytes that are kept per second
 * @param secondsToFull the time until the heap is full, if the used memory continues to grow at the same rate
 */
public record HeapGrowth(double fromShare, double toShare, double seconds, double keptPerSecond, double secondsToFull) {

    private static final double MIN_SECONDS = 1;
    private static final double MAX_SECONDS_TO_FULL = 120;

    /** The maximum time until the heap is full, in seconds, for the slow growth that {@link #ofMinutes} finds. */
    private static final double MAX_SECONDS_TO_FULL_SLOWLY = 1_200;

    /** Slow growth is measured only over periods of at least {@value} minutes. */
    private static final int MIN_MINUTES = 4;

    /** A heap counts as growing only if its used share has increased by at least {@value}. */
    private static final double MIN_GROWTH = 0.15;

    /**
     * The heap counts as growing only if the largest decrease of the used memory from an earlier maximum is at most
     * {@value} of the total growth. Small decreases are not added up, because the number of objects that survive young
     * collections varies.
     */
    private static final double MAX_DECREASE = 0.25;

    /**
     * The heap counts as growing only if at least {@value} of the growth took place in the second half of the time. A
     * cache also grows until it is full, but then keeps its size.
     */
    private static final double MIN_RECENT = 0.2;

    /**
     * If there were at least {@value} major collections, the growth is measured over major collections only, because
     * these free all unused objects.
     */
    private static final int MIN_MAJOR = 2;

    /** Growth over major collections counts only if at least {@value} of the heap is used after the last of them. */
    private static final double MIN_SHARE_MAJOR = 0.4;

    /**
     * The growth up to a single major garbage collection is measured only after at least {@value} other collections.
     */
    private static final int MIN_UNTIL_MAJOR = 4;

    /** Two major garbage collections follow each other quickly if at most this time lies between them. */
    private static final long MAX_NANOS_BETWEEN_MAJOR = TimeUnit.SECONDS.toNanos(20);

    /**
     * While the heap is nearly full, it counts as growing if its used share increases by at least {@value} from one
     * major collection to the next.
     */
    private static final double MIN_GROWTH_NEARLY_FULL = 0.01;

    /** A heap can be full soon only if at least {@value} of it is used. */
    private static final double MIN_SHARE_SOON = 0.6;

    /**
     * With too few major garbage collections, the growth is measured over the other collections. There must be at least
     * {@value} of them.
     */
    private static final int MIN_OTHERS = 6;

    /**
     * Growth over garbage collections that are not major counts only if at least {@value} of the heap is used after the
     * last of them. If less memory is used, the old objects may be garbage: concurrent collectors begin to free old
     * objects only when nearly this share of the heap is in use.
     */
    private static final double MIN_SHARE_OTHERS = 0.6;

    /**
     * The minimum used share of the heap that applies instead of {@link #MIN_SHARE_OTHERS} if the collector may not
     * have marked the old objects that are still in use.
     */
    private static final double MIN_SHARE_UNMARKED = 0.8;

    /**
     * If garbage collections pause the process for at least {@value} of the time, a used share of
     * {@link #MIN_SHARE_OTHERS} is sufficient even if no marking cycle is known. Before Java 20, the JVM does not
     * report the marking cycles of G1.
     */
    private static final double MUCH_PAUSED = 0.1;

    /**
     * If the used memory has grown for at least this long, G1 is assumed to have marked old objects in the meantime,
     * even if no marking cycle is known.
     */
    private static final double MIN_SECONDS_UNMARKED = 5;

    /**
     * After a concurrent marking cycle, G1 begins to free old objects in the third garbage collection. Its cleanup and
     * a young collection come first.
     */
    private static final int USES_AFTER_MARKING = 3;

    /** How a garbage collection treats old objects. */
    enum Old {
        /** The garbage collection keeps all old objects. */
        KEEPS,
        /** The garbage collection frees unused old objects. */
        FREES,
        /** The garbage collection frees unused old objects only after a marking cycle, as G1's young collections do. */
        FREES_MARKED,
        /** The garbage collection marks old objects, so that later collections can free the unused ones. */
        MARKS
    }

    /**
     * The memory that surviving objects occupied after a garbage collection: all memory pools of the heap except Eden.
     *
     * @param major whether the garbage collection freed all unused objects
     * @param old how garbage collections of this kind treat old objects
     */
    record Use(long atNanos, long bytes, boolean major, Old old) {}

    /**
     * Returns the growth of the used memory; null if the growth is small or not steady, or if the heap will not be full
     * soon.
     *
     * @param uses the used memory after the last garbage collections, the oldest first
     * @param paused the fraction of time that the process currently spends in pauses of the collector
     */
    static @Nullable HeapGrowth of(List<Use> uses, double heapBytes, double paused) {
        List<Use> major = uses.stream().filter(Use::major).toList();
        if (major.size() >= MIN_MAJOR) {
            HeapGrowth growth = growth(major, heapBytes, MIN_MAJOR, MIN_SHARE_MAJOR);
            return growth == null ? growthWhenNearlyFull(major, heapBytes) : growth;
        }
        HeapGrowth confirmed = major.isEmpty() ? null : growthUntil(major.get(0), uses, heapBytes);
        return confirmed == null
                ? growthOfOthers(
                        uses.stream().filter(use -> use.old != Old.KEEPS).toList(), heapBytes, paused)
                : confirmed;
    }

    /**
     * Returns the growth of the used memory from the smallest earlier value to the given major collection; null if the
     * growth is small or not steady. The earlier value may include garbage, so the memory that the application keeps
     * has grown at least as much.
     */
    private static @Nullable HeapGrowth growthUntil(Use major, List<Use> uses, double heapBytes) {
        List<Use> until = uses.subList(0, uses.indexOf(major) + 1);
        Use first = until.get(least(until));
        Use latest = uses.get(uses.size() - 1);
        boolean isKept = latest.bytes >= (1 - MAX_DECREASE) * major.bytes;
        boolean isEarly = until.size() >= MIN_UNTIL_MAJOR
                && mostBefore(first.atNanos + (major.atNanos - first.atNanos) / 2, until, least(until))
                        <= major.bytes - MIN_RECENT * (major.bytes - first.bytes);
        return isKept && isEarly && major.bytes - first.bytes >= MIN_GROWTH * heapBytes
                ? between(first, major, heapBytes, MIN_SHARE_OTHERS)
                : null;
    }

    /**
     * Returns the growth between the last two major collections; null unless they followed each other quickly and the
     * heap was nearly full after both. A major collection of a nearly full heap frees little, so even a small growth
     * counts.
     */
    private static @Nullable HeapGrowth growthWhenNearlyFull(List<Use> major, double heapBytes) {
        Use last = major.get(major.size() - 1);
        Use before = major.get(major.size() - 2);
        boolean isNearlyFull = before.bytes >= MIN_SHARE_UNMARKED * heapBytes
                && last.atNanos - before.atNanos <= MAX_NANOS_BETWEEN_MAJOR
                && last.bytes - before.bytes >= MIN_GROWTH_NEARLY_FULL * heapBytes;
        return isNearlyFull ? between(before, last, heapBytes, MIN_SHARE_UNMARKED) : null;
    }

    private static @Nullable HeapGrowth between(Use first, Use last, double heapBytes, double minShare) {
        double grown = last.bytes - (double) first.bytes;
        double seconds = (last.atNanos - first.atNanos) / 1e9;
        double toFull = (heapBytes - last.bytes) * seconds / grown;
        return seconds >= MIN_SECONDS && last.bytes >= minShare * heapBytes && toFull <= MAX_SECONDS_TO_FULL
                ? new HeapGrowth(
                        first.bytes / heapBytes, last.bytes / heapBytes, seconds, grown / seconds, Math.max(0, toFull))
                : null;
    }

    /**
     * Returns the growth over several minutes; null if the growth is small or not steady. The heap may fill so slowly
     * that the growth within one minute is small.
     *
     * @param least the least memory that was used after a garbage collection in each minute, the oldest first
     * @param areFreed whether garbage collections have freed unused old objects during the growth, so that the old
     *     objects are in use
     */
    static @Nullable HeapGrowth ofMinutes(List<Use> least, double heapBytes, boolean areFreed) {
        double minShare = areFreed ? MIN_SHARE_OTHERS : MIN_SHARE_UNMARKED;
        return growth(least, heapBytes, MIN_MINUTES, minShare, MAX_SECONDS_TO_FULL_SLOWLY);
    }

    private static @Nullable HeapGrowth growthOfOthers(List<Use> uses, double heapBytes, double paused) {
        List<Use> grown = uses.subList(least(uses), Math.max(least(uses), uses.size() - USES_AFTER_MARKING));
        boolean isMarked = grown.stream().anyMatch(use -> use.old == Old.MARKS)
                || uses.stream().allMatch(use -> use.old == Old.FREES);
        HeapGrowth growth = growth(uses, heapBytes, MIN_OTHERS, isMarked ? MIN_SHARE_OTHERS : MIN_SHARE_UNMARKED);
        if (growth != null || isMarked || paused < MUCH_PAUSED) {
            return growth;
        }
        HeapGrowth pressing = growth(uses, heapBytes, MIN_OTHERS, MIN_SHARE_OTHERS);
        return pressing != null && pressing.seconds >= MIN_SECONDS_UNMARKED ? pressing : null;
    }

    /**
     * Returns the index of the garbage collection after which the least memory was in use. If there are several,
     * returns the last one.
     */
    static int least(List<Use> uses) {
        int smallest = 0;
        for (int i = 0; i < uses.size(); i++) {
            smallest = uses.get(i).bytes <= uses.get(smallest).bytes ? i : smallest;
        }
        return smallest;
    }

    private static @Nullable HeapGrowth growth(List<Use> uses, double heapBytes, int minUses, double minShare) {
        return growth(uses, heapBytes, minUses, minShare, MAX_SECONDS_TO_FULL);
    }

    private static @Nullable HeapGrowth growth(
            List<Use> uses, double heapBytes, int minUses, double minShare, double maxSecondsToFull) {
        if (uses.isEmpty()) {
            return null;
        }
        int from = least(uses);
        if (uses.size() - from < minUses) {
            return null;
        }
        Use first = uses.get(from);
        Use last = uses.get(uses.size() - 1);
        double largest = first.bytes;
        double decrease = 0;
        for (Use use : uses.subList(from, uses.size())) {
            largest = Math.max(largest, (double) use.bytes);
            decrease = Math.max(decrease, largest - use.bytes);
        }
        double grown = last.bytes - (double) first.bytes;
        double seconds = (last.atNanos - first.atNanos) / 1e9;
        double toFull = (heapBytes - last.bytes) * seconds / grown;
        boolean grows = grown >= MIN_GROWTH * heapBytes
                && decrease <= MAX_DECREASE * grown
                && last.bytes - (double) mostBefore(first.atNanos + (last.atNanos - first.atNanos) / 2, uses, from)
                        >= MIN_RECENT * grown;
        return grows && seconds >= MIN_SECONDS && last.bytes >= minShare * heapBytes && toFull <= maxSecondsToFull
                ? new HeapGrowth(
                        first.bytes / heapBytes, last.bytes / heapBytes, seconds, grown / seconds, Math.max(0, toFull))
                : null;
    }

    /** Returns the maximum of the used memory from the given garbage collection until the given time. */
    private static long mostBefore(long untilNanos, List<Use> uses, int from) {
        return uses.subList(from, uses.size()).stream()
                .filter(use -> use.atNanos - untilNanos <= 0)
                .mapToLong(use -> use.bytes)
                .max()
                .orElse(0);
    }

    /**
     * Returns the line of a diagnosis about the growth of the used memory.
     *
     * @param allocatedPerSecond the number of bytes that are allocated per second; negative if unknown. The line omits
     *     this value if it is lower than the growth, because it is then the mean of a different period
     */
    public String line(double allocatedPerSecond) {
        String of = allocatedPerSecond <= 0 || allocatedPerSecond < keptPerSecond
                ? ""
                : String.format(Locale.ROOT, " of %.0f MB/s allocated", allocatedPerSecond / 1e6);
        return String.format(
                Locale.ROOT,
                "fills    from %.0f %% to %.0f %% of the heap in %.0f s: %.0f MB/s%s are kept",
                fromShare * 100,
                toShare * 100,
                seconds,
                keptPerSecond / 1e6,
                of);
    }

    /** Returns whether most of the heap is already used, and the heap will be full within two minutes. */
    public boolean isSoon() {
        return secondsToFull <= MAX_SECONDS_TO_FULL && toShare >= MIN_SHARE_SOON;
    }

    /** Returns the time until the heap is full, for example {@code the heap is full in about 20 s}. */
    public String untilFull() {
        return String.format(Locale.ROOT, "at this rate, the heap is full in about %.0f s", secondsToFull);
    }
}
