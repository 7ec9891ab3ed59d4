package tern.rpc.spring.autoconfigure;

import io.micrometer.core.instrument.observation.MeterObservationHandler;
import io.micrometer.observation.ObservationHandler;
import io.micrometer.observation.ObservationRegistry;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.ObjectProvider;
import tern.rpc.ClientFilter;
import tern.rpc.ServerFilter;

/**
 * Whether calls are observed, which they are when somebody looks: a registry with handlers that do more than meter. Our
 * own meters do that already, and without filters calls are faster.
 *
 * @param registry null when nobody looks
 */
record CallObservations(@Nullable ObservationRegistry registry) {

    static CallObservations with(
            ObjectProvider<ObservationRegistry> registries, ObjectProvider<ObservationHandler<?>> handlers) {
        ObservationRegistry registry = registries.getIfUnique();
        List<ObservationHandler<?>> known = handlers.stream().toList();
        boolean onlyMeters =
                !known.isEmpty() && known.stream().allMatch(handler -> handler instanceof MeterObservationHandler<?>);
        return new CallObservations(registry == null || registry.isNoop() || onlyMeters ? null : registry);
    }

    List<ServerFilter> serverFilters() {
        return registry == null ? List.of() : List.of(new ServerObservationFilter(registry));
    }

    List<ClientFilter> clientFilters() {
        return registry == null ? List.of() : List.of(new ClientObservationFilter(registry));
    }
}
