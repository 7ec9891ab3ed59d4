package tern.rpc.spring.autoconfigure.actuate;

import java.util.Map;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.actuate.autoconfigure.endpoint.condition.ConditionalOnAvailableEndpoint;
import org.springframework.boot.actuate.autoconfigure.info.ConditionalOnEnabledInfoContributor;
import org.springframework.boot.actuate.endpoint.SanitizingFunction;
import org.springframework.boot.actuate.endpoint.annotation.Endpoint;
import org.springframework.boot.actuate.info.InfoContributor;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.health.autoconfigure.contributor.ConditionalOnEnabledHealthIndicator;
import org.springframework.boot.health.contributor.HealthIndicator;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Lazy;
import tern.rpc.metrics.RpcMeters;
import tern.rpc.metrics.RpcReportPart;
import tern.rpc.server.RpcServer;
import tern.rpc.spring.autoconfigure.RpcClientAutoConfiguration;
import tern.rpc.spring.autoconfigure.RpcReferences;
import tern.rpc.spring.autoconfigure.RpcServerAutoConfiguration;
import tern.rpc.spring.autoconfigure.RpcServerLifecycle;
import tern.rpc.spring.autoconfigure.ServerRegistration;

/** Creates the endpoint, health indicator and info contributor in applications with Actuator. */
@AutoConfiguration(after = {RpcServerAutoConfiguration.class, RpcClientAutoConfiguration.class})
@ConditionalOnClass(Endpoint.class)
public final class RpcActuatorAutoConfiguration {

    @Bean
    @Lazy
    RpcReporter rpcReporter(
            ObjectProvider<RpcServer> server,
            ObjectProvider<RpcServerLifecycle> lifecycle,
            RpcReferences references,
            RpcMeters meters) {
        return new RpcReporter(server, lifecycle, references, meters);
    }

    /** Hides tokens and addresses that contain a password, even if the application shows property values. */
    @Bean
    SanitizingFunction rpcSecretSanitizer() {
        return new SecretValues();
    }

    @Configuration(proxyBeanMethods = false)
    @ConditionalOnClass(ConditionalOnAvailableEndpoint.class)
    static final class EndpointConfiguration {

        @Bean
        @ConditionalOnAvailableEndpoint
        @ConditionalOnMissingBean
        RpcActuatorEndpoint rpcActuatorEndpoint(RpcReporter reporter, ObjectProvider<RpcReportPart> parts) {
            return new RpcActuatorEndpoint(reporter, parts);
        }

        /**
         * This report part exists even if the Actuator endpoint is disabled, because the console shows the part, too.
         */
        @Bean
        @Lazy
        RpcReportPart rpcClusterPart(RpcReferences references) {
            return new ClusterPart(references);
        }
    }

    @Configuration(proxyBeanMethods = false)
    @ConditionalOnClass({HealthIndicator.class, ConditionalOnEnabledHealthIndicator.class})
    static final class HealthConfiguration {

        @Bean
        @ConditionalOnEnabledHealthIndicator("rpc")
        @ConditionalOnMissingBean(name = "rpcHealthIndicator")
        HealthIndicator rpcHealthIndicator(RpcReporter reporter, ObjectProvider<ServerRegistration> registration) {
            return new RpcHealthIndicator(
                    reporter,
                    () -> registration.stream()
                            .findFirst()
                            .map(ServerRegistration::problems)
                            .orElse(Map.of()));
        }
    }

    @Configuration(proxyBeanMethods = false)
    @ConditionalOnClass(ConditionalOnEnabledInfoContributor.class)
    static final class InfoConfiguration {

        @Bean
        @ConditionalOnEnabledInfoContributor("rpc")
        @ConditionalOnMissingBean(name = "rpcInfoContributor")
        InfoContributor rpcInfoContributor(RpcReporter reporter) {
            return new RpcInfoContributor(reporter);
        }
    }
}
