package tern.rpc.registry;

import java.util.concurrent.CompletableFuture;

/**
 * A registration in one registry. The registry keeps it published until it is withdrawn, and publishes it again after a
 * lost connection. Thread-safe. No method blocks.
 */
public interface Publication {

    /** Returns a future that completes when all entries have been read back from the registry for the first time. */
    CompletableFuture<Void> seen();

    /**
     * Returns why an entry is currently not published, or an empty string if all entries are published.
     */
    String problem();

    /**
     * Checks every entry, and rewrites entries that are missing or belong to an earlier session.
     *
     * @return a future with the number of repaired entries; the future fails if the registry cannot be reached
     */
    CompletableFuture<Integer> verify();

    /**
     * Removes the entries.
     *
     * @return a future that completes when the registry no longer contains the entries, or fails if the registry
     *     cannot be reached
     */
    CompletableFuture<Void> withdraw();
}
