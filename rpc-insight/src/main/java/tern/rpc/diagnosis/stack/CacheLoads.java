package tern.rpc.diagnosis.stack;

import java.util.List;
import java.util.Set;
import java.util.function.Predicate;
import java.util.regex.Pattern;
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

    /** The name of a {@link ThreadLocal} that computes the initial value of a thread. */
    public static final String THREAD_LOCAL = "ThreadLocal";

    private static final String MAP = "java.util.concurrent.ConcurrentHashMap";
    private static final Set<String> LOADING = Set.of("computeIfAbsent", "compute");

    /** The caches that do not coalesce the loads of one key: all calls that find no value load it at the same time. */
    private static final Set<String> LOADING_OFTEN = Set.of("Spring", "Hazelcast");

    /**
     * Matches the simple names of classes and methods that an application writes as a cache, such as {@code
     * PriceCache}.
     */
    private static final Pattern OWN_CACHE = Pattern.compile("(?:.*[a-z.])?Cache[ds]?(?![a-z]).*|cached?(?![a-z]).*");

    private CacheLoads() {}

    /**
     * Returns the name of the cache that has called the application's innermost code, directly or indirectly, such as
     * {@code Caffeine}; null if there is none. Caffeine calls the code within a method of {@code ConcurrentHashMap}, so
     * the cache that is further outside is returned. If the stack shows no such cache, returns the innermost class of
     * the application whose name, or whose method's name, says that it is a cache.
     */
    public static @Nullable String cacheIn(ThreadSnapshot thread) {
        Predicate<String> application = ApplicationCode.ownerIn(thread.frames());
        boolean isInside = false;
        String found = null;
        String own = null;
        for (StackTraceElement frame : thread.frames()) {
            String type = frame.getClassName();
            if (application.test(type)) {
                if (found != null) {
                    return found;
                }
                isInside = true;
                own = own == null && isOwnCache(frame) ? ThreadSnapshot.simple(type) : own;
            } else if (isInside) {
                String cache = nameOf(frame);
                found = cache == null ? found : cache;
            }
        }
        return found == null ? own : found;
    }

    /**
     * Returns whether the cache lets only one call load the value of a key while the others wait. If so, a slow load is
     * not the reason why calls load more values than usual.
     *
     * @param cache the name that {@link #cacheIn} returns
     */
    public static boolean loadsOnce(String cache) {
        return cache.startsWith("ConcurrentHashMap.")
                || CACHES.stream().anyMatch(known -> known.name.equals(cache) && !LOADING_OFTEN.contains(cache));
    }

    private static boolean isOwnCache(StackTraceElement frame) {
        return OWN_CACHE.matcher(ThreadSnapshot.simple(frame.getClassName())).matches()
                || OWN_CACHE.matcher(frame.getMethodName()).matches();
    }

    private static @Nullable String nameOf(StackTraceElement frame) {
        String type = frame.getClassName();
        if (type.equals(MAP)) {
            return LOADING.contains(frame.getMethodName()) ? "ConcurrentHashMap." + frame.getMethodName() : null;
        }
        if (type.equals(ThreadLocal.class.getName())) {
            return frame.getMethodName().equals("setInitialValue") ? THREAD_LOCAL : null;
        }
        return CACHES.stream()
                .filter(cache -> type.startsWith(cache.prefix))
                .map(Cache::name)
                .findFirst()
                .orElse(null);
    }
}
