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
 * Decides whether calls are observed through Micrometer. Calls are observed if the observation registry has any
 * handlers other than the meter handlers. With only meter handlers, Tern's own meters are sufficient, and calls are
 * faster without observation filters.
 *
 * @param registry the observation registry; null if calls are not observed
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
