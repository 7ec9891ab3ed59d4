package tern.rpc.spring.autoconfigure;

import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationRegistry;
import io.micrometer.observation.transport.Kind;
import io.micrometer.observation.transport.ReceiverContext;
import java.util.concurrent.CompletionStage;
import tern.rpc.Invocation;
import tern.rpc.Invoker;
import tern.rpc.Metadata;
import tern.rpc.Response;
import tern.rpc.ServerFilter;

/**
 * Creates one observation for each served call. If the request contains a trace, the observation continues the trace.
 */
final class ServerObservationFilter implements ServerFilter {

    private final ObservationRegistry registry;

    ServerObservationFilter(ObservationRegistry registry) {
        this.registry = registry;
    }

    @Override
    public CompletionStage<Response> invoke(Invocation call, Invoker next) {
        ReceiverContext<Metadata> context = new ReceiverContext<>(Metadata::get, Kind.SERVER);
        context.setCarrier(call.metadata());
        Observation observation = Observation.createNotStarted(ObservedCall.SERVER, () -> context, registry);
        return ObservedCall.run(observation, call, next);
    }
}
