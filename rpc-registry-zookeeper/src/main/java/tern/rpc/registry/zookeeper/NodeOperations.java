package tern.rpc.registry.zookeeper;

import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.Watcher;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.data.Stat;
import org.jspecify.annotations.Nullable;

/**
 * Reads and changes the nodes of one ZooKeeper ensemble. Operations never block, and are not repeated after a failure.
 * If the connection was lost, the caller waits for {@link Session.Listener#connected} and starts the operation again.
 * Confined to the session's thread, which also runs the callbacks.
 */
final class NodeOperations {

    private static final int MAX_PARENTS = 100_000;

    /** The number of attempts to create a node while another client keeps deleting its parents. */
    private static final int MAX_CREATIONS = 3;

    record Data(byte[] bytes, Stat stat) {}

    private final Session session;
    private final CutOffLists cutOffLists;
    private final Set<String> parents = new HashSet<>(); // the parent nodes that are known to exist

    NodeOperations(Session session, CutOffLists cutOffLists) {
        this.session = session;
        this.cutOffLists = cutOffLists;
    }

    /**
     * Called when a new session begins. Forgets which parent nodes exist, so that they are created again if necessary.
     */
    void sessionBegins() {
        parents.clear();
    }

    private interface Operation<T> {
        void on(ZooKeeper zooKeeper, CompletableFuture<T> result);
    }

    private <T> CompletableFuture<T> run(String path, Operation<T> operation) {
        CompletableFuture<T> result = new CompletableFuture<>();
        if (!session.isConnected()) {
            result.completeExceptionally(KeeperException.create(Code.CONNECTIONLOSS, path));
            return result;
        }
        try {
            operation.on(session.zooKeeper(), result);
        } catch (Exception e) { // Curator declares no narrower exception type.
            result.completeExceptionally(e);
        }
        return result;
    }

    private <T> void end(CompletableFuture<T> result, int code, String path, @Nullable T value) {
        session.execute(() -> {
            if (code == Code.OK.intValue() && value != null) {
                result.complete(value);
            } else {
                if (code == Code.CONNECTIONLOSS.intValue()) {
                    cutOffLists.lost(result);
                }
                result.completeExceptionally(KeeperException.create(Code.get(code), path));
            }
        });
    }

    /** Reads the names of a node's children. */
    CompletableFuture<List<String>> children(String path, @Nullable Watcher watcher) {
        CompletableFuture<List<String>> request = run(
                path,
                (zooKeeper, result) -> zooKeeper.getChildren(
                        path, watcher, (code, where, context, names) -> end(result, code, path, names), null));
        return request.whenComplete((names, failure) -> cutOffLists.ended(path, request, failure));
    }

    /**
     * Reads a node's state. Fails with NoNode if the node does not exist. The watch is set whether or not the node
     * exists.
     */
    CompletableFuture<Stat> exists(String path, @Nullable Watcher watcher) {
        return run(
                path,
                (zooKeeper, result) -> zooKeeper.exists(
                        path, watcher, (code, where, context, stat) -> end(result, code, path, stat), null));
    }

    /**
     * Reads a node's data. Checks the length of the data first, because the client would close the connection if the
     * response were too large. The watch is set only if the data is read.
     *
     * @return the data. Fails with {@link IllegalArgumentException} if the data is too large
     */
    CompletableFuture<Data> data(String path, int maxBytes, @Nullable Watcher watcher) {
        return exists(path, null).thenCompose(stat -> data(path, stat, maxBytes, watcher));
    }

    /**
     * Reads a node's data as {@link #data} does, but sets the watch even if the node does not exist or the data is too
     * large. The watch can report a change that the returned data already contains.
     */
    CompletableFuture<Data> watchedData(String path, int maxBytes, @Nullable Watcher watcher) {
        return exists(path, watcher).thenCompose(stat -> data(path, stat, maxBytes, watcher));
    }

    private CompletableFuture<Data> data(String path, Stat stat, int maxBytes, @Nullable Watcher watcher) {
        if (stat.getDataLength() > maxBytes) {
            return CompletableFuture.failedFuture(new IllegalArgumentException(
                    "the node has " + stat.getDataLength() + " bytes, more than " + maxBytes));
        }
        return run(
                path,
                (zooKeeper, result) -> zooKeeper.getData(
                        path,
                        watcher,
                        (code, where, context, bytes, read) ->
                                end(result, code, path, new Data(bytes == null ? new byte[0] : bytes, read)),
                        null));
    }

    /**
     * Creates a node and, if necessary, its parents. If another client has deleted a parent in the meantime, the node
     * and its parents are created again.
     */
    CompletableFuture<String> create(String path, byte[] data, CreateMode mode) {
        return create(path, data, mode, 1);
    }

    private CompletableFuture<String> create(String path, byte[] data, CreateMode mode, int tried) {
        return createBelowParents(path, data, mode).exceptionallyCompose(failure -> {
            if (!OperationFailures.isCode(failure, Code.NONODE) || tried == MAX_CREATIONS) {
                return CompletableFuture.failedFuture(failure);
            }
            parents.clear();
            return create(path, data, mode, tried + 1);
        });
    }

    private CompletableFuture<String> createBelowParents(String path, byte[] data, CreateMode mode) {
        return parentsOf(path)
                .thenCompose(made -> run(
                        path,
                        (zooKeeper, result) -> zooKeeper.create(
                                path,
                                data,
                                session.settings().acl(),
                                mode,
                                (code, where, context, name) -> end(result, code, path, name),
                                null)));
    }

    private CompletableFuture<String> parentsOf(String path) {
        int slash = path.lastIndexOf('/');
        String parent = path.substring(0, slash);
        if (parent.isEmpty() || parents.contains(parent)) {
            return CompletableFuture.completedFuture(parent);
        }
        return create(parent, new byte[0], CreateMode.PERSISTENT)
                .exceptionallyCompose(failure -> OperationFailures.isCode(failure, Code.NODEEXISTS)
                        ? CompletableFuture.completedFuture(parent)
                        : CompletableFuture.failedFuture(failure))
                .whenComplete((made, failure) -> {
                    if (failure == null && parents.size() < MAX_PARENTS) {
                        parents.add(parent);
                    }
                });
    }

    /** Removes a node. Succeeds if the node does not exist. */
    CompletableFuture<String> delete(String path) {
        return this.<String>run(
                        path,
                        (zooKeeper, result) -> zooKeeper.delete(
                                path, -1, (code, where, context) -> end(result, code, path, path), null))
                .exceptionallyCompose(failure -> OperationFailures.isCode(failure, Code.NONODE)
                        ? CompletableFuture.completedFuture(path)
                        : CompletableFuture.failedFuture(failure));
    }

    /**
     * Replaces a node's data. Fails with BadVersion if the node has a different version. If {@code version} is -1, any
     * version is accepted.
     */
    CompletableFuture<Stat> replace(String path, byte[] data, int version) {
        return run(
                path,
                (zooKeeper, result) -> zooKeeper.setData(
                        path, data, version, (code, where, context, stat) -> end(result, code, path, stat), null));
    }
}
