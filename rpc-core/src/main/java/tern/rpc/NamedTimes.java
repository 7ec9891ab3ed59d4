package tern.rpc;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The total durations of a call's operations by kind and name. At most eight entries are kept. If there are more names,
 * the entry with the shortest time is merged into the entry {@value #OTHERS} of the same kind. Entries of failed
 * operations and of rollbacks are merged last, because they often explain a late call even if they were short.
 * Thread-safe.
 */
public final class NamedTimes {

    /** The name of the entry that combines all operations without their own entry. */
    public static final String OTHERS = "others";

    private static final String ROLLBACK = "rollback";
    private static final int PLACES = 8;

    /**
     * The number of characters in the end of an HTTP exchange's name: a status code and a parenthesis, as in {@code
     * 503)}.
     */
    private static final int STATUS_LENGTH = 4;

    // This object's lock guards "kinds", "names", "counts", "nanos" and "size".
    private final Phase[] kinds = new Phase[PLACES];
    private final @Nullable String[] names = new @Nullable String[PLACES];
    private final int[] counts = new int[PLACES];
    private final long[] nanos = new long[PLACES];
    private int size;

    NamedTimes() {}

    /**
     * All operations of one kind that have the same name.
     *
     * @param count the number of operations that were recorded with the name
     * @param nanos their total duration in nanoseconds
     */
    public record Entry(Phase kind, String name, int count, long nanos) {}

    /** @param operations the number of operations to count; 0 to add time to an operation that was already counted */
    synchronized void add(Phase kind, String name, long spentNanos, int operations) {
        int place = find(kind, name);
        if (place < 0 && size == PLACES) {
            int shortest = shortest();
            if (!(explains(name) && !explains(names[shortest])) && nanos[shortest] >= spentNanos) {
                addTo(orNew(kind, OTHERS, shortest), operations, spentNanos);
                return;
            }
            Phase mergedKind = kinds[shortest];
            int mergedCount = counts[shortest];
            long mergedNanos = nanos[shortest];
            set(shortest, kind, name);
            addTo(shortest, operations, spentNanos);
            int others = find(mergedKind, OTHERS);
            if (others >= 0) {
                addTo(others, mergedCount, mergedNanos);
            }
            return;
        }
        addTo(place >= 0 ? place : append(kind, name), operations, spentNanos);
    }

    private int find(Phase kind, String name) {
        for (int i = 0; i < size; i++) {
            if (kinds[i] == kind && name.equals(names[i])) {
                return i;
            }
        }
        return -1;
    }

    private int orNew(Phase kind, String name, int instead) {
        int place = find(kind, name);
        if (place >= 0) {
            return place;
        }
        set(instead, kind, name);
        return instead;
    }

    private int append(Phase kind, String name) {
        set(size, kind, name);
        return size++;
    }

    private void set(int place, Phase kind, String name) {
        kinds[place] = kind;
        names[place] = name;
        counts[place] = 0;
        nanos[place] = 0;
    }

    private void addTo(int place, int count, long spentNanos) {
        counts[place] += count;
        nanos[place] += spentNanos;
    }

    /**
     * Returns the index of the entry with the shortest time. Considers entries of failed operations and of rollbacks
     * only if there are no other entries.
     */
    private int shortest() {
        int shortest = 0;
        for (int i = 1; i < PLACES; i++) {
            boolean explains = explains(names[i]);
            boolean differs = explains != explains(names[shortest]);
            if (differs ? !explains : nanos[i] < nanos[shortest]) {
                shortest = i;
            }
        }
        return shortest;
    }

    /**
     * Returns whether the name shows that the operation failed. Such a name ends with {@code (failed)}, with
     * {@code (failed} and an error code, or with the status of a failed or refused HTTP exchange.
     */
    public static boolean isFailed(@Nullable String name) {
        if (name == null || !name.endsWith(")")) {
            return false;
        }
        int status = name.lastIndexOf(" (") + 2;
        return name.startsWith("failed)", status)
                || name.startsWith("failed ", status)
                || (name.length() - status == STATUS_LENGTH
                        && (name.startsWith("5", status) || name.startsWith("429", status)));
    }

    /** Returns whether the name belongs to a rollback. The name of the rollback's data source may follow. */
    public static boolean isRollback(@Nullable String name) {
        return name != null
                && name.startsWith(ROLLBACK)
                && (name.length() == ROLLBACK.length() || name.charAt(ROLLBACK.length()) == ' ');
    }

    /** Returns whether operations with the given name often explain a late call even if they are short. */
    static boolean explains(@Nullable String name) {
        return isFailed(name) || isRollback(name);
    }

    synchronized List<Entry> entries() {
        List<Entry> all = new ArrayList<>(size);
        for (int i = 0; i < size; i++) {
            String name = names[i];
            if (name != null) {
                all.add(new Entry(kinds[i], name, counts[i], nanos[i]));
            }
        }
        return all;
    }
}
