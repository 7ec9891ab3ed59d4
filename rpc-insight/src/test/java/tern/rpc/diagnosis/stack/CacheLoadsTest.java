package tern.rpc.diagnosis.stack;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Tests which stacks show that a thread loads a value for a cache. */
class CacheLoadsTest {

    private static final String MAP = "java.util.concurrent.ConcurrentHashMap/computeIfAbsent";

    private static @Nullable String cacheIn(String... frames) {
        StackTraceElement[] stack = Stream.of(frames)
                .map(frame -> frame.split("/"))
                .map(parts -> new StackTraceElement(parts[0], parts[1], null, 1))
                .toArray(StackTraceElement[]::new);
        return CacheLoads.cacheIn(new ThreadSnapshot("exec-1", 9, Thread.State.WAITING, stack, null, null, -1, -1));
    }

    @Test
    void cacheThatCallsTheLoaderOfTheApplicationIsFound() {
        assertThat(cacheIn(
                        "tern.rpc.client.ServiceProxy/invoke",
                        "shop.Events/load",
                        "com.github.benmanes.caffeine.cache.BoundedLocalCache/lambda$doComputeIfAbsent$13",
                        "java.util.concurrent.ConcurrentHashMap/compute",
                        "com.github.benmanes.caffeine.cache.LocalCache/computeIfAbsent",
                        "shop.Events/get"))
                .isEqualTo("Caffeine");
        assertThat(cacheIn("shop.Events/load", MAP, "shop.Events/get")).isEqualTo("ConcurrentHashMap.computeIfAbsent");
        assertThat(cacheIn("shop.Events/all", "org.springframework.cache.interceptor.CacheInterceptor/invoke"))
                .isEqualTo("Spring");
    }

    @Test
    void mapThatALibraryUsesInsideIsNoCacheOfTheApplication() {
        assertThat(cacheIn("tern.rpc.client.ServiceProxy/invoke", MAP, "shop.Events/get"))
                .isNull();
        assertThat(cacheIn("shop.Events/get", "java.util.ArrayList/forEach", "shop.Events/all"))
                .isNull();
    }
}
