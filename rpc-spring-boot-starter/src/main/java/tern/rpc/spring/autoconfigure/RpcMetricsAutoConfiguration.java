package tern.rpc.spring.autoconfigure;

import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.composite.CompositeMeterRegistry;
import io.micrometer.core.instrument.config.MeterFilter;
import io.micrometer.observation.ObservationHandler;
import io.micrometer.observation.ObservationRegistry;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Import;
import org.springframework.context.annotation.Lazy;
import org.springframework.core.env.Environment;
import tern.rpc.metrics.RpcMeters;
import tern.rpc.metrics.Slo;

/** Creates meters and observations of calls, if the application has a meter registry or an observation registry. */
@AutoConfiguration(
        after = RpcAutoConfiguration.class,
        afterName = {
            "org.springframework.boot.micrometer.metrics.autoconfigure.CompositeMeterRegistryAutoConfiguration",
            "org.springframework.boot.micrometer.observation.autoconfigure.ObservationAutoConfiguration"
        })
@Import(InsightConfiguration.class)
public final class RpcMetricsAutoConfiguration {

    @Bean
    @ConditionalOnMissingBean
    Slo rpcSlo(RpcSloProperties properties) {
        return properties.target();
    }

    @Bean
    @Lazy
    @ConditionalOnMissingBean
    RpcMeters rpcMeters(ObjectProvider<MeterRegistry> registry, Slo slo) {
        MeterRegistry own = registry.getIfUnique();
        return new RpcMeters(own == null ? new CompositeMeterRegistry() : own, slo);
    }

    /**
     * Disables Micrometer's timers for observations of calls, because these timers would duplicate Tern's own meters.
     * The observations are used only for traces.
     */
    @Bean
    static MeterFilter rpcObservationsWithoutTimers() {
        return MeterFilter.deny(meter -> ObservedCall.isName(meter.getName()));
    }

    /** This bean is not lazy, even if the application initializes its beans lazily, because it checks the settings. */
    @Bean
    @Lazy(false)
    WeakenedSettings rpcWeakenedSettings(
            RpcServerProperties server, RpcLimitsProperties limits, Environment environment, RpcMeters meters) {
        return WeakenedSettings.of(server, limits, environment).report(meters);
    }

    @Bean
    @Lazy
    CallObservations rpcCallObservations(
            ObjectProvider<ObservationRegistry> registries, ObjectProvider<ObservationHandler<?>> handlers) {
        return CallObservations.with(registries, handlers);
    }
}
