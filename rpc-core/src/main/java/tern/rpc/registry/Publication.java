package tern.rpc.registry;

import java.util.concurrent.CompletableFuture;

/**
 * A registration in one registry. The registry keeps the registration published until it is withdrawn. After a lost
 * connection, the registry publishes it again. Thread-safe. No method blocks.
 */
public interface Publication {

    /**
     * The result of checking the published entries: the number of entries that had to be written again, by reason.
     *
     * @param missing the number of entries that were missing
     * @param conflicts the number of entries for this process's address that another process had written
     */
    record Repair(int missing, int conflicts) {

        public static final Repair NONE = new Repair(0, 0);
        public static final Repair MISSING = new Repair(1, 0);
        public static final Repair CONFLICT = new Repair(0, 1);
    }

    /** Returns a future that completes when all entries have been read back from the registry for the first time. */
    CompletableFuture<Void> seen();

    /** Returns the reason why an entry is currently not published, or an empty string if all entries are published. */
    String problem();

    /**
     * Checks every entry, and rewrites entries that are missing or belong to an earlier session.
     *
     * @return a future of the repaired entries; it fails if the registry cannot be read or written. If a registry is
     *     not connected and has logged this problem, the future may complete without repairs instead
     */
    CompletableFuture<Repair> verify();

    /**
     * Removes the entries.
     *
     * @return a future that completes when the registry no longer contains the entries, or fails if the registry
     *     cannot be reached
     */
    CompletableFuture<Void> withdraw();
}
