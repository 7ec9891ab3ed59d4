package tern.rpc.spring.autoconfigure;

import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.SearchStrategy;
import org.springframework.boot.availability.AvailabilityChangeEvent;
import org.springframework.boot.availability.ReadinessState;
import org.springframework.context.ApplicationListener;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Conditional;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Primary;
import org.springframework.core.annotation.Order;
import tern.rpc.health.HealthService;
import tern.rpc.health.ServingStatus;
import tern.rpc.server.RpcServer;

/** Configures the gRPC health service, which reports whether the server accepts calls. */
@Configuration(proxyBeanMethods = false)
@ConditionalOnClass(HealthService.class)
@Conditional(HealthConfiguration.Enabled.class)
class HealthConfiguration {

    @Bean
    @Primary
    @ConditionalOnMissingBean(search = SearchStrategy.CURRENT)
    HealthService rpcHealthService() {
        return new HealthService();
    }

    /**
     * Places the health service before the reflection service, which lists only services that were exported before it.
     */
    @Bean
    @Order(0)
    BuiltInService rpcBuiltInHealth(HealthService health) {
        return new BuiltInHealth(health);
    }

    @Bean
    ApplicationListener<AvailabilityChangeEvent<ReadinessState>> rpcHealthReadiness(HealthService health) {
        return new HealthReadiness(health);
    }

    private record BuiltInHealth(HealthService health) implements BuiltInService {

        @Override
        public void addTo(RpcServer.Builder server) {
            boolean exported = server.exports().stream()
                    .anyMatch(export -> export.key().interfaceName().equals(HealthService.NAME));
            if (!exported) {
                server.export(health.export());
                server.exports().forEach(health::add);
            }
        }

        @Override
        public void shutDown() {
            health.shutDown();
        }
    }

    /**
     * Sets the health of the whole server to SERVING when Spring Boot reports that the application is ready, which is
     * after the application's runners have finished.
     */
    private static final class HealthReadiness implements ApplicationListener<AvailabilityChangeEvent<ReadinessState>> {

        private final HealthService health;

        HealthReadiness(HealthService health) {
            this.health = health;
            health.set(ServingStatus.NOT_SERVING);
        }

        @Override
        public void onApplicationEvent(AvailabilityChangeEvent<ReadinessState> event) {
            boolean ready = event.getState() == ReadinessState.ACCEPTING_TRAFFIC;
            health.set(ready ? ServingStatus.SERVING : ServingStatus.NOT_SERVING);
        }
    }

    static final class Enabled extends FlagCondition {

        Enabled() {
            super("rpc.server.health", true);
        }
    }
}
