package tern.rpc.diagnosis.stack;

import java.util.List;
import java.util.Set;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import tern.rpc.pool.ApplicationCode;

/**
 * Recognizes threads that load a value for a cache. On the stack of such a thread, a method of the cache calls
 * application code.
 */
public final class CacheLoads {

    private record Cache(String prefix, String name) {}

    private static final List<Cache> CACHES = List.of(
            new Cache("com.github.benmanes.caffeine.cache.", "Caffeine"),
            new Cache("com.google.common.cache.", "Guava"),
            new Cache("org.springframework.cache.", "Spring"),
            new Cache("org.ehcache.", "Ehcache"),
            new Cache("org.cache2k.", "cache2k"),
            new Cache("com.hazelcast.", "Hazelcast"));

    private static final String MAP = "java.util.concurrent.ConcurrentHashMap";
    private static final Set<String> LOADING = Set.of("computeIfAbsent", "compute");

    private CacheLoads() {}

    /**
     * Returns the name of the cache that has called the application's innermost code, directly or indirectly, such as
     * {@code Caffeine}; null if there is none. Caffeine calls the code within a method of {@code ConcurrentHashMap}, so
     * the cache that is further outside is returned.
     */
    public static @Nullable String cacheIn(ThreadSnapshot thread) {
        Predicate<String> application = ApplicationCode.ownerIn(thread.frames());
        boolean isInside = false;
        String found = null;
        for (StackTraceElement frame : thread.frames()) {
            String type = frame.getClassName();
            if (application.test(type)) {
                if (found != null) {
                    return found;
                }
                isInside = true;
            } else if (isInside) {
                String cache = nameOf(frame);
                found = cache == null ? found : cache;
            }
        }
        return found;
    }

    private static @Nullable String nameOf(StackTraceElement frame) {
        String type = frame.getClassName();
        if (type.equals(MAP)) {
            return LOADING.contains(frame.getMethodName()) ? "ConcurrentHashMap." + frame.getMethodName() : null;
        }
        return CACHES.stream()
                .filter(cache -> type.startsWith(cache.prefix))
                .map(Cache::name)
                .findFirst()
                .orElse(null);
    }
}
