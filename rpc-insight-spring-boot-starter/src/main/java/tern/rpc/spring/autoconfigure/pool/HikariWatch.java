package tern.rpc.spring.autoconfigure.pool;

import com.zaxxer.hikari.HikariDataSource;
import com.zaxxer.hikari.HikariPoolMXBean;
import java.sql.Connection;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.aop.framework.ProxyFactory;
import org.springframework.beans.factory.BeanClassLoaderAware;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.core.NativeDetector;
import org.springframework.core.env.Environment;
import org.springframework.util.ClassUtils;
import tern.rpc.pool.PoolKind;
import tern.rpc.pool.PoolSetting;
import tern.rpc.pool.PoolSetting.Range;
import tern.rpc.pool.PoolSetting.Source;
import tern.rpc.pool.PoolSetting.Use;
import tern.rpc.pool.PoolSnapshot;
import tern.rpc.pool.PoolSource;

/** Wraps every HikariCP pool in a subclass, to measure borrowings. */
final class HikariWatch implements BeanPostProcessor, BeanClassLoaderAware {

    private static final Logger LOG = LoggerFactory.getLogger(HikariWatch.class);
    private static final String PREFIX = "spring.datasource.hikari";

    /** HikariCP's value for no timeout. */
    private static final long NO_TIMEOUT = Integer.MAX_VALUE;

    /** HikariCP rejects shorter waits; a system property of HikariCP changes this. */
    private static final Range WAITS =
            new Range(Long.getLong("com.zaxxer.hikari.timeoutMs.floor", 250), NO_TIMEOUT - 1);

    private final ObjectProvider<PoolSources> sources;
    private final ObjectProvider<SettingOrigins> origins;
    private final Environment environment;
    private ClassLoader loader = HikariWatch.class.getClassLoader();

    HikariWatch(ObjectProvider<PoolSources> sources, ObjectProvider<SettingOrigins> origins, Environment environment) {
        this.sources = sources;
        this.origins = origins;
        this.environment = environment;
    }

    @Override
    public void setBeanClassLoader(ClassLoader classLoader) {
        loader = classLoader;
    }

    @Override
    public Object postProcessAfterInitialization(Object bean, String beanName) {
        if (!(bean instanceof HikariDataSource pool)) {
            return bean;
        }
        if (environment.getProperty(DruidChosen.TYPE) == null && ClassUtils.isPresent(DruidChosen.DRUID, loader)) {
            LOG.info(
                    "{} is a HikariCP pool although Druid is there too; {}={} chooses Druid",
                    beanName,
                    DruidChosen.TYPE,
                    DruidChosen.DRUID);
        }
        Borrowings borrowings = new Borrowings();
        String name = sources.getObject().nameFor(pool.getPoolName() == null ? "hikari" : pool.getPoolName());
        sources.getObject().add(name, PoolSource.of(() -> snapshot(name, pool, borrowings), borrowings.holders()));
        return NativeDetector.inNativeImage()
                ? pool
                : watched(name, pool, borrowings); // native images cannot create subclasses
    }

    private static Object watched(String name, HikariDataSource pool, Borrowings borrowings) {
        ProxyFactory factory = new ProxyFactory(pool);
        factory.setProxyTargetClass(true);
        factory.addAdvice((org.aopalliance.intercept.MethodInterceptor) invocation -> {
            if (!invocation.getMethod().getName().equals("getConnection")) {
                return invocation.proceed();
            }
            return WatchedConnection.take(name, borrowings, () -> (Connection) invocation.proceed());
        });
        return factory.getProxy(pool.getClass().getClassLoader());
    }

    private PoolSnapshot snapshot(String name, HikariDataSource pool, Borrowings borrowings) {
        HikariPoolMXBean open = pool.isRunning() ? pool.getHikariPoolMXBean() : null;
        long wait = pool.getConnectionTimeout();
        borrowings.holders().size(pool.getMaximumPoolSize());
        return borrowings
                .into(PoolSnapshot.builder(name, PoolKind.JDBC, pool.getMaximumPoolSize()))
                .now(active(open), open == null ? 0 : open.getIdleConnections(), borrowings.waiting())
                .waitLimit(wait >= NO_TIMEOUT ? PoolSnapshot.UNKNOWN : Duration.ofMillis(wait))
                .settings(List.of(
                        setting("maximum-pool-size", pool.getMaximumPoolSize(), Use.MAX)
                                .accepting(PoolSources.SIZES),
                        setting("minimum-idle", pool.getMinimumIdle(), Use.OTHER),
                        setting("connection-timeout", wait, Use.WAIT_LIMIT).accepting(WAITS)))
                .build();
    }

    private static int active(@Nullable HikariPoolMXBean open) {
        return open == null ? 0 : open.getActiveConnections();
    }

    private PoolSetting setting(String key, Object value, Use use) {
        return origins.getObject().setting(PREFIX + "." + key, value, Source.LIBRARY, use);
    }
}
