package tern.rpc.endpoint;

import java.util.List;
import java.util.function.Consumer;
import java.util.stream.Collectors;

/** A fixed list of endpoints. */
public final class StaticEndpoints implements EndpointResolver {

    private final List<Endpoint> endpoints;

    public StaticEndpoints(List<Endpoint> endpoints) {
        this.endpoints = List.copyOf(endpoints);
    }

    @Override
    public void start(Consumer<List<Endpoint>> listener) {
        listener.accept(endpoints);
    }

    @Override
    public String toString() {
        return endpoints.stream().map(Endpoint::toString).collect(Collectors.joining(", "));
    }
}
