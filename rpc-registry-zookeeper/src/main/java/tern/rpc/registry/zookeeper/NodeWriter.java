package tern.rpc.registry.zookeeper;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.Function;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException.Code;
import org.jspecify.annotations.Nullable;
import tern.rpc.registry.dubbo.Limits;
import tern.rpc.registry.dubbo.Mapping;

/**
 * Writes nodes one after another, so that a starting process does not overload the registry. Confined to the session's
 * thread.
 */
final class NodeWriter {

    private static final int MAX_TRIES = 10;
    private static final int MAX_PAUSE_MILLIS = 100;

    private final Session session;

    NodeWriter(Session session) {
        this.session = session;
    }

    /** Runs an action for each element, one after another, and returns the sum of the results. */
    <T> CompletableFuture<Integer> each(List<T> elements, Function<T, CompletableFuture<Integer>> action) {
        return each(elements, 0, 0, action);
    }

    private <T> CompletableFuture<Integer> each(
            List<T> elements, int from, int sum, Function<T, CompletableFuture<Integer>> action) {
        if (from == elements.size()) {
            return CompletableFuture.completedFuture(sum);
        }
        return action.apply(elements.get(from)).thenCompose(added -> each(elements, from + 1, sum + added, action));
    }

    /**
     * Runs an action for each element as {@link #each} does, but after a failure continues with the remaining elements.
     * The result then fails with the first failure. If the connection is lost, skips the remaining elements and fails.
     */
    <T> CompletableFuture<Integer> all(List<T> elements, Function<T, CompletableFuture<Integer>> action) {
        return all(elements, 0, 0, null, action);
    }

    private <T> CompletableFuture<Integer> all(
            List<T> elements,
            int from,
            int sum,
            @Nullable Throwable failed,
            Function<T, CompletableFuture<Integer>> action) {
        if (from == elements.size()) {
            return failed == null ? CompletableFuture.completedFuture(sum) : CompletableFuture.failedFuture(failed);
        }
        return action.apply(elements.get(from))
                .handle((added, failure) -> {
                    if (failure != null && OperationFailures.isConnectionLost(failure)) {
                        return CompletableFuture.<Integer>failedFuture(failure);
                    }
                    Throwable first = failed == null ? failure : failed;
                    return all(elements, from + 1, failure == null ? sum + added : sum, first, action);
                })
                .thenCompose(Function.identity());
    }

    /** Creates a node if it does not exist. If the node exists, its data stays unchanged. */
    CompletableFuture<Integer> createOnce(Paths.Node node) {
        return session.nodes()
                .exists(node.path(), null)
                .thenApply(stat -> 0)
                .exceptionallyCompose(failure -> OperationFailures.isCode(failure, Code.NONODE)
                        ? create(node)
                        : CompletableFuture.failedFuture(failure))
                .exceptionallyCompose(failure -> OperationFailures.isCode(failure, Code.NODEEXISTS)
                        ? CompletableFuture.completedFuture(0)
                        : CompletableFuture.failedFuture(failure));
    }

    /**
     * Ensures that an ephemeral node exists in the current session. A node from an earlier session is replaced, because
     * it would disappear when that session ends. The earlier session might belong to this process, or to another
     * process at the same address.
     *
     * @param foreign called before this method replaces a node that another process created
     * @return 1 if the node was written, 0 if it was already correct
     */
    CompletableFuture<Integer> own(Paths.Node node, Runnable foreign) {
        return session.nodes()
                .exists(node.path(), null)
                .thenCompose(stat -> {
                    if (stat.getEphemeralOwner() == session.sessionId()) {
                        return CompletableFuture.completedFuture(0);
                    }
                    if (!session.wasOurs(stat.getEphemeralOwner())) {
                        foreign.run();
                    }
                    return session.nodes().delete(node.path()).thenCompose(gone -> create(node));
                })
                .exceptionallyCompose(failure -> OperationFailures.isCode(failure, Code.NONODE)
                        ? create(node)
                        : CompletableFuture.failedFuture(failure));
    }

    private CompletableFuture<Integer> create(Paths.Node node) {
        return session.nodes().create(node.path(), node.data(), node.mode()).thenApply(made -> 1);
    }

    /**
     * Adds an application to an interface's mapping by compare-and-set. Names that other applications add concurrently
     * are kept.
     */
    CompletableFuture<Integer> map(String path, String application) {
        return map(path, application, 1);
    }

    private CompletableFuture<Integer> map(String path, String application, int tried) {
        return session.nodes()
                .data(path, Limits.MAX_ENTRY, null)
                .thenCompose(data -> {
                    String current = new String(data.bytes(), StandardCharsets.UTF_8);
                    String wanted = Mapping.with(current, application);
                    return wanted.equals(current)
                            ? CompletableFuture.completedFuture(0)
                            : session.nodes()
                                    .replace(path, bytes(wanted), data.stat().getVersion())
                                    .thenApply(stat -> 1);
                })
                .exceptionallyCompose(failure -> OperationFailures.isCode(failure, Code.NONODE)
                        ? session.nodes()
                                .create(path, bytes(application), CreateMode.PERSISTENT)
                                .thenApply(made -> 1)
                        : CompletableFuture.failedFuture(failure))
                .exceptionallyCompose(failure -> isRace(failure) && tried < MAX_TRIES
                        ? later().thenCompose(now -> map(path, application, tried + 1))
                        : CompletableFuture.failedFuture(failure));
    }

    private static boolean isRace(Throwable failure) {
        return OperationFailures.isCode(failure, Code.BADVERSION)
                || OperationFailures.isCode(failure, Code.NODEEXISTS)
                || OperationFailures.isCode(failure, Code.NONODE);
    }

    private CompletableFuture<Integer> later() {
        CompletableFuture<Integer> later = new CompletableFuture<>();
        int pause = 1 + ThreadLocalRandom.current().nextInt(MAX_PAUSE_MILLIS);
        session.schedule(() -> later.complete(0), Duration.ofMillis(pause));
        return later;
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }
}
