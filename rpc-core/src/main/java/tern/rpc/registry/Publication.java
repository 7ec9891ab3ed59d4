package tern.rpc.registry;

import java.util.concurrent.CompletableFuture;

/**
 * A registration in one registry. The registry keeps it published until it is withdrawn, and publishes it again after a
 * lost connection. Thread-safe. No method blocks.
 */
public interface Publication {

    /** Completes when every entry has been read back from the registry for the first time. */
    CompletableFuture<Void> seen();

    /** The reason why some entry is not published now; empty if all are. */
    String problem();

    /**
     * Checks every entry, and rewrites missing entries and those of an earlier session.
     *
     * @return the number of repaired entries; fails if the registry cannot be reached
     */
    CompletableFuture<Integer> verify();

    /**
     * Removes the entries.
     *
     * @return completes when the registry no longer shows them, or fails if the registry cannot be reached
     */
    CompletableFuture<Void> withdraw();
}
