package tern.rpc.spring.autoconfigure.pool;

import io.r2dbc.pool.ConnectionPool;
import org.springframework.aop.framework.ProxyFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.context.annotation.Bean;
import reactor.core.publisher.Flux;

/** Measures the pools of R2DBC and the statements on their connections. */
@AutoConfiguration(after = RpcPoolsAutoConfiguration.class)
@ConditionalOnClass({ConnectionPool.class, Flux.class, ProxyFactory.class})
public final class R2dbcAutoConfiguration {

    @Bean
    static R2dbcWatch rpcR2dbcWatch(ObjectProvider<PoolSources> sources) {
        return new R2dbcWatch(sources);
    }
}
