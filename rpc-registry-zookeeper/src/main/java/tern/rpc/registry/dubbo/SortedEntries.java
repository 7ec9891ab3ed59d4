package tern.rpc.registry.dubbo;

import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Set;

/**
 * A sorted list of entries. After a change, a new list is built from the previous list. The previous list is sorted, so
 * building the new list takes only one pass. Entries are compared by identity, and several entries can have the same
 * place in the order. Not thread-safe.
 */
public final class SortedEntries<T> {

    private final Comparator<? super T> order;
    private List<T> list = List.of();
    private final List<T> added = new ArrayList<>();
    private final Set<T> removed = Collections.newSetFromMap(new IdentityHashMap<>());

    public SortedEntries(Comparator<? super T> order) {
        this.order = order;
    }

    public void add(T entry) {
        added.add(entry);
    }

    /** Removes an entry from the list. The entry must have been added before. */
    public void remove(T entry) {
        removed.add(entry);
    }

    /** Returns the entries in order. The list is immutable, and the same object is returned until an entry changes. */
    public List<T> list() {
        if (!added.isEmpty() || !removed.isEmpty()) {
            List<T> next = new ArrayList<>(list.size() + added.size());
            addCurrent(list, next);
            addCurrent(added, next);
            added.clear();
            removed.clear();
            next.sort(order); // Sorting is fast, because most of the list is already in order.
            list = List.copyOf(next);
        }
        return list;
    }

    private void addCurrent(List<T> from, List<T> to) {
        if (removed.isEmpty()) {
            to.addAll(from);
            return;
        }
        for (T entry : from) {
            if (!removed.contains(entry)) {
                to.add(entry);
            }
        }
    }
}
