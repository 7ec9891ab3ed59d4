package tern.rpc.spring.autoconfigure.diagnosis;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.context.ApplicationContext;
import org.springframework.context.annotation.Bean;
import tern.rpc.diagnosis.CallSource;
import tern.rpc.diagnosis.Diagnostician;
import tern.rpc.metrics.RpcMeters;
import tern.rpc.pool.ApplicationCode;
import tern.rpc.pool.PoolSource;
import tern.rpc.pool.StoreNames;
import tern.rpc.spring.autoconfigure.pool.LoggingWatch;
import tern.rpc.spring.autoconfigure.pool.RpcPoolsAutoConfiguration;
import tern.rpc.spring.autoconfigure.web.InsightWebAutoConfiguration;

/** Creates the diagnosis in an application that serves calls. */
@AutoConfiguration(
        after = {RpcPoolsAutoConfiguration.class, InsightWebAutoConfiguration.class},
        afterName = "tern.rpc.spring.autoconfigure.RpcServerAutoConfiguration")
@ConditionalOnBean(CallSource.class)
@EnableConfigurationProperties(RpcDiagnosisProperties.class)
public final class RpcDiagnosisAutoConfiguration {

    @Bean
    @ConditionalOnMissingBean
    Diagnostician rpcDiagnostician(
            RpcMeters meters,
            ObjectProvider<CallSource> calls,
            ObjectProvider<PoolSource> pools,
            ObjectProvider<LoggingWatch> logging,
            ObjectProvider<StoreNames> stores,
            ApplicationContext context) {
        ApplicationCode.addPackages(ApplicationPackages.of(context));
        return Diagnostician.of(
                meters,
                new ApplicationSurroundings(calls, pools, logging, stores, TimeLimits.of(context.getEnvironment())));
    }

    @Bean
    DiagnosisLifecycle rpcDiagnosisLifecycle(
            Diagnostician diagnostician, RpcMeters meters, RpcDiagnosisProperties properties) {
        return new DiagnosisLifecycle(diagnostician, meters, properties.flightRecorder());
    }
}
