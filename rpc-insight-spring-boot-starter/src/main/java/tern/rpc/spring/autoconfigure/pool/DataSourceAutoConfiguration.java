package tern.rpc.spring.autoconfigure.pool;

import org.springframework.aop.framework.ProxyFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.jdbc.metadata.DataSourcePoolMetadataProvider;
import org.springframework.context.annotation.Bean;
import org.springframework.jdbc.datasource.lookup.AbstractRoutingDataSource;

/** Measures data sources of any pool library. */
@AutoConfiguration(after = HikariAutoConfiguration.class)
@ConditionalOnClass({AbstractRoutingDataSource.class, DataSourcePoolMetadataProvider.class, ProxyFactory.class})
public final class DataSourceAutoConfiguration {

    @Bean
    static DataSourceWatch rpcDataSourceWatch(
            ObjectProvider<PoolSources> sources,
            ObjectProvider<DataSourcePoolMetadataProvider> metadata,
            ObjectProvider<DataSourceTargets> targets) {
        return new DataSourceWatch(sources, metadata, targets);
    }
}
