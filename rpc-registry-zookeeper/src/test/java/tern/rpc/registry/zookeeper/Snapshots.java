package tern.rpc.registry.zookeeper;

import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.function.Consumer;
import tern.rpc.endpoint.EndpointSnapshot;
import tern.rpc.endpoint.EndpointSnapshot.State;
import tern.rpc.endpoint.Instance;

/** Collects the provider lists that a source delivers. */
final class Snapshots implements Consumer<EndpointSnapshot> {

    private final BlockingQueue<EndpointSnapshot> all = new LinkedBlockingQueue<>();
    private volatile EndpointSnapshot last;

    @Override
    public void accept(EndpointSnapshot snapshot) {
        last = snapshot;
        all.add(snapshot);
    }

    EndpointSnapshot last() {
        return last;
    }

    int count() {
        return all.size();
    }

    /** Returns all lists so far, in order. */
    List<EndpointSnapshot> all() {
        return List.copyOf(all);
    }

    List<String> addresses() {
        EndpointSnapshot snapshot = last;
        return snapshot == null
                ? List.of()
                : snapshot.instances().stream().map(Instance::toString).toList();
    }

    void awaitAddresses(String... expected) {
        Await.until(List.of(expected) + " are known", () -> addresses().equals(List.of(expected)));
    }

    void awaitState(State expected) {
        Await.until("the state is " + expected, () -> last != null && last.state() == expected);
    }
}
