package tern.rpc.load.cluster;

import java.util.concurrent.CompletableFuture;

/** The service that the ten nodes offer. */
public interface NodeService {

    /**
     * Answers after the service time of the node.
     *
     * @return the number of the node
     */
    CompletableFuture<Integer> work(int call);
}
