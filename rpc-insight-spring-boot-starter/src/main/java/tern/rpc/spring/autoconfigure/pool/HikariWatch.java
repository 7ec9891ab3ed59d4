package tern.rpc.spring.autoconfigure.pool;

import com.zaxxer.hikari.HikariDataSource;
import com.zaxxer.hikari.HikariPoolMXBean;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.beans.factory.BeanClassLoaderAware;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.boot.context.properties.ConfigurationPropertiesBean;
import org.springframework.context.ApplicationContext;
import org.springframework.context.ApplicationContextAware;
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

/**
 * Measures the borrowing of connections from every HikariCP pool. For this purpose, each pool is wrapped in a subclass.
 */
final class HikariWatch implements BeanPostProcessor, BeanClassLoaderAware, ApplicationContextAware, DataSourceTargets {

    private static final Logger LOG = LoggerFactory.getLogger(HikariWatch.class);
    private static final String PREFIX = "spring.datasource.hikari";

    /** HikariCP's value for no timeout. */
    private static final long NO_TIMEOUT = Integer.MAX_VALUE;

    /**
     * The accepted range of maximum waits. HikariCP rejects shorter waits unless one of its system properties allows
     * them.
     */
    private static final Range WAITS =
            new Range(Long.getLong("com.zaxxer.hikari.timeoutMs.floor", 250), NO_TIMEOUT - 1);

    private final ObjectProvider<PoolSources> sources;
    private final ObjectProvider<SettingOrigins> origins;
    private final Environment environment;
    private @Nullable ApplicationContext context;
    private ClassLoader loader = HikariWatch.class.getClassLoader();

    HikariWatch(ObjectProvider<PoolSources> sources, ObjectProvider<SettingOrigins> origins, Environment environment) {
        this.sources = sources;
        this.origins = origins;
        this.environment = environment;
    }

    @Override
    public void setApplicationContext(ApplicationContext application) {
        context = application;
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
                    "{} is a HikariCP pool, although Druid is also on the class path; {}={} chooses Druid",
                    beanName,
                    DruidChosen.TYPE,
                    DruidChosen.DRUID);
        }
        String prefix = prefix(pool, beanName);
        return watched(pool, PREFIX.equals(prefix) ? "hikari" : beanName, prefix);
    }

    @Override
    public DataSource watchedTarget(DataSource source, String name) {
        return source instanceof HikariDataSource pool ? watched(pool, name, null) : source;
    }

    private DataSource watched(HikariDataSource pool, String wanted, @Nullable String prefix) {
        Borrowings borrowings = new Borrowings();
        String name = sources.getObject().nameFor(pool.getPoolName() == null ? wanted : pool.getPoolName());
        sources.getObject()
                .add(name, PoolSource.of(() -> snapshot(name, pool, borrowings, prefix), borrowings.holders()));
        return NativeDetector.inNativeImage()
                ? pool // Native images cannot create subclasses at run time, so the pool is not wrapped.
                : WatchedDataSource.of(
                        sources.getObject().databases().add(name).server(DatabaseServer.of(pool.getJdbcUrl())),
                        pool,
                        borrowings);
    }

    /**
     * Returns the prefix of the properties that are bound to the pool; null if the application configures the pool in
     * code.
     */
    private @Nullable String prefix(HikariDataSource pool, String beanName) {
        ApplicationContext application = context;
        ConfigurationPropertiesBean bound =
                application == null ? null : ConfigurationPropertiesBean.get(application, pool, beanName);
        return bound == null ? null : bound.getAnnotation().prefix();
    }

    private PoolSnapshot snapshot(String name, HikariDataSource pool, Borrowings borrowings, @Nullable String prefix) {
        HikariPoolMXBean open = pool.isRunning() ? pool.getHikariPoolMXBean() : null;
        long wait = pool.getConnectionTimeout();
        borrowings.holders().size(pool.getMaximumPoolSize());
        return borrowings
                .into(PoolSnapshot.builder(name, PoolKind.JDBC, pool.getMaximumPoolSize()))
                .now(active(open), open == null ? 0 : open.getIdleConnections(), borrowings.waiting())
                .waitLimit(wait >= NO_TIMEOUT ? PoolSnapshot.UNKNOWN : Duration.ofMillis(wait))
                .settings(prefix == null ? List.of() : settings(pool, prefix))
                .build();
    }

    private List<PoolSetting> settings(HikariDataSource pool, String prefix) {
        List<PoolSetting> settings = new ArrayList<>(List.of(
                setting(prefix, "maximum-pool-size", pool.getMaximumPoolSize(), Use.MAX)
                        .accepting(PoolSources.SIZES),
                setting(prefix, "minimum-idle", pool.getMinimumIdle(), Use.OTHER),
                setting(prefix, "connection-timeout", pool.getConnectionTimeout(), Use.WAIT_LIMIT)
                        .accepting(WAITS)));
        if (pool.getConnectionTestQuery() != null) {
            settings.add(setting(prefix, "connection-test-query", pool.getConnectionTestQuery(), Use.CHECK));
        }
        return settings;
    }

    private static int active(@Nullable HikariPoolMXBean open) {
        return open == null ? 0 : open.getActiveConnections();
    }

    private PoolSetting setting(String prefix, String key, Object value, Use use) {
        return origins.getObject().setting(prefix + "." + key, value, Source.LIBRARY, use);
    }
}
