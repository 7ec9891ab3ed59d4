package tern.rpc.spring.autoconfigure.waiting;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import tern.rpc.NanoClock;
import tern.rpc.diagnosis.CallSource;
import tern.rpc.metrics.RpcMeters;
import tern.rpc.pool.PoolSource;
import tern.rpc.spring.autoconfigure.web.InsightWebAutoConfiguration;
import tern.rpc.waiting.StackClassifier;

/** Creates the waiting report, on demand and in the log when a server misses its target. */
@AutoConfiguration(
        after = InsightWebAutoConfiguration.class,
        afterName = "tern.rpc.spring.autoconfigure.RpcServerAutoConfiguration")
public final class RpcWaitingAutoConfiguration {

    @Bean
    @ConditionalOnMissingBean
    WaitingReporter rpcWaitingReporter(
            ObjectProvider<CallSource> calls,
            ObjectProvider<PoolSource> pools,
            ObjectProvider<StackClassifier> classifiers) {
        return new WaitingReporter(calls, pools, classifiers);
    }

    @Configuration(proxyBeanMethods = false)
    @ConditionalOnBean(CallSource.class)
    static final class WatchConfiguration {

        @Bean
        WaitingWatch rpcWaitingWatch(WaitingReporter reporter, RpcMeters meters) {
            return new WaitingWatch(meters.slo(), meters::served, reporter::report, NanoClock.SYSTEM);
        }
    }
}
