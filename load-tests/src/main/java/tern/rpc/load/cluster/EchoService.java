package tern.rpc.load.cluster;

import java.util.concurrent.CompletableFuture;

/** A service that answers each call with the call's argument, which is the number of the call. */
final class EchoService implements NodeService {

    @Override
    public CompletableFuture<Integer> work(int call) {
        return CompletableFuture.completedFuture(call);
    }

    @Override
    public CompletableFuture<Integer> read(int call) {
        return CompletableFuture.completedFuture(call);
    }
}
