package tern.rpc.endpoint;

import java.time.Instant;
import java.util.List;
import java.util.function.Consumer;
import java.util.stream.Collectors;

/** An endpoint source with a fixed list of providers. */
public final class StaticEndpoints implements EndpointSource {

    private final List<Instance> instances;

    private StaticEndpoints(Iterable<Instance> instances) {
        this.instances = DistinctEndpoints.of(instances);
    }

    /** Creates a list of providers with the default attributes. */
    public StaticEndpoints(List<Endpoint> endpoints) {
        this(() -> endpoints.stream().map(Instance::of).iterator());
    }

    /**
     * Creates a list of providers. If an endpoint occurs several times, the attributes of its first occurrence apply.
     */
    public static StaticEndpoints of(List<Instance> instances) {
        return new StaticEndpoints((Iterable<Instance>) instances);
    }

    @Override
    public void start(Consumer<EndpointSnapshot> listener) {
        listener.accept(EndpointSnapshot.heard(instances, Instant.now()));
    }

    /** Returns the list of instances as the key, so that references with equal lists share one source. */
    @Override
    public Object key() {
        return instances;
    }

    @Override
    public String toString() {
        return instances.stream().map(Instance::toString).collect(Collectors.joining(", "));
    }
}
