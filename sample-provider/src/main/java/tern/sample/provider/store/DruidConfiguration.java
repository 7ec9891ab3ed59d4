package tern.sample.provider.store;

import com.alibaba.druid.pool.DruidDataSource;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.jdbc.autoconfigure.DataSourceProperties;
import org.springframework.boot.jdbc.autoconfigure.JdbcConnectionDetails;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/** A Druid pool at {@code spring.datasource.url}; its sizes and waits are {@code sample.druid.*}. */
@Configuration(proxyBeanMethods = false)
class DruidConfiguration {

    @Bean(initMethod = "init", destroyMethod = "close")
    @ConfigurationProperties("sample.druid")
    DruidDataSource dataSource(DataSourceProperties properties, ObjectProvider<JdbcConnectionDetails> embedded) {
        DruidDataSource pool = new DruidDataSource();
        pool.setName("druid");
        JdbcConnectionDetails server = embedded.getIfAvailable();
        pool.setUrl(server == null ? properties.determineUrl() : server.getJdbcUrl());
        pool.setUsername(server == null ? properties.determineUsername() : server.getUsername());
        pool.setPassword(server == null ? properties.determinePassword() : server.getPassword());
        return pool;
    }
}
