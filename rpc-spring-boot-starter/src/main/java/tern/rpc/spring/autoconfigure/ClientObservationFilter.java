package tern.rpc.spring.autoconfigure;

import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationRegistry;
import io.micrometer.observation.transport.Kind;
import io.micrometer.observation.transport.SenderContext;
import java.util.Objects;
import java.util.concurrent.CompletionStage;
import tern.rpc.ClientFilter;
import tern.rpc.Invocation;
import tern.rpc.Invoker;
import tern.rpc.Metadata;
import tern.rpc.Response;

/**
 * Creates one observation for each outgoing call. Handlers can add headers such as {@code traceparent} to the request.
 */
final class ClientObservationFilter implements ClientFilter {

    private final ObservationRegistry registry;

    ClientObservationFilter(ObservationRegistry registry) {
        this.registry = registry;
    }

    @Override
    public CompletionStage<Response> invoke(Invocation call, Invoker next) {
        SenderContext<Metadata> context = new SenderContext<>(
                (carrier, name, value) -> Objects.requireNonNull(carrier).put(name, value), Kind.CLIENT);
        context.setCarrier(call.metadata());
        context.setRemoteServiceName(call.service().interfaceName());
        Observation observation = Observation.createNotStarted(ObservedCall.CLIENT, () -> context, registry);
        return ObservedCall.run(observation, call, next);
    }
}
