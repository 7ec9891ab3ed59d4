package tern.rpc.spring.autoconfigure.pool;

import com.alibaba.druid.pool.DruidDataSource;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.config.BeanPostProcessor;
import tern.rpc.pool.PoolKind;
import tern.rpc.pool.PoolSetting;
import tern.rpc.pool.PoolSetting.Source;
import tern.rpc.pool.PoolSetting.Use;
import tern.rpc.pool.PoolSnapshot;
import tern.rpc.pool.PoolSource;

/**
 * Adds the counting filter to every Druid pool before the pool opens connections. The filter is added whether Tern or
 * the application created the pool.
 */
final class DruidWatch implements BeanPostProcessor {

    private final ObjectProvider<PoolSources> sources;
    private final ObjectProvider<SettingOrigins> origins;

    DruidWatch(ObjectProvider<PoolSources> sources, ObjectProvider<SettingOrigins> origins) {
        this.sources = sources;
        this.origins = origins;
    }

    @Override
    public Object postProcessBeforeInitialization(Object bean, String beanName) {
        if (bean instanceof DruidDataSource pool && !pool.isInited()) {
            boolean ofStarter = "druid".equals(pool.getName());
            String name = sources.getObject().nameFor(ofStarter ? "druid" : beanName);
            DruidLedgerFilter filter =
                    new DruidLedgerFilter(sources.getObject().databases().add(name));
            pool.getProxyFilters().add(filter);
            Borrowings borrowings = filter.borrowings();
            sources.getObject()
                    .add(name, PoolSource.of(() -> snapshot(name, pool, borrowings, ofStarter), borrowings.holders()));
        }
        return bean;
    }

    private PoolSnapshot snapshot(String name, DruidDataSource pool, Borrowings borrowings, boolean ofStarter) {
        long wait = pool.getMaxWait();
        borrowings.holders().size(pool.getMaxActive());
        return borrowings
                .into(PoolSnapshot.builder(name, PoolKind.JDBC, pool.getMaxActive()))
                .fair(!pool.isUseUnfairLock())
                .now(pool.getActiveCount(), pool.getPoolingCount(), borrowings.waiting())
                .queueCapacity(pool.getMaxWaitThreadCount() > 0 ? pool.getMaxWaitThreadCount() : Integer.MAX_VALUE)
                .waitLimit(wait <= 0 ? PoolSnapshot.UNKNOWN : Duration.ofMillis(wait))
                .settings(settings(pool, ofStarter))
                .build();
    }

    /**
     * Returns a pool's settings with their sources. In a pool that the application built itself, every value counts as
     * set by the application.
     */
    private List<PoolSetting> settings(DruidDataSource pool, boolean ofStarter) {
        Source otherwise = !ofStarter ? Source.USER : origins.getObject().isTuned() ? Source.TUNED : Source.LIBRARY;
        List<PoolSetting> settings = new ArrayList<>(List.of(
                setting("max-active", pool.getMaxActive(), otherwise, Use.MAX).accepting(PoolSources.SIZES),
                setting("min-idle", pool.getMinIdle(), otherwise, Use.OTHER),
                setting("initial-size", pool.getInitialSize(), otherwise, Use.OTHER),
                setting("max-wait", pool.getMaxWait(), otherwise, Use.WAIT_LIMIT),
                setting("use-unfair-lock", pool.isUseUnfairLock(), otherwise, Use.FAIRNESS),
                setting("connect-timeout", pool.getConnectTimeout(), otherwise, Use.OTHER),
                setting("socket-timeout", pool.getSocketTimeout(), otherwise, Use.OTHER),
                setting("pool-prepared-statements", pool.isPoolPreparedStatements(), otherwise, Use.OTHER),
                setting(
                        "max-pool-prepared-statement-per-connection-size",
                        pool.getMaxPoolPreparedStatementPerConnectionSize(),
                        otherwise,
                        Use.OTHER),
                setting("keep-alive", pool.isKeepAlive(), otherwise, Use.OTHER)));
        if (pool.isTestOnBorrow()) {
            String query = pool.getValidationQuery();
            settings.add(setting("test-on-borrow", true, otherwise, Use.CHECK));
            if (query != null) {
                settings.add(setting("validation-query", query, otherwise, Use.CHECK));
            }
        }
        return settings;
    }

    private PoolSetting setting(String key, Object value, Source otherwise, Use use) {
        return origins.getObject().setting(DruidTuning.PREFIX + "." + key, value, otherwise, use);
    }
}
