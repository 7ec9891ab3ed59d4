package tern.rpc.spring.autoconfigure.pool;

import java.time.Duration;
import java.util.List;
import org.aopalliance.intercept.MethodInterceptor;
import org.apache.commons.pool2.impl.GenericObjectPoolConfig;
import org.springframework.aop.framework.ProxyFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.core.NativeDetector;
import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.jedis.JedisConnectionFactory;
import org.springframework.util.ClassUtils;
import tern.rpc.advice.PoolKind;
import tern.rpc.advice.PoolSetting;
import tern.rpc.advice.PoolSetting.Source;
import tern.rpc.advice.PoolSetting.Use;
import tern.rpc.advice.PoolSnapshot;
import tern.rpc.spring.autoconfigure.SettingOrigins;

/**
 * Stands before every connection factory of Spring Data Redis, as a subclass of its class: whoever takes a connection is
 * counted, and so is every command. Lettuce shares one connection and has no pool to be shown.
 */
final class RedisWatch implements BeanPostProcessor {

    private static final String JEDIS = "org.springframework.data.redis.connection.jedis.JedisConnectionFactory";

    private final ObjectProvider<PoolSources> sources;
    private final ObjectProvider<SettingOrigins> origins;

    RedisWatch(ObjectProvider<PoolSources> sources, ObjectProvider<SettingOrigins> origins) {
        this.sources = sources;
        this.origins = origins;
    }

    @Override
    public Object postProcessAfterInitialization(Object bean, String beanName) {
        if (!(bean instanceof RedisConnectionFactory factory) || NativeDetector.inNativeImage()) {
            return bean;
        }
        Borrowings borrowings = new Borrowings();
        if (ClassUtils.getUserClass(bean).getName().equals(JEDIS)) {
            JedisPool.show(sources.getObject(), origins.getObject(), bean, beanName, borrowings);
        }
        return watched(factory, borrowings);
    }

    private static Object watched(RedisConnectionFactory factory, Borrowings borrowings) {
        ProxyFactory proxy = new ProxyFactory(factory);
        proxy.setProxyTargetClass(true);
        proxy.addAdvice((MethodInterceptor) invocation -> {
            boolean taken = invocation.getMethod().getName().equals("getConnection")
                    && invocation.getMethod().getReturnType() == RedisConnection.class;
            return taken
                    ? WatchedRedis.take(borrowings, () -> (RedisConnection) invocation.proceed())
                    : invocation.proceed();
        });
        return proxy.getProxy(factory.getClass().getClassLoader());
    }

    /** Apart, so that nothing here needs Jedis unless it is there. */
    private static final class JedisPool {

        static void show(
                PoolSources sources, SettingOrigins origins, Object bean, String beanName, Borrowings borrowings) {
            JedisConnectionFactory factory = (JedisConnectionFactory) bean;
            GenericObjectPoolConfig<?> config = factory.getPoolConfig();
            if (!factory.getClientConfiguration().isUsePooling() || config == null) {
                return;
            }
            String name = sources.nameFor(beanName.equals("redisConnectionFactory") ? "jedis" : beanName);
            sources.add(name, () -> snapshot(name, factory, config, borrowings, origins));
        }

        private static PoolSnapshot snapshot(
                String name,
                JedisConnectionFactory factory,
                GenericObjectPoolConfig<?> config,
                Borrowings borrowings,
                SettingOrigins origins) {
            Duration wait = config.getMaxWaitDuration();
            int max = config.getMaxTotal() < 0 ? Integer.MAX_VALUE : config.getMaxTotal();
            return borrowings
                    .into(PoolSnapshot.builder(name, PoolKind.REDIS, max))
                    .fair(config.getFairness())
                    .now(borrowings.active(), -1, borrowings.waiting())
                    .waitLimit(wait.isNegative() ? PoolSnapshot.UNKNOWN : wait)
                    .settings(List.of(
                            setting(origins, ".jedis.pool.max-active", config.getMaxTotal(), Use.MAX),
                            setting(origins, ".jedis.pool.max-idle", config.getMaxIdle(), Use.OTHER),
                            setting(origins, ".jedis.pool.min-idle", config.getMinIdle(), Use.OTHER),
                            setting(origins, ".jedis.pool.max-wait", wait, Use.WAIT_LIMIT),
                            setting(
                                    origins,
                                    ".connect-timeout",
                                    factory.getClientConfiguration().getConnectTimeout(),
                                    Use.OTHER),
                            setting(
                                    origins,
                                    ".timeout",
                                    factory.getClientConfiguration().getReadTimeout(),
                                    Use.OTHER)))
                    .build();
        }

        private static PoolSetting setting(SettingOrigins origins, String key, Object value, Use use) {
            Source otherwise = origins.isTuned() ? Source.TUNED : Source.LIBRARY;
            return origins.setting(JedisTuning.PREFIX + key, value, otherwise, use);
        }
    }
}
