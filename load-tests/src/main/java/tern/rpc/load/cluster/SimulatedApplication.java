package tern.rpc.load.cluster;

import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.UnaryOperator;
import tern.rpc.endpoint.Endpoint;
import tern.rpc.endpoint.EndpointSnapshot;
import tern.rpc.endpoint.EndpointSource;
import tern.rpc.endpoint.Instance;

/**
 * An application whose list of instances the simulation changes. All references to its services share the list. Only
 * one thread changes the list.
 */
final class SimulatedApplication {

    private final String name;
    private final int number;
    private final List<Instance> instances = new ArrayList<>();
    private int created;
    private Consumer<EndpointSnapshot> listener = snapshot -> {};

    /** @param number a number below 65,536 that no other application uses */
    SimulatedApplication(String name, int number, int size) {
        this.name = name;
        this.number = number;
        for (int i = 0; i < size; i++) {
            instances.add(created());
        }
    }

    /** Returns a new instance. Its address differs from the addresses of all earlier instances of the simulation. */
    private Instance created() {
        int host = created % 250;
        int port = 20_000 + created / 250;
        created++;
        return Instance.of(new Endpoint("10." + number / 250 + "." + number % 250 + "." + host, port));
    }

    /** The list of providers for a reference to one of the services. */
    private final class Source implements EndpointSource {

        @Override
        public void start(Consumer<EndpointSnapshot> newListener) {
            listener = newListener;
            publish();
        }

        @Override
        public Object key() {
            return SimulatedApplication.this;
        }

        @Override
        public String toString() {
            return name;
        }
    }

    EndpointSource source() {
        return new Source();
    }

    int size() {
        return instances.size();
    }

    /** Replaces an instance with one that has a new address, and returns the new address. */
    Endpoint replace(int index) {
        Instance current = created();
        instances.set(index, current);
        return current.endpoint();
    }

    void change(int index, UnaryOperator<Instance> change) {
        instances.set(index, change.apply(instances.get(index)));
    }

    Instance removeLast() {
        return instances.remove(instances.size() - 1);
    }

    void add(Instance instance) {
        instances.add(instance);
    }

    /** Passes the current list to the client. */
    void publish() {
        listener.accept(EndpointSnapshot.heard(instances, Instant.now()));
    }
}
