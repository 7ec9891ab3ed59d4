package tern.rpc.spring.autoconfigure.pool;

import java.lang.reflect.Field;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.boot.jdbc.metadata.DataSourcePoolMetadata;
import org.springframework.boot.jdbc.metadata.DataSourcePoolMetadataProvider;
import org.springframework.core.NativeDetector;
import org.springframework.jdbc.datasource.DelegatingDataSource;
import org.springframework.jdbc.datasource.lookup.AbstractRoutingDataSource;
import org.springframework.util.ReflectionUtils;
import tern.rpc.pool.PoolKind;
import tern.rpc.pool.PoolSnapshot;
import tern.rpc.pool.PoolSource;

/**
 * Measures every data source that no library-specific {@code BeanPostProcessor} measures: pools of other libraries, and
 * data sources without a pool. A data source that delegates to other data sources is not replaced. Instead, the data
 * sources that it delegates to are measured, unless they are beans themselves.
 */
final class DataSourceWatch implements BeanPostProcessor {

    private static final Logger LOG = LoggerFactory.getLogger(DataSourceWatch.class);
    private static final String DRUID = "com.alibaba.druid.";
    private static final String HIKARI = "com.zaxxer.hikari.";

    private final ObjectProvider<PoolSources> sources;
    private final ObjectProvider<DataSourcePoolMetadataProvider> metadata;
    private final ObjectProvider<DataSourceTargets> libraries;

    DataSourceWatch(
            ObjectProvider<PoolSources> sources,
            ObjectProvider<DataSourcePoolMetadataProvider> metadata,
            ObjectProvider<DataSourceTargets> libraries) {
        this.sources = sources;
        this.metadata = metadata;
        this.libraries = libraries;
    }

    @Override
    public Object postProcessAfterInitialization(Object bean, String beanName) {
        if (!(bean instanceof DataSource source) || NativeDetector.inNativeImage()) {
            return bean;
        }
        if (source instanceof AbstractRoutingDataSource routing) {
            watchTargets(routing, beanName);
            return routing;
        }
        if (source instanceof DelegatingDataSource delegating) {
            DataSource target = delegating.getTargetDataSource();
            if (target != null) {
                delegating.setTargetDataSource(watched(target, beanName));
            }
            return delegating;
        }
        return isMeasured(source) ? source : watched(source, beanName);
    }

    /**
     * Returns whether a {@code BeanPostProcessor} for a particular pool library already measures data sources of the
     * given class.
     */
    private static boolean isMeasured(DataSource source) {
        String type = source.getClass().getName();
        return type.startsWith(DRUID) || type.startsWith(HIKARI);
    }

    private void watchTargets(AbstractRoutingDataSource routing, String beanName) {
        Field targets = ReflectionUtils.findField(AbstractRoutingDataSource.class, "resolvedDataSources", Map.class);
        Field otherwise = ReflectionUtils.findField(
                AbstractRoutingDataSource.class, "resolvedDefaultDataSource", DataSource.class);
        if (targets == null || otherwise == null) {
            LOG.debug(
                    "The data sources behind {} are not measured: this version of Spring stores them in another"
                            + " field",
                    beanName);
            return;
        }
        ReflectionUtils.makeAccessible(targets);
        ReflectionUtils.makeAccessible(otherwise);
        DataSource first = (DataSource) ReflectionUtils.getField(otherwise, routing);
        if (ReflectionUtils.getField(targets, routing) instanceof Map<?, ?> known) {
            replace(known, first, beanName, watched -> ReflectionUtils.setField(otherwise, routing, watched));
        }
    }

    @SuppressWarnings("unchecked") // Spring's routing data source declares the targets as Map<Object, DataSource>
    private void replace(
            Map<?, ?> targets, @Nullable DataSource first, String beanName, Consumer<DataSource> otherwise) {
        boolean found = false;
        for (Map.Entry<Object, DataSource> target : ((Map<Object, DataSource>) targets).entrySet()) {
            DataSource watched = watched(target.getValue(), beanName + "." + target.getKey());
            if (target.getValue() == first) {
                otherwise.accept(watched);
                found = true;
            }
            target.setValue(watched);
        }
        if (first != null && !found) {
            otherwise.accept(watched(first, beanName + ".default"));
        }
    }

    private DataSource watched(DataSource source, String wanted) {
        if (!WatchedDataSource.isPossible(source) || source.getClass().getName().startsWith(DRUID)) {
            // This data source need not be measured again, for example because it is a bean that is already measured.
            return source;
        }
        for (DataSourceTargets library : libraries) {
            DataSource watched = library.watchedTarget(source, wanted);
            if (watched != source) {
                return watched;
            }
        }
        Borrowings borrowings = new Borrowings();
        String name = sources.getObject().nameFor(wanted);
        DataSourcePoolMetadata pool = pool(source);
        if (pool != null) {
            sources.getObject().add(name, PoolSource.of(() -> snapshot(name, pool, borrowings), borrowings.holders()));
        }
        return WatchedDataSource.of(sources.getObject().databases().add(name), source, borrowings);
    }

    private @Nullable DataSourcePoolMetadata pool(DataSource source) {
        return metadata.orderedStream()
                .map(provider -> provider.getDataSourcePoolMetadata(source))
                .filter(found -> found != null && found.getMax() != null)
                .findFirst()
                .orElse(null);
    }

    private static PoolSnapshot snapshot(String name, DataSourcePoolMetadata pool, Borrowings borrowings) {
        int max = pool.getMax() == null || pool.getMax() < 0 ? Integer.MAX_VALUE : pool.getMax();
        borrowings.holders().size(max);
        return borrowings
                .into(PoolSnapshot.builder(name, PoolKind.JDBC, max))
                .now(
                        pool.getActive() == null ? 0 : pool.getActive(),
                        pool.getIdle() == null ? 0 : pool.getIdle(),
                        borrowings.waiting())
                .settings(List.of())
                .build();
    }
}
