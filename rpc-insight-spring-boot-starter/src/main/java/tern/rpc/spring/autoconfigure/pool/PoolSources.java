package tern.rpc.spring.autoconfigure.pool;

import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;
import java.util.HashSet;
import java.util.Locale;
import java.util.Set;
import java.util.function.ToDoubleFunction;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import tern.rpc.pool.PoolSetting;
import tern.rpc.pool.PoolSnapshot;
import tern.rpc.pool.PoolSource;
import tern.rpc.pool.StoreNames;

/**
 * Registers the application's pools. Most pools are found while beans are created. HTTP client pools can be found
 * later. Each pool becomes a bean of type {@link PoolSource}. The gauges of a pool are registered as soon as a meter
 * registry exists. Thread-safe.
 */
final class PoolSources implements SmartInitializingSingleton {

    /** The range of pool sizes that all libraries accept. Tern's own properties have narrower ranges. */
    static final PoolSetting.Range SIZES = new PoolSetting.Range(1, 10_000);

    /**
     * The maximum number of registered pools. Without a limit, an application that keeps creating clients would exhaust
     * the memory.
     */
    private static final int MAX_POOLS = 64;

    private final ConfigurableListableBeanFactory beans;
    private final ObjectProvider<MeterRegistry> registries;
    private final StoreNames databases = StoreNames.ofDataSources();
    private final StoreNames redis = StoreNames.ofRedis();
    private final Set<String> names = new HashSet<>(); // the names of the registered pools; guarded by this

    private volatile @Nullable MeterRegistry registry;

    PoolSources(ConfigurableListableBeanFactory beans, ObjectProvider<MeterRegistry> registries) {
        this.beans = beans;
        this.registries = registries;
    }

    /** Returns a unique name, such as {@code http} or {@code http-2}. */
    synchronized String nameFor(String wanted) {
        String name = wanted;
        for (int i = 2; beans.containsSingleton(beanName(name)); i++) {
            name = wanted + "-" + i;
        }
        return name;
    }

    /** The measured data sources, whether they have a pool or not. */
    StoreNames databases() {
        return databases;
    }

    StoreNames redis() {
        return redis;
    }

    void add(String name, PoolSource source) {
        synchronized (this) {
            if (names.size() >= MAX_POOLS || beans.containsSingleton(beanName(name)) || !names.add(name)) {
                return;
            }
        }
        // Spring may wait until another thread has created a bean before it registers this one. The other thread might
        // add a pool, so this object must not be locked meanwhile.
        beans.registerSingleton(beanName(name), source);
        MeterRegistry known = registry;
        if (known != null) {
            meter(known, source);
        }
    }

    private static String beanName(String pool) {
        return "rpcPool." + pool;
    }

    @Override
    public void afterSingletonsInstantiated() {
        MeterRegistry unique = registries.getIfUnique();
        if (unique == null) {
            return;
        }
        registry = unique; // pools that are added later are metered by add()
        beans.getBeanProvider(PoolSource.class).orderedStream().forEach(source -> meter(unique, source));
    }

    private static void meter(MeterRegistry registry, PoolSource source) {
        PoolSnapshot first = source.snapshot();
        Tags tags = Tags.of("pool", first.name(), "kind", first.kind().name().toLowerCase(Locale.ROOT));
        gauge(
                registry,
                source,
                "rpc.pool.max",
                "Maximum number of connections or threads in use at the same time",
                PoolSnapshot::effectiveMax,
                tags);
        gauge(registry, source, "rpc.pool.active", "Connections or threads in use", PoolSnapshot::active, tags);
        if (first.idle() >= 0) {
            gauge(registry, source, "rpc.pool.idle", "Free connections or threads", PoolSnapshot::idle, tags);
        }
        gauge(
                registry,
                source,
                "rpc.pool.waiting",
                "Threads waiting for a connection, or tasks waiting for a thread",
                PoolSnapshot::waiting,
                tags);
        if (first.taken() >= 0) {
            counter(registry, source, "rpc.pool.taken", "Connections or threads handed out", PoolSnapshot::taken, tags);
        }
        if (first.refused() >= 0) {
            counter(
                    registry,
                    source,
                    "rpc.pool.refused",
                    "Waits that ended without a connection or thread",
                    PoolSnapshot::refused,
                    tags);
        }
        counter(
                registry,
                source,
                "rpc.pool.caller.runs",
                "Tasks that the submitting thread ran, because the pool was full",
                PoolSnapshot::callerRuns,
                tags);
        if (!first.waited().isNegative()) {
            counter(
                    registry,
                    source,
                    "rpc.pool.waited",
                    "Seconds of all waits for the pool",
                    pool -> pool.waited().toNanos() / 1e9,
                    tags,
                    "seconds");
        }
        if (!first.held().isNegative()) {
            counter(
                    registry,
                    source,
                    "rpc.pool.held",
                    "Seconds for which connections or threads were in use",
                    pool -> pool.held().toNanos() / 1e9,
                    tags,
                    "seconds");
        }
    }

    private static void gauge(
            MeterRegistry registry,
            PoolSource source,
            String name,
            String description,
            ToDoubleFunction<PoolSnapshot> value,
            Tags tags) {
        Gauge.builder(name, source, pool -> value.applyAsDouble(pool.snapshot()))
                .description(description)
                .tags(tags)
                .register(registry);
    }

    private static void counter(
            MeterRegistry registry,
            PoolSource source,
            String name,
            String description,
            ToDoubleFunction<PoolSnapshot> value,
            Tags tags) {
        counter(registry, source, name, description, value, tags, null);
    }

    private static void counter(
            MeterRegistry registry,
            PoolSource source,
            String name,
            String description,
            ToDoubleFunction<PoolSnapshot> value,
            Tags tags,
            @Nullable String unit) {
        FunctionCounter.builder(name, source, pool -> value.applyAsDouble(pool.snapshot()))
                .description(description)
                .baseUnit(unit)
                .tags(tags)
                .register(registry);
    }
}
