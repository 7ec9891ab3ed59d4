package tern.rpc.load.cluster;

import java.util.concurrent.CompletableFuture;
import tern.rpc.RpcMethod;

/** The service that each of the ten nodes offers. */
public interface NodeService {

    /**
     * Answers after the node's service time.
     *
     * @return the node's number
     */
    CompletableFuture<Integer> work(int call);

    /**
     * Works like {@link #work}, but is idempotent. A client is allowed to send copies of a call to this method as
     * probes.
     */
    @RpcMethod(idempotent = true)
    CompletableFuture<Integer> read(int call);
}
