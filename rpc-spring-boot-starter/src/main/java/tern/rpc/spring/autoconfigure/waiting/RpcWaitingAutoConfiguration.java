package tern.rpc.spring.autoconfigure.waiting;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import tern.rpc.NanoClock;
import tern.rpc.advice.PoolSource;
import tern.rpc.metrics.RpcMeters;
import tern.rpc.server.RpcServer;
import tern.rpc.spring.RpcServerCustomizer;
import tern.rpc.spring.autoconfigure.RpcServerAutoConfiguration;
import tern.rpc.waiting.StackClassifier;

/** Creates the waiting report, on demand and in the log when a server misses its target. */
@AutoConfiguration(after = RpcServerAutoConfiguration.class)
public final class RpcWaitingAutoConfiguration {

    @Bean
    @ConditionalOnMissingBean
    WaitingReporter rpcWaitingReporter(
            ObjectProvider<RpcServer> servers,
            ObjectProvider<PoolSource> pools,
            ObjectProvider<StackClassifier> classifiers) {
        return new WaitingReporter(servers, pools, classifiers);
    }

    @Configuration(proxyBeanMethods = false)
    @ConditionalOnBean(RpcServer.class)
    static final class WatchConfiguration {

        @Bean
        WaitingWatch rpcWaitingWatch(WaitingReporter reporter, RpcMeters meters) {
            return new WaitingWatch(meters.slo(), meters::served, reporter::report, NanoClock.SYSTEM);
        }

        @Bean
        RpcServerCustomizer rpcWaitingCustomizer(WaitingWatch watch) {
            return server -> server.onRefusal(watch::refused);
        }
    }
}
