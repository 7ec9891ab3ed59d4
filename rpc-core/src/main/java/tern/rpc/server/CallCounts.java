package tern.rpc.server;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/** Counts calls by key, for example by tenant or by method. Keys without calls have no entry. Thread-safe. */
final class CallCounts<K> {

    private final Map<K, Integer> counts = new ConcurrentHashMap<>();

    void add(K key) {
        counts.merge(key, 1, Integer::sum);
    }

    /** Removes one call from the count. Must be called once for each call of {@link #add}. */
    void remove(K key) {
        counts.computeIfPresent(key, (same, count) -> count == 1 ? null : count - 1);
    }

    int of(K key) {
        return counts.getOrDefault(key, 0);
    }

    boolean hasAny(K key) {
        return counts.containsKey(key);
    }

    /** Returns the number of keys that have calls. */
    int keys() {
        return counts.size();
    }
}
