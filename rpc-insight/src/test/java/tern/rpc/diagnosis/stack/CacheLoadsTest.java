package tern.rpc.diagnosis.stack;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

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

    @ParameterizedTest
    @ValueSource(
            strings = {"shop.PriceCache/get", "shop.CachedPrices/get", "shop.Prices$Cache/get", "shop.Prices/fromCache"
            })
    void classThatTheApplicationWritesAsACacheIsFound(String cache) {
        assertThat(cacheIn("org.postgresql.jdbc.PgStatement/execute", "shop.Prices/find", cache, "shop.Desk/price"))
                .isEqualTo(cache.substring("shop.".length(), cache.indexOf('/')).replace('$', '.'));
    }

    @Test
    void classWhoseNameOnlyBeginsLikeACacheIsNone() {
        assertThat(cacheIn("org.postgresql.jdbc.PgStatement/execute", "shop.Cachets/all", "shop.Desk/price"))
                .isNull();
    }

    @Test
    void cachesThatLetOnlyOneCallLoadAValueAreKnown() {
        assertThat(CacheLoads.loadsOnce("Caffeine")).isTrue();
        assertThat(CacheLoads.loadsOnce("ConcurrentHashMap.computeIfAbsent")).isTrue();
        // Spring lets other calls wait for a load only with @Cacheable(sync = true)
        assertThat(CacheLoads.loadsOnce("Spring")).isFalse();
        assertThat(CacheLoads.loadsOnce("PriceCache")).isFalse();
    }

    @Test
    void mapThatALibraryUsesInsideIsNoCacheOfTheApplication() {
        assertThat(cacheIn("tern.rpc.client.ServiceProxy/invoke", MAP, "shop.Events/get"))
                .isNull();
        assertThat(cacheIn("shop.Events/get", "java.util.ArrayList/forEach", "shop.Events/all"))
                .isNull();
    }
}
