package tern.rpc.diagnosis;

import java.util.EnumMap;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import tern.rpc.Phase;
import tern.rpc.diagnosis.Part.Kind;

/**
 * The lookups of host names that threads outside of calls run while calls wait for a peer. Some client libraries look up
 * names on their own threads, and pools on the threads that open connections. Not thread-safe.
 */
final class Lookups {

    /** The lookups explain the wait for a peer if at least this number of looks found one. */
    private static final int MIN_LOOKS = 3;

    private final Map<Kind, Map<String, Integer>> found = new EnumMap<>(Kind.class);
    private int looks;

    /** Begins a look at all threads. */
    void begin() {
        looks++;
    }

    void halve() {
        looks /= 2;
        found.values().forEach(threads -> threads.replaceAll((name, count) -> count / 2));
    }

    void clear() {
        looks = 0;
        found.clear();
    }

    /** @param group the name of the thread without numbers */
    void add(ThreadLook thread, String group) {
        if (!StackReader.isResolver(thread)) {
            return;
        }
        for (StackTraceElement frame : thread.frames()) {
            Kind kind = peerOf(frame.getClassName());
            if (kind != null) {
                found.computeIfAbsent(kind, unknown -> new HashMap<>()).merge(group, 1, Integer::sum);
                return;
            }
        }
    }

    /** Returns the kind of peer to which code of this class connects; null if it is unknown. */
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

    /** Returns whether calls in this phase may wait for a lookup on another thread. */
    static boolean mayAwait(Phase phase) {
        return switch (phase) {
            case HTTP, RPC, REDIS, HTTP_CONNECTION, REDIS_CONNECTION, JDBC_CONNECTION -> true;
            default -> false;
        };
    }

    /**
     * Returns the threads that look up names of this kind of peer in at least half of the looks; null if there are none.
     */
    @Nullable
    String threadsFor(Kind peer) {
        Map<String, Integer> threads = found.getOrDefault(peer, Map.of());
        return threads.entrySet().stream()
                .filter(entry -> entry.getValue() >= MIN_LOOKS && 2 * entry.getValue() >= looks)
                .max(Map.Entry.comparingByValue())
                .map(Map.Entry::getKey)
                .orElse(null);
    }

    /** Attributes waits for a peer to the lookups of its name. */
    static void passOn(Evidence evidence, PeerKinds kinds, Leaves leaves) {
        for (Part part : leaves.longestFirst()) {
            Kind peer = part.kind() == Kind.POOL ? kinds.ofPool(part) : part.kind();
            // Drivers look up names on the thread of the call.
            boolean waits = part.kind() != Kind.SQL;
            String threads =
                    peer == null || !waits ? null : evidence.tasks().lookups().threadsFor(peer);
            if (threads != null) {
                Times one = new Times();
                one.add(new Part(Kind.RESOLVER, "threads " + threads), 1);
                leaves.pour(part, one, Leaves.WAIT_FOR + (part.name().isEmpty() ? "an answer" : part.name()));
            }
        }
    }
}
