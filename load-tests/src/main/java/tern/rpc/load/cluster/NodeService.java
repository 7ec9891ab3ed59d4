package tern.rpc.load.cluster;

import java.util.concurrent.CompletableFuture;

/** The service that each of the ten nodes offers. */
public interface NodeService {

    /**
     * Answers after the node's service time.
     *
     * @return the node's number
     */
    CompletableFuture<Integer> work(int call);
}
