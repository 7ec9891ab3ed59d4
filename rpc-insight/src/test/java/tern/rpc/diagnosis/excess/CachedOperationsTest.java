package tern.rpc.diagnosis.excess;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tern.rpc.Phase;
import tern.rpc.diagnosis.SampledCalls;
import tern.rpc.diagnosis.cause.Cause;
import tern.rpc.diagnosis.sample.SampledCall;
import tern.rpc.diagnosis.stack.ThreadSnapshot;

/** Tests code that calls run, outside of operations, in order to load the values of a cache. */
class CachedOperationsTest {

    private static final String LOST = "find out why the cache in front of this code no longer holds its values (";
    private static final String CAFFEINE = "com.github.benmanes.caffeine.cache.BoundedLocalCache/computeIfAbsent";

    private static void look(SampledCall samples, Thread.State state, String... frames) {
        StackTraceElement[] stack = Stream.of(frames)
                .map(frame -> frame.split("/"))
                .map(parts -> new StackTraceElement(parts[0], parts[1], null, 7))
                .toArray(StackTraceElement[]::new);
        ThreadSnapshot thread = new ThreadSnapshot("exec-1", 9, state, stack, null, null, -1, -1);
        samples.add(SampledCalls.sample(Phase.OWN, thread));
        samples.addStack(Phase.OWN, thread, false);
    }

    private static Cause first(SampledCalls calls) {
        return calls.causes().get(0);
    }

    @ParameterizedTest
    @CsvSource({
        "com.github.benmanes.caffeine.cache.BoundedLocalCache/computeIfAbsent, Caffeine",
        "java.util.concurrent.ConcurrentHashMap/computeIfAbsent, ConcurrentHashMap.computeIfAbsent",
        "org.springframework.cache.interceptor.CacheAspectSupport/execute, Spring",
        "shop.LabelCache/of, LabelCache"
    })
    void codeThatMostCallsRunToLoadAValueIsBehindALostCache(String cache, String name) {
        Cause first = first(new SampledCalls()
                .calls(
                        "Desk.labels",
                        Phase.OWN,
                        250,
                        samples ->
                                look(samples, Thread.State.RUNNABLE, "shop.Labels/render", cache, "shop.Desk/labels")));

        assertThat(first.kind()).isEqualTo("CODE COMPUTES");
        assertThat(first.change().text())
                .startsWith(LOST + name + ")")
                .contains("otherwise do less work in Labels.render");
    }

    @Test
    void waitOfTheLoaderIsBehindALostCache() {
        Cause first = first(new SampledCalls()
                .calls(
                        "Desk.labels",
                        Phase.OWN,
                        250,
                        samples -> look(
                                samples,
                                Thread.State.TIMED_WAITING,
                                "java.lang.Thread/sleep",
                                "shop.Labels/render",
                                CAFFEINE,
                                "shop.Desk/labels")));

        assertThat(first.change().text()).startsWith(LOST + "Caffeine)");
    }

    @Test
    void slowLoadsOfAFewCallsAreNoLostCache() {
        Cause first = first(new SampledCalls()
                .quick("Desk.labels", Phase.REDIS, "GET label:*", 2)
                .calls(
                        "Desk.labels",
                        Phase.OWN,
                        250,
                        samples -> look(
                                samples, Thread.State.RUNNABLE, "shop.Labels/render", CAFFEINE, "shop.Desk/labels")));

        assertThat(first.change().text()).startsWith("do less work in Labels.render");
    }

    @Test
    void cacheThatSearchesItsValuesLoadsNone() {
        Cause first = first(new SampledCalls()
                .calls(
                        "Desk.labels",
                        Phase.OWN,
                        250,
                        samples -> look(samples, Thread.State.RUNNABLE, "shop.LabelCache/find", "shop.Desk/labels")));

        assertThat(first.change().text()).startsWith("do less work in LabelCache.find");
    }
}
