package tern.rpc.console;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.ThreadMXBean;
import io.micrometer.core.instrument.composite.CompositeMeterRegistry;
import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Collectors;
import java.util.stream.LongStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.springframework.boot.WebApplicationType;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import shop.ShopApplication;
import tern.rpc.metrics.LatencyWindow;
import tern.rpc.metrics.RpcMeters;
import tern.rpc.metrics.Slo;

/**
 * Tests what the console adds to an application that exposes it: threads, memory, and the CPU time of a data request.
 */
@Timeout(300)
class ConsoleCostTest {

    private static final List<String> DATA =
            List.of("now", "services", "slow", "why", "outgoing", "settings", "report");
    private static final String NOW = Consoles.PATH + "/now";
    private static final String EXPOSED = "management.endpoints.web.exposure.include=rpc-console,health";
    private static final String NOT_EXPOSED = "management.endpoints.web.exposure.include=health";
    private static final long MAX_HEAP_BYTES = 2 << 20;
    private static final long MAX_ALLOCATED_BYTES = 512 << 10;
    private static final long MAX_CPU_NANOS = TimeUnit.MILLISECONDS.toNanos(1);
    private static final int REQUESTS = 200;
    private static final Duration HISTORY = Duration.ofMinutes(15);

    private final ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();

    /**
     * Configures meters that contain 100 calls for each second of the last 15 minutes. After that, the clock of the
     * meters follows the system clock, because the console sends all points again if the two clocks differ.
     */
    @Configuration(proxyBeanMethods = false)
    static class FullMeters {

        @Bean
        RpcMeters meters(Slo slo) {
            AtomicLong nanos = new AtomicLong(System.nanoTime() - HISTORY.toNanos());
            AtomicBoolean filled = new AtomicBoolean();
            RpcMeters meters = new RpcMeters(
                    new CompositeMeterRegistry(), slo, () -> filled.get() ? System.nanoTime() : nanos.get());
            LatencyWindow window = meters.servedWindow();
            for (int second = 0; second < HISTORY.toSeconds(); second++) {
                for (int call = 0; call < 100; call++) {
                    window.record(TimeUnit.MILLISECONDS.toNanos(1L + call), call == 0);
                }
                nanos.addAndGet(TimeUnit.SECONDS.toNanos(1));
            }
            filled.set(true);
            return meters;
        }
    }

    private static ConfigurableApplicationContext start(String exposure) {
        return Consoles.start(WebApplicationType.SERVLET, List.of(ShopApplication.class, FullMeters.class), exposure);
    }

    private static void readAll(Http http) {
        for (String name : DATA) {
            assertThat(http.get(Consoles.PATH + "/" + name).status()).as(name).isEqualTo(200);
        }
        for (String name : ConsoleFiles.names()) {
            assertThat(http.get(Consoles.PATH + "/" + name).status()).as(name).isEqualTo(200);
        }
        assertThat(http.get(Consoles.PATH).status()).isEqualTo(200);
    }

    private static Set<Thread> alive() {
        return Set.copyOf(Thread.getAllStackTraces().keySet());
    }

    /** Returns the names of the new threads, without the numbers in these names. */
    private static Set<String> startedSince(Set<Thread> before) {
        return alive().stream()
                .filter(thread -> !before.contains(thread))
                .map(thread -> thread.getName().replaceAll("[0-9]+", "N"))
                .collect(Collectors.toCollection(TreeSet::new));
    }

    @Test
    void exposedConsoleStartsNoThread() {
        Set<String> usual;
        Set<Thread> before = alive();
        try (ConfigurableApplicationContext there = start(NOT_EXPOSED)) {
            Http.of(there).get("/actuator/health");
            usual = startedSince(before);
        }

        before = alive();
        try (ConfigurableApplicationContext there = start(EXPOSED)) {
            readAll(Http.of(there));
            assertThat(usual).containsAll(startedSince(before));

            RpcConsoleEndpoint endpoint = there.getBean(RpcConsoleEndpoint.class);
            Set<Thread> atRest = alive();
            for (int i = 0; i < REQUESTS; i++) {
                DATA.forEach(name -> endpoint.read(name, null));
            }
            assertThat(startedSince(atRest)).isEmpty();
        }
    }

    @Test
    void usedConsoleKeepsAtMostTwoMegabytes() {
        try (ConfigurableApplicationContext there = start(EXPOSED)) {
            Http http = Http.of(there);
            for (int i = 0; i < REQUESTS; i++) {
                http.get("/actuator/health");
            }
            long before = heapBytes();

            for (int i = 0; i < 3; i++) {
                readAll(http);
            }

            assertThat(heapBytes() - before).isLessThan(MAX_HEAP_BYTES);
        }
    }

    /**
     * Returns the smallest heap size after several garbage collections, because other threads allocate memory between
     * the collections.
     */
    private static long heapBytes() {
        return LongStream.range(0, 5)
                .map(run -> {
                    System.gc();
                    return ManagementFactory.getMemoryMXBean()
                            .getHeapMemoryUsage()
                            .getUsed();
                })
                .min()
                .orElseThrow();
    }

    @Test
    void dataOfASecondAllocatesLittle() {
        try (ConfigurableApplicationContext there = start(EXPOSED)) {
            RpcConsoleEndpoint endpoint = there.getBean(RpcConsoleEndpoint.class);
            String next = Http.of(there).get(NOW).json().path("next").asString();

            long first = bytesEach(endpoint, null);
            long later = bytesEach(endpoint, next);

            System.out.printf(
                    "a data request of the console allocates %,d bytes, the first of a page %,d bytes%n", later, first);
            assertThat(first).isBetween(1_000L, MAX_ALLOCATED_BYTES);
            assertThat(later).isBetween(1_000L, MAX_ALLOCATED_BYTES / 4);
        }
    }

    private long bytesEach(RpcConsoleEndpoint endpoint, @Nullable String since) {
        for (int i = 0; i < REQUESTS; i++) {
            endpoint.read("now", since);
        }
        long before = threads.getCurrentThreadAllocatedBytes();
        for (int i = 0; i < REQUESTS; i++) {
            endpoint.read("now", since);
        }
        return (threads.getCurrentThreadAllocatedBytes() - before) / REQUESTS;
    }

    /**
     * Measures the CPU time of all threads except the requesting thread. The requests come from a page that already
     * has the points of the last 15 minutes.
     */
    @Test
    @Tag("figures")
    void dataOfASecondCostsAtMostAMillisecond() {
        try (ConfigurableApplicationContext there = start(EXPOSED)) {
            Http http = Http.of(there);
            String next = nowUntilWarm(http);
            long before = cpuNanosOfOthers();

            for (int i = 0; i < REQUESTS; i++) {
                next = now(http, next);
            }

            long each = (cpuNanosOfOthers() - before) / REQUESTS;
            System.out.printf(
                    "a data request of the console costs %.3f ms CPU, of which %.3f ms make the data%n",
                    each / 1e6, cpuNanosOfTheData(there, next) / 1e6);
            assertThat(each).isBetween(1L, MAX_CPU_NANOS);
        }
    }

    private static String nowUntilWarm(Http http) {
        String last = now(http, null);
        for (int i = 0; i < 20 * REQUESTS; i++) {
            last = now(http, last);
        }
        return last;
    }

    /**
     * Requests the chart data, and returns the value of the answer's "next" member. The following request sends this
     * value as the parameter "since".
     */
    private static String now(Http http, @Nullable String since) {
        return http.get(NOW + (since == null ? "" : "?since=" + since))
                .json()
                .path("next")
                .asString();
    }

    private long cpuNanosOfTheData(ConfigurableApplicationContext there, String next) {
        RpcConsoleEndpoint endpoint = there.getBean(RpcConsoleEndpoint.class);
        long before = threads.getCurrentThreadCpuTime();
        for (int i = 0; i < REQUESTS; i++) {
            endpoint.read("now", next);
        }
        return (threads.getCurrentThreadCpuTime() - before) / REQUESTS;
    }

    private long cpuNanosOfOthers() {
        long own = Thread.currentThread().getId();
        return LongStream.of(threads.getAllThreadIds())
                .filter(id -> id != own)
                .map(threads::getThreadCpuTime)
                .filter(nanos -> nanos > 0)
                .sum();
    }
}
