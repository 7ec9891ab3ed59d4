package tern.rpc.spring.autoconfigure.insight;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.actuate.autoconfigure.endpoint.condition.ConditionalOnAvailableEndpoint;
import org.springframework.boot.actuate.endpoint.SanitizingFunction;
import org.springframework.boot.actuate.endpoint.annotation.Endpoint;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.boot.health.actuate.endpoint.StatusAggregator;
import org.springframework.boot.health.autoconfigure.contributor.ConditionalOnEnabledHealthIndicator;
import org.springframework.boot.health.contributor.HealthIndicator;
import org.springframework.boot.health.contributor.Status;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Lazy;
import tern.rpc.diagnosis.Diagnostician;
import tern.rpc.metrics.RpcMeters;
import tern.rpc.metrics.RpcReportPart;
import tern.rpc.pool.PoolSource;
import tern.rpc.spring.autoconfigure.diagnosis.RpcDiagnosisAutoConfiguration;
import tern.rpc.spring.autoconfigure.diagnosis.RpcDiagnosisProperties;
import tern.rpc.spring.autoconfigure.pool.RpcPoolsAutoConfiguration;

/** Shows the diagnosis and the pools through Actuator, if the application uses Actuator. */
@AutoConfiguration(after = {RpcPoolsAutoConfiguration.class, RpcDiagnosisAutoConfiguration.class})
@ConditionalOnClass({Endpoint.class, ConditionalOnAvailableEndpoint.class})
public final class InsightActuatorAutoConfiguration {

    /** The report parts exist even without their Actuator endpoint, because the console also shows them. */
    @Bean
    @Lazy
    RpcReportPart rpcPoolsPart(ObjectProvider<PoolSource> pools) {
        return new PoolsPart(pools);
    }

    @Bean
    @Lazy
    @ConditionalOnBean(Diagnostician.class)
    RpcReportPart rpcDiagnosisPart(Diagnostician diagnostician) {
        return new DiagnosisPart(diagnostician);
    }

    /**
     * Shows failing calls as the separate health status DEGRADED. With this status, Spring Boot answers health requests
     * with HTTP status 200.
     */
    @Configuration(proxyBeanMethods = false)
    @ConditionalOnClass({HealthIndicator.class, ConditionalOnEnabledHealthIndicator.class})
    static final class HealthConfiguration {

        @Bean
        @ConditionalOnBean(Diagnostician.class)
        @ConditionalOnEnabledHealthIndicator("rpc-calls")
        HealthIndicator rpcCallsHealthIndicator(Diagnostician diagnostician, RpcDiagnosisProperties properties) {
            return new DiagnosisHealthIndicator(diagnostician, properties.downOnFailure());
        }

        /**
         * Adds the status DEGRADED to Boot's status order, because Boot ignores statuses that are missing from the
         * order.
         */
        @Bean
        @ConditionalOnMissingBean
        @ConditionalOnProperty(
                name = "management.endpoint.health.status.order",
                matchIfMissing = true,
                havingValue = "not set")
        StatusAggregator rpcStatusAggregator() {
            return StatusAggregator.of(
                    Status.DOWN, Status.OUT_OF_SERVICE, DiagnosisHealthIndicator.DEGRADED, Status.UP, Status.UNKNOWN);
        }
    }

    /**
     * Creates the Actuator endpoint if the RPC starter is absent. Otherwise the RPC starter's endpoint shows these
     * reports.
     */
    @Configuration(proxyBeanMethods = false)
    @ConditionalOnMissingClass("tern.rpc.spring.autoconfigure.actuate.RpcActuatorEndpoint")
    static final class AloneConfiguration {

        @Bean
        @ConditionalOnAvailableEndpoint
        InsightEndpoint rpcInsightEndpoint(RpcMeters meters, ObjectProvider<RpcReportPart> parts) {
            return new InsightEndpoint(meters, parts);
        }

        /** Hides Redis addresses that contain a password, even if the application shows property values. */
        @Bean
        SanitizingFunction rpcPoolSanitizer() {
            return new SecretAddresses();
        }
    }
}
