package tern.rpc.cluster;

import java.lang.ref.WeakReference;
import java.util.ArrayList;
import java.util.List;
import tern.rpc.endpoint.Instance;

/**
 * The difference between two lists of providers. The comparison is fast if few entries of a long list have changed: it
 * takes one step per entry and computes no hashes. An entry that has moved far in the list can be reported as both
 * removed and added.
 *
 * @param removed the entries of the earlier list that the later list lacks
 * @param added the entries of the later list that the earlier list lacks
 */
record ListChange(List<Instance> removed, List<Instance> added) {

    /** The maximum number of positions in the other list at which an entry is searched. */
    private static final int LOOK_AHEAD = 8;

    /**
     * If this many consecutive entries have not been found, the entire rest of the earlier list is searched. This
     * search succeeds if many consecutive entries were removed.
     */
    private static final int MISSES_BEFORE_A_LONG_SEARCH = 8;

    private static final int MAX_LONG_SEARCHES = 16;

    private static final ListChange NONE = new ListChange(List.of(), List.of());

    /** A comparison of two list objects. */
    private record Compared(List<Instance> before, List<Instance> after, ListChange change) {

        @SuppressWarnings("ReferenceEquality") // comparing the references avoids a comparison of all entries
        boolean isOf(List<Instance> one, List<Instance> other) {
            return before == one && after == other;
        }
    }

    /**
     * The last comparison. It is reused, because all references to a source compare the same two lists several times
     * after a change. The weak reference keeps no list in memory.
     */
    private static volatile WeakReference<Compared> last = new WeakReference<>(null);

    /** Compares two lists, which must not change. */
    static ListChange between(List<Instance> before, List<Instance> after) {
        if (before == after) {
            return NONE;
        }
        Compared known = last.get();
        if (known != null && known.isOf(before, after)) {
            return known.change();
        }
        ListChange change = compare(before, after);
        last = new WeakReference<>(new Compared(before, after, change));
        return change;
    }

    private static ListChange compare(List<Instance> before, List<Instance> after) {
        int start = 0;
        int beforeEnd = before.size();
        int afterEnd = after.size();
        while (start < beforeEnd && start < afterEnd && isSame(before.get(start), after.get(start))) {
            start++;
        }
        while (beforeEnd > start && afterEnd > start && isSame(before.get(beforeEnd - 1), after.get(afterEnd - 1))) {
            beforeEnd--;
            afterEnd--;
        }
        List<Instance> removed = before.subList(start, beforeEnd);
        List<Instance> added = after.subList(start, afterEnd);
        return removed.isEmpty() || added.isEmpty() ? new ListChange(removed, added) : search(removed, added);
    }

    private static ListChange search(List<Instance> before, List<Instance> after) {
        List<Instance> removed = new ArrayList<>();
        List<Instance> added = new ArrayList<>();
        int next = 0; // The first entry of the earlier list that has been neither found nor removed.
        int misses = 0;
        int longSearches = 0;
        for (int i = 0; i < after.size(); i++) {
            Instance instance = after.get(i);
            int found = indexOf(instance, before, next, LOOK_AHEAD);
            if (found < 0 && ++misses % MISSES_BEFORE_A_LONG_SEARCH == 0 && longSearches < MAX_LONG_SEARCHES) {
                longSearches++;
                found = indexOf(instance, before, next, before.size());
            }
            if (found >= 0) {
                misses = 0;
                for (; next < found; next++) {
                    removed.add(before.get(next));
                }
                next = found + 1;
                continue;
            }
            added.add(instance);
            if (next < before.size() && indexOf(before.get(next), after, i + 1, LOOK_AHEAD) < 0) {
                // The later list no longer contains this entry, so the added entry has replaced it.
                removed.add(before.get(next));
                next++;
            }
        }
        removed.addAll(before.subList(next, before.size()));
        return new ListChange(removed, added);
    }

    private static int indexOf(Instance instance, List<Instance> list, int from, int positions) {
        int end = Math.min(list.size(), from + Math.min(positions, list.size()));
        for (int i = from; i < end; i++) {
            if (isSame(list.get(i), instance)) {
                return i;
            }
        }
        return -1;
    }

    /**
     * Compares the references first, because reading thousands of objects would take longer than all other work for a
     * change.
     */
    @SuppressWarnings("ReferenceEquality") // if the references differ, the instances are compared with equals()
    static boolean isSame(Instance one, Instance other) {
        return one == other || one.equals(other);
    }

    boolean isEmpty() {
        return removed.isEmpty() && added.isEmpty();
    }

    /** Returns the number of entries that were removed or added. */
    int size() {
        return removed.size() + added.size();
    }
}
