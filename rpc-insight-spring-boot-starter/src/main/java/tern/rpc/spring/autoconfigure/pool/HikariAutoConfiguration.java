package tern.rpc.spring.autoconfigure.pool;

import com.zaxxer.hikari.HikariDataSource;
import org.springframework.aop.framework.ProxyFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.context.annotation.Bean;
import org.springframework.core.env.Environment;

/** Measures pools of HikariCP, Boot's default pool library. Does not change the settings of the pools. */
@AutoConfiguration(after = RpcPoolsAutoConfiguration.class)
@ConditionalOnClass({HikariDataSource.class, ProxyFactory.class})
public final class HikariAutoConfiguration {

    @Bean
    static HikariWatch rpcHikariWatch(
            ObjectProvider<PoolSources> sources, ObjectProvider<SettingOrigins> origins, Environment environment) {
        return new HikariWatch(sources, origins, environment);
    }
}
