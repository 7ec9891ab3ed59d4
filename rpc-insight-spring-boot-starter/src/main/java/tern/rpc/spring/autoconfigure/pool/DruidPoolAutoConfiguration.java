package tern.rpc.spring.autoconfigure.pool;

import com.alibaba.druid.pool.DruidDataSource;
import javax.sql.DataSource;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingClass;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.boot.jdbc.autoconfigure.DataSourceProperties;
import org.springframework.boot.jdbc.autoconfigure.JdbcConnectionDetails;
import org.springframework.boot.jdbc.metadata.DataSourcePoolMetadataProvider;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Conditional;
import org.springframework.context.annotation.Configuration;
import tern.rpc.pool.Sizing;

/**
 * Creates a Druid pool for {@code spring.datasource.url}. Its size limits and maximum wait are derived from the
 * target rate and latency ({@code rpc.slo}). Properties under {@code spring.datasource.druid} take precedence.
 *
 * <p>With {@code rpc.pools.tuned=false}, this class still creates the pool, from these properties and Druid's own
 * defaults. Without this class, Spring Boot would ignore the properties, and would create no pool at all if Druid is
 * the only pool on the class path.
 */
@AutoConfiguration(
        after = RpcPoolsAutoConfiguration.class,
        beforeName = "org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration")
@ConditionalOnClass({DruidDataSource.class, DataSourceProperties.class})
public final class DruidPoolAutoConfiguration {

    @Bean
    static DruidWatch rpcDruidWatch(ObjectProvider<PoolSources> sources, ObjectProvider<SettingOrigins> origins) {
        return new DruidWatch(sources, origins);
    }

    @Bean
    DataSourcePoolMetadataProvider rpcDruidPoolMetadata() {
        return DruidMetadata::of;
    }

    @Configuration(proxyBeanMethods = false)
    @Conditional(DruidChosen.class)
    @ConditionalOnMissingClass({
        "com.alibaba.druid.spring.boot4.autoconfigure.DruidDataSourceAutoConfigure",
        "com.alibaba.druid.spring.boot3.autoconfigure.DruidDataSourceAutoConfigure"
    })
    @ConditionalOnMissingBean(value = DataSource.class, type = "javax.sql.XADataSource")
    @EnableConfigurationProperties(DataSourceProperties.class)
    static class PoolConfiguration {

        @Bean(initMethod = "init", destroyMethod = "close")
        DruidDataSource dataSource(
                DataSourceProperties properties,
                ObjectProvider<JdbcConnectionDetails> connection,
                Sizing sizing,
                SettingOrigins origins) {
            DruidDataSource pool = new DruidDataSource();
            JdbcConnectionDetails server = connection.getIfAvailable();
            pool.setUrl(server == null ? properties.determineUrl() : server.getJdbcUrl());
            pool.setUsername(server == null ? properties.determineUsername() : server.getUsername());
            pool.setPassword(server == null ? properties.determinePassword() : server.getPassword());
            pool.setDriverClassName(
                    server == null ? properties.determineDriverClassName() : server.getDriverClassName());
            new DruidTuning(sizing, origins).apply(pool);
            return pool;
        }
    }
}
