package tern.rpc.spring.autoconfigure.pool;

import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.composite.CompositeMeterRegistry;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Lazy;
import org.springframework.core.env.Environment;
import tern.rpc.metrics.RpcMeters;
import tern.rpc.metrics.Slo;
import tern.rpc.pool.Goal;
import tern.rpc.pool.Sizing;
import tern.rpc.pool.StoreNames;

/** Defines the beans that all pools share, and the thread pools that are configured with properties. */
@AutoConfiguration(
        afterName = {
            "tern.rpc.spring.autoconfigure.RpcMetricsAutoConfiguration",
            "org.springframework.boot.micrometer.metrics.autoconfigure.CompositeMeterRegistryAutoConfiguration"
        })
@EnableConfigurationProperties({RpcPoolsProperties.class, RpcLoggingProperties.class, SloProperties.class})
public final class RpcPoolsAutoConfiguration {

    @Bean
    static SettingOrigins rpcSettingOrigins(Environment environment) {
        return new SettingOrigins(environment);
    }

    @Bean
    @ConditionalOnMissingBean
    Slo rpcSlo(SloProperties properties) {
        return properties.target();
    }

    @Bean
    @Lazy
    @ConditionalOnMissingBean
    RpcMeters rpcMeters(ObjectProvider<MeterRegistry> registry, Slo slo) {
        MeterRegistry own = registry.getIfUnique();
        return new RpcMeters(own == null ? new CompositeMeterRegistry() : own, slo);
    }

    @Bean
    @ConditionalOnMissingBean
    Goal rpcGoal(Slo slo) {
        return new Goal(slo.qps(), slo.latency());
    }

    /** Derives pool sizes from the number of web server threads if there is no RPC server with workers. */
    @Bean
    @ConditionalOnMissingBean
    Sizing rpcSizing(Goal goal, SettingOrigins origins) {
        return new Sizing(goal, WebThreads.configured(origins));
    }

    @Bean
    static PoolSources rpcPoolSources(ConfigurableListableBeanFactory beans, ObjectProvider<MeterRegistry> registries) {
        return new PoolSources(beans, registries);
    }

    @Bean
    static StoreNames rpcDataSourceNames(PoolSources sources) {
        return sources.databases();
    }

    @Bean
    static StoreNames rpcRedisNames(PoolSources sources) {
        return sources.redis();
    }

    @Bean
    static ExecutorWatch rpcExecutorWatch(ObjectProvider<PoolSources> sources, ObjectProvider<SettingOrigins> origins) {
        return new ExecutorWatch(sources, origins);
    }

    @Bean
    static HeldObjects rpcHeldObjects(
            RpcPoolsProperties properties, ConfigurableListableBeanFactory beans, ObjectProvider<HeldWatch> watches) {
        return new HeldObjects(properties.fields(), beans, watches);
    }

    @Bean
    UnusedPoolSettings rpcUnusedPoolSettings(
            ListableBeanFactory beans, SettingOrigins origins, BusinessPools executors) {
        return new UnusedPoolSettings(beans, origins, executors);
    }

    @Bean
    static BusinessPools rpcBusinessPools(Environment environment) {
        return new BusinessPools(environment);
    }
}
