package tern.rpc.load.cluster;

import java.util.concurrent.CompletableFuture;

/** The service of the ten nodes. */
public interface NodeService {

    /**
     * Answers after the service time of the node.
     *
     * @return the number of the node
     */
    CompletableFuture<Integer> work(int call);
}
