package tern.rpc.load.cluster;

import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;

/**
 * The service of one node. The {@link Station} that simulates the node serves the calls.
 *
 * @param failure creates the framework's exception for an unavailable node
 */
record StationService(Station station, Supplier<RuntimeException> failure) implements NodeService {

    @Override
    public CompletableFuture<Integer> work(int call) {
        return station.work(failure);
    }

    @Override
    public CompletableFuture<Integer> read(int call) {
        return station.read(failure);
    }
}
