package tern.rpc.diagnosis.stack;

import java.util.EnumMap;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import tern.rpc.Phase;
import tern.rpc.diagnosis.account.Part.Kind;

/**
 * Counts host name lookups on threads that serve no call, while calls wait for a peer. Some client libraries look up
 * names on their own threads. Pools look up names on the threads that open connections. Not thread-safe.
 */
public final class NameLookups {

    /** Host name lookups explain a wait for a peer only if at least {@value} samples show a lookup. */
    private static final int MIN_LOOKS = 3;

    // for each kind of peer and each group of threads, the number of samples that show a lookup
    private final Map<Kind, Map<String, Integer>> found = new EnumMap<>(Kind.class);
    // for each kind of peer, the groups of threads that were looking up a name in the current sample
    private final Map<Kind, Set<String>> current = new EnumMap<>(Kind.class);
    private int looks;

    /** Begins a new sample of all threads. */
    public void begin() {
        looks++;
        current.clear();
    }

    public void halve() {
        looks /= 2;
        found.values().forEach(threads -> threads.replaceAll((name, count) -> count / 2));
    }

    public void clear() {
        looks = 0;
        found.clear();
        current.clear();
    }

    /** @param group the name of the thread without numbers */
    public void add(ThreadSnapshot thread, String group) {
        if (!StackReader.isResolver(thread)) {
            return;
        }
        for (StackTraceElement frame : thread.frames()) {
            Kind kind = peerOf(frame.getClassName());
            if (kind != null) {
                // Threads of one group may look up the same name at the same time, so they count only once per sample.
                if (current.computeIfAbsent(kind, unknown -> new HashSet<>()).add(group)) {
                    found.computeIfAbsent(kind, unknown -> new HashMap<>()).merge(group, 1, Integer::sum);
                }
                return;
            }
        }
    }

    /** Returns the kind of peer that code of the given class connects to; null if it is unknown. */
    private static @Nullable Kind peerOf(String type) {
        if (Libraries.POOLS.stream().anyMatch(type::startsWith)) {
            return Kind.SQL;
        }
        return Libraries.LIBRARIES.stream()
                .filter(library -> type.startsWith(library.prefix()))
                .map(Libraries.Library::kind)
                .findFirst()
                .orElse(null);
    }

    /** Returns whether calls in the given phase may wait for a lookup on another thread. */
    public static boolean mayAwait(Phase phase) {
        return switch (phase) {
            case HTTP, RPC, REDIS, HTTP_CONNECTION, REDIS_CONNECTION, JDBC_CONNECTION -> true;
            default -> false;
        };
    }

    /**
     * Returns the group of threads that was looking up the name of a peer of the given kind in at least half of the
     * samples; null if there is no such group.
     *
     * @param wanted returns whether to consider a group of threads
     */
    @Nullable
    public String threadsFor(Kind peer, Predicate<String> wanted) {
        Map<String, Integer> threads = found.getOrDefault(peer, Map.of());
        return threads.entrySet().stream()
                .filter(entry -> wanted.test(entry.getKey()))
                .filter(entry -> entry.getValue() >= MIN_LOOKS && 2 * entry.getValue() >= looks)
                .max(Map.Entry.comparingByValue())
                .map(Map.Entry::getKey)
                .orElse(null);
    }
}
