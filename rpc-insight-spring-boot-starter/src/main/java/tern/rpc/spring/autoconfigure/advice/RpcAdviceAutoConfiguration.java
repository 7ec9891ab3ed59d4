package tern.rpc.spring.autoconfigure.advice;

import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.context.annotation.Bean;
import tern.rpc.NanoClock;
import tern.rpc.advice.Situation.LoggingMode;
import tern.rpc.metrics.RpcMeters;
import tern.rpc.pool.Goal;
import tern.rpc.pool.PoolSource;
import tern.rpc.spring.autoconfigure.pool.LoggingWatch;
import tern.rpc.spring.autoconfigure.pool.RpcLoggingAutoConfiguration;
import tern.rpc.spring.autoconfigure.pool.RpcPoolsAutoConfiguration;

/** Creates the advice on capacity from all available pools and meters. */
@AutoConfiguration(after = {RpcPoolsAutoConfiguration.class, RpcLoggingAutoConfiguration.class})
public final class RpcAdviceAutoConfiguration {

    @Bean
    @ConditionalOnMissingBean
    CapacityAdvice rpcCapacityAdvice(
            Goal goal, ObjectProvider<PoolSource> pools, RpcMeters meters, ObjectProvider<LoggingWatch> logging) {
        return new CapacityAdvice(
                goal,
                pools::orderedStream,
                meters,
                () -> mode(logging.getIfAvailable()),
                NanoClock.SYSTEM,
                ProcessorTime::now);
    }

    /** The logging mode. There is no advice on an unknown logging system. */
    private static LoggingMode mode(@Nullable LoggingWatch watch) {
        return watch == null ? LoggingMode.ASYNCHRONOUS : watch.mode();
    }

    @Bean
    AdviceLifecycle rpcAdviceLifecycle(CapacityAdvice advice) {
        return new AdviceLifecycle(advice);
    }
}
