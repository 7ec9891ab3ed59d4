package tern.rpc.load.cluster;

import java.util.concurrent.CompletableFuture;

/** The method of the ten nodes. */
public interface NodeService {

    /**
     * Takes the time of the node.
     *
     * @return the number of the node
     */
    CompletableFuture<Integer> work(int call);
}
