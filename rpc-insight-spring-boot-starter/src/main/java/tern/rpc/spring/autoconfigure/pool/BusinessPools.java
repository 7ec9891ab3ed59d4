package tern.rpc.spring.autoconfigure.pool;

import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.Executor;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.beans.factory.support.BeanDefinitionRegistry;
import org.springframework.beans.factory.support.BeanDefinitionRegistryPostProcessor;
import org.springframework.beans.factory.support.RootBeanDefinition;
import org.springframework.boot.context.properties.bind.Bindable;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.core.env.Environment;
import tern.rpc.settings.PropertyCheck;

/**
 * Creates a bean for each group of properties under {@code rpc.pools.executors}, unless the application has a bean with
 * the same name. The beans can be injected only by qualifier. If these beans could be injected by type, a pool for one
 * purpose could become the default executor or replace Boot's executor.
 */
final class BusinessPools implements BeanDefinitionRegistryPostProcessor {

    static final String PREFIX = "rpc.pools.executors";

    static final int MAX_THREADS = 10_000;
    static final int MAX_QUEUED = 1_000_000;
    private static final int QUEUED_PER_THREAD = 10;

    private final Environment environment;
    private final Set<String> replaced = new TreeSet<>();

    BusinessPools(Environment environment) {
        this.environment = environment;
    }

    @Override
    public void postProcessBeanDefinitionRegistry(BeanDefinitionRegistry registry) {
        Map<String, RpcPoolsProperties.Executor> pools = Binder.get(environment)
                .bind(PREFIX, Bindable.mapOf(String.class, RpcPoolsProperties.Executor.class))
                .orElseGet(Map::of);
        pools.forEach((name, properties) -> {
            if (registry.containsBeanDefinition(name)) {
                replaced.add(name);
            } else {
                registry.registerBeanDefinition(name, definition(registry, name, settings(name, properties)));
            }
        });
    }

    /**
     * Returns the names under {@code rpc.pools.executors} for which no pool was created, because the application or
     * Boot has a bean with the same name. The properties under these names have no effect.
     */
    Set<String> replaced() {
        return replaced;
    }

    private BusinessPool.Settings settings(String name, RpcPoolsProperties.Executor pool) {
        String prefix = PREFIX + "." + name;
        int threads = PropertyCheck.between(prefix + ".threads", pool.threads(), 1, MAX_THREADS);
        Integer queue = pool.queueCapacity();
        int capacity = queue == null
                ? threads * QUEUED_PER_THREAD
                : PropertyCheck.between(prefix + ".queue-capacity", queue, 0, MAX_QUEUED);
        return new BusinessPool.Settings(name, prefix, threads, capacity, pool.rejection());
    }

    private RootBeanDefinition definition(
            BeanDefinitionRegistry registry, String name, BusinessPool.Settings settings) {
        RootBeanDefinition definition = new RootBeanDefinition(BusinessPool.class, () -> {
            BusinessPool pool = new BusinessPool(settings, new SettingOrigins(environment));
            ((ConfigurableListableBeanFactory) registry)
                    .getBean(PoolSources.class)
                    .add(name, pool::snapshot);
            return pool;
        });
        definition.setTargetType(BusinessPool.class);
        definition.setDefaultCandidate(false);
        definition.setDestroyMethodName("stop");
        definition.setDescription("by the properties " + settings.prefix() + ".*; an " + Executor.class.getName());
        return definition;
    }
}
