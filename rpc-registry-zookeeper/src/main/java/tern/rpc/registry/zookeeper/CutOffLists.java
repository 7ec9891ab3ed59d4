package tern.rpc.registry.zookeeper;

import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.apache.zookeeper.KeeperException;
import org.jspecify.annotations.Nullable;

/**
 * Finds lists of names that are too long for the ZooKeeper client. The client closes the connection if an answer is too
 * large. If such a list were requested again after each reconnection, no other read would succeed. ZooKeeper answers
 * requests in order. If the connection is lost repeatedly, and the first unanswered operation is a request for the same
 * list each time, this list is probably too long. Confined to the session's thread.
 */
final class CutOffLists {

    /** After {@value} lost connections, a list is requested only after pauses. */
    private static final int MAX_LOST = 2;

    private final Map<String, Integer> lost = new HashMap<>();
    private @Nullable CompletableFuture<?> firstLost; // the first operation that failed when the connection was lost

    void connected() {
        firstLost = null;
    }

    /**
     * Records that an operation failed because the connection was lost. If several operations fail, this method must be
     * called in the order in which they were started.
     */
    void lost(CompletableFuture<?> operation) {
        if (firstLost == null) {
            firstLost = operation;
        }
    }

    /**
     * Records the end of a request for a node's list.
     *
     * @param failure the exception of the request; null if the request returned the list. An error from ZooKeeper, for
     *     example because the node does not exist, counts as a complete answer
     */
    void ended(String path, CompletableFuture<?> request, @Nullable Throwable failure) {
        if (failure == null || (failure instanceof KeeperException && !OperationFailures.isConnectionLost(failure))) {
            lost.remove(path);
        } else if (request == firstLost) {
            lost.merge(path, 1, Integer::sum);
        }
    }

    /** Returns whether a node's list is probably too long. */
    boolean isTooLong(String path) {
        return lost.getOrDefault(path, 0) >= MAX_LOST;
    }
}
