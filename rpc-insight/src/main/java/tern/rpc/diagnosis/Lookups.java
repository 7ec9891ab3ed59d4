package tern.rpc.diagnosis;

import java.util.EnumMap;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import tern.rpc.NamedTimes;
import tern.rpc.Phase;
import tern.rpc.diagnosis.Part.Kind;

/**
 * Counts lookups of host names on threads that serve no call, while calls wait for a peer. Some client libraries look
 * up names on their own threads. Pools look up names on the threads that open connections. Not thread-safe.
 */
final class Lookups {

    /** Lookups explain the wait for a peer only if at least this number of samples show one. */
    private static final int MIN_LOOKS = 3;

    /** Lookups explain no wait if at least this number of operations of the same kind took about their usual time. */
    private static final int MIN_QUICK = 3;

    /** An operation takes about its usual time if it takes at most this multiple of it. */
    private static final double QUICK_FACTOR = 2;

    // for each kind of peer and each group of threads, the number of looks that found a lookup
    private final Map<Kind, Map<String, Integer>> found = new EnumMap<>(Kind.class);
    // the groups that the current look has found
    private final Map<Kind, Set<String>> current = new EnumMap<>(Kind.class);
    private int looks;

    /** Begins a new sample of all threads. */
    void begin() {
        looks++;
        current.clear();
    }

    void halve() {
        looks /= 2;
        found.values().forEach(threads -> threads.replaceAll((name, count) -> count / 2));
    }

    void clear() {
        looks = 0;
        found.clear();
        current.clear();
    }

    /** @param group the name of the thread without numbers */
    void add(ThreadLook thread, String group) {
        if (!StackReader.isResolver(thread)) {
            return;
        }
        for (StackTraceElement frame : thread.frames()) {
            Kind kind = peerOf(frame.getClassName());
            if (kind != null) {
                // Many threads may look up the same name at one moment. They count as one look.
                if (current.computeIfAbsent(kind, unknown -> new HashSet<>()).add(group)) {
                    found.computeIfAbsent(kind, unknown -> new HashMap<>()).merge(group, 1, Integer::sum);
                }
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
     * Returns the threads that look up names of this kind of peer in at least half of the samples; null if there are
     * none.
     *
     * @param wanted tells which groups of threads to consider
     */
    private @Nullable String threadsFor(Kind peer, Predicate<String> wanted) {
        Map<String, Integer> threads = found.getOrDefault(peer, Map.of());
        return threads.entrySet().stream()
                .filter(entry -> wanted.test(entry.getKey()))
                .filter(entry -> entry.getValue() >= MIN_LOOKS && 2 * entry.getValue() >= looks)
                .max(Map.Entry.comparingByValue())
                .map(Map.Entry::getKey)
                .orElse(null);
    }

    /**
     * Attributes waits for a peer to lookups of the peer's name. A lookup does not show for which call it runs.
     * Therefore it explains no wait while other operations of the same kind take their usual time, and no wait for one
     * of several pools unless the thread has the name of this pool.
     */
    static void passOn(Evidence evidence, Excess excess, Operations operations, PeerKinds kinds, Leaves leaves) {
        Lookups lookups = evidence.tasks().lookups();
        for (Part part : leaves.longestFirst()) {
            boolean isPool = part.kind() == Kind.POOL;
            Kind peer = isPool ? kinds.ofPool(part) : part.kind();
            // Drivers look up names on the thread of the call. Clients of other kinds have nothing in common.
            boolean waits = isPool || part.kind() == Kind.HTTP || part.kind() == Kind.RPC || part.kind() == Kind.REDIS;
            boolean isOneOfSeveral = isPool && kinds.isOneOfSeveral(part);
            String threads = peer == null || !waits
                    ? null
                    : lookups.threadsFor(peer, group -> !isOneOfSeveral || group.contains(part.name()));
            if (threads != null && (isPool || !areQuick(part.kind(), excess, operations))) {
                Times one = new Times();
                one.add(new Part(Kind.RESOLVER, "threads " + threads), 1);
                leaves.pour(part, one, Leaves.WAIT_FOR + (part.name().isEmpty() ? "an answer" : part.name()));
            }
        }
    }

    /** Returns whether several operations of this kind took about their usual time in calls that met the target. */
    private static boolean areQuick(Kind kind, Excess excess, Operations operations) {
        Phase phase = Operations.phase(kind);
        int quick = 0;
        for (EndedCall call : excess.good()) {
            for (NamedTimes.Entry entry : call.ledger().named()) {
                double usual = phase != null && entry.kind() == phase ? operations.usualNamed(phase, entry.name()) : -1;
                quick += usual > 0 && entry.nanos() <= QUICK_FACTOR * usual * entry.count() ? entry.count() : 0;
            }
        }
        return quick >= MIN_QUICK;
    }
}
