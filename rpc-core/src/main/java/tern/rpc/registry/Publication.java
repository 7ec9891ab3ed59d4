package tern.rpc.registry;

import java.util.concurrent.CompletableFuture;

/**
 * A registration at one registry. The registry keeps it published until it is withdrawn, also after it was out of
 * reach. Thread-safe. No method blocks.
 */
public interface Publication {

    /** Completes when every entry was read back from the registry for the first time. */
    CompletableFuture<Void> seen();

    /** The reason why not every entry is published now; empty if all are. */
    String problem();

    /**
     * Checks every entry and writes those again that are missing or belong to an earlier session.
     *
     * @return the number of repaired entries; fails if the registry is out of reach
     */
    CompletableFuture<Integer> verify();

    /**
     * Removes the entries.
     *
     * @return completes when they were seen to be gone, or fails if the registry is out of reach
     */
    CompletableFuture<Void> withdraw();
}
