package tern.rpc.registry.zookeeper;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.Function;
import java.util.function.Supplier;
import org.apache.zookeeper.KeeperException.Code;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import tern.rpc.registry.Publication;
import tern.rpc.registry.dubbo.DubboEntries;

/**
 * Writes the nodes for one process in this order: metadata, mapping, entries. Rewrites them in each new session. If the
 * metadata or the mapping cannot be written, writes the entries that do not depend on them. {@link #seen()} completes
 * as soon as all entries have been read back, even if the mapping is missing. Fields without a comment are confined to
 * the session's thread.
 */
final class ZooKeeperPublication implements Publication, Session.Listener {

    private static final Logger LOG = LoggerFactory.getLogger(ZooKeeperPublication.class);

    private static final Duration FIRST_PAUSE = Duration.ofMillis(500);
    private static final Duration LONGEST_PAUSE = Duration.ofSeconds(30);

    private final Session session;
    private final NodeWriter writer;
    private final DubboEntries entries;
    private final OwnNodes nodes;
    private final OwnedPaths owned;
    private final InterfaceOnly interfaceOnly;
    private final CompletableFuture<Void> seen = new CompletableFuture<>();
    private volatile String problem;
    private int failures;
    private int conflicts;
    private int writes; // the number of write attempts; results of earlier attempts are ignored
    private boolean writing;
    private boolean standing; // true if the last write or verification has read back all entries
    private boolean withdrawn;

    ZooKeeperPublication(
            Session session, DubboEntries entries, OwnNodes nodes, OwnedPaths owned, InterfaceOnly interfaceOnly) {
        this.session = session;
        this.writer = new NodeWriter(session);
        this.entries = entries;
        this.nodes = nodes;
        this.owned = owned;
        this.interfaceOnly = interfaceOnly;
        this.problem = session.settings().url() + " was not reached yet";
    }

    void start() {
        session.start();
        session.execute(() -> {
            owned.claim(nodes.ephemeral(), this);
            session.add(this);
        });
    }

    @Override
    public void connected(boolean isNew) {
        writing = false; // The write operations of the previous connection have failed, so no write is in progress.
        if (withdrawn) {
            // A withdrawal could not remove the entries while the registry was unreachable, so they are removed now.
            remove();
        } else {
            write();
        }
    }

    @Override
    public void stale(String why) {
        problem = why;
    }

    private void write() {
        if (withdrawn || writing) {
            return;
        }
        writing = true;
        int attempt = ++writes;
        boolean first = !seen.isDone();
        CompletableFuture<Void> looked = first ? interfaceOnly.warn(entries) : CompletableFuture.completedFuture(null);
        looked.thenCompose(ignored -> writeAll()).whenComplete((written, failure) -> {
            if (attempt == writes) {
                writing = false;
            }
            if (withdrawn) {
                removeAll(); // Entries might have been written after the withdrawal.
            } else if (attempt != writes) {
                LOG.debug(
                        "A newer attempt at {} has replaced this one",
                        session.settings().url(),
                        failure);
            } else if (failure == null) {
                written(first);
            } else {
                failed(failure);
            }
        });
    }

    /** Writes the nodes that are missing or belong to an earlier session, and returns the number of written nodes. */
    private CompletableFuture<Integer> writeAll() {
        standing = false;
        Paths paths = Paths.of(session.settings());
        String application = entries.registration().application();
        CompletableFuture<Integer> metadata = writer.all(nodes.metadata(), writer::createOnce);
        CompletableFuture<Integer> mapping =
                after(metadata, () -> writer.all(nodes.mapped(), name -> writer.map(paths.mapping(name), application)));
        // Consumers cannot use an application-level entry without its metadata. If the metadata could not be written,
        // only the interface-level entries are written.
        CompletableFuture<Integer> own =
                after(mapping, () -> own(metadata.isCompletedExceptionally() ? nodes.services() : nodes.ephemeral()));
        return own.thenCombine(mapping, Integer::sum).thenCombine(metadata, Integer::sum);
    }

    /**
     * Runs a step after an earlier step has ended, even if the earlier step failed. Does not run the step if the
     * connection was lost.
     */
    private static CompletableFuture<Integer> after(
            CompletableFuture<Integer> earlier, Supplier<CompletableFuture<Integer>> step) {
        return earlier.handle((result, failure) -> failure != null && OperationFailures.isConnectionLost(failure)
                        ? CompletableFuture.<Integer>failedFuture(failure)
                        : step.get())
                .thenCompose(Function.identity());
    }

    /** Writes entries, then reads them back. */
    private CompletableFuture<Integer> own(List<Paths.Node> entered) {
        if (withdrawn) {
            return CompletableFuture.completedFuture(0);
        }
        return writer.all(entered, node -> writer.own(node, () -> conflicts++))
                .thenCompose(written -> writer.each(
                                entered,
                                node -> session.nodes()
                                        .exists(node.path(), null)
                                        .thenApply(stat -> 1))
                        .thenApply(all -> {
                            standing = entered.size() == nodes.ephemeral().size();
                            return written;
                        }));
    }

    private void written(boolean first) {
        boolean late = failures > 0;
        failures = 0;
        problem = "";
        if (first || late) {
            LOG.info(
                    "{} is published at {}",
                    entries.registration(),
                    session.settings().url());
            seen.complete(null);
        }
    }

    private void failed(Throwable failure) {
        String why = OperationFailures.reason(failure, session.settings());
        problem = (standing ? "published only in part: " : "not published: ") + why;
        if (failures++ == 0 || (standing && !seen.isDone())) {
            LOG.warn(
                    "{} {} at {}: {}. Tern tries again",
                    entries.registration(),
                    standing ? "is published only in part" : "could not be published",
                    session.settings().url(),
                    why);
        }
        if (standing) {
            seen.complete(null);
        }
        if (session.isConnected()) {
            long pause = Math.min(LONGEST_PAUSE.toMillis(), FIRST_PAUSE.toMillis() << Math.min(failures, 10));
            session.schedule(
                    () -> {
                        if (session.isConnected()) {
                            write();
                        }
                    },
                    Duration.ofMillis(pause / 2 + ThreadLocalRandom.current().nextLong(pause / 2 + 1)));
        }
    }

    @Override
    public CompletableFuture<Void> seen() {
        return seen;
    }

    @Override
    public String problem() {
        return problem;
    }

    @Override
    public CompletableFuture<Repair> verify() {
        CompletableFuture<Repair> result = new CompletableFuture<>();
        session.execute(() -> {
            // No verification is needed while entries are being written, before they were first read back, after the
            // withdrawal, or after a failed write, which the publication retries.
            if (writing || withdrawn || !seen.isDone() || failures > 0) {
                result.complete(Repair.NONE);
                return;
            }
            if (!session.isConnected()) {
                unreachable(result);
                return;
            }
            conflicts = 0;
            writeAll().whenComplete((repaired, failure) -> {
                if (withdrawn) {
                    removeAll(); // Entries might have been written after the withdrawal.
                }
                if (failure == null) {
                    problem = "";
                    result.complete(new Repair(repaired - conflicts, conflicts));
                } else if (!session.isConnected()) {
                    unreachable(result);
                } else {
                    String why = OperationFailures.reason(failure, session.settings());
                    problem = "not verified: " + why;
                    result.completeExceptionally(new IllegalStateException(why, failure));
                }
            });
        });
        return result;
    }

    /**
     * While the registry is unreachable, completes a verification without an error, because the session already logs
     * the outage.
     */
    private void unreachable(CompletableFuture<Repair> verification) {
        problem = problem.isEmpty() ? session.settings().url() + " is not connected" : problem;
        verification.complete(Repair.NONE);
    }

    @Override
    public CompletableFuture<Void> withdraw() {
        CompletableFuture<Void> gone = new CompletableFuture<>();
        session.execute(() -> {
            withdrawn = true;
            remove().whenComplete((removed, failure) -> {
                if (failure == null) {
                    gone.complete(null);
                } else {
                    gone.completeExceptionally(failure);
                }
            });
        });
        return gone;
    }

    /** Removes the entries. If the registry is unreachable, the entries are removed when it is reachable again. */
    private CompletableFuture<Integer> remove() {
        return removeAll().whenComplete((removed, failure) -> {
            if (failure == null || !OperationFailures.isConnectionLost(failure)) {
                session.remove(this);
            }
        });
    }

    /**
     * Removes a node that a session of this process has written. The node is not removed if another process at the same
     * address has written it since then. The other process can be the successor of this process, or a second provider
     * behind the same published address. If its node were removed, consumers would not find the other process until it
     * verifies its entries.
     */
    private CompletableFuture<String> deleteOurs(String path) {
        return session.nodes()
                .exists(path, null)
                .thenCompose(stat -> session.wasOurs(stat.getEphemeralOwner())
                        ? session.nodes().delete(path)
                        : CompletableFuture.completedFuture(path))
                .exceptionallyCompose(failure -> OperationFailures.isCode(failure, Code.NONODE)
                        ? CompletableFuture.completedFuture(path)
                        : CompletableFuture.failedFuture(failure));
    }

    private CompletableFuture<Integer> removeAll() {
        return writer.all(
                nodes.ephemeral().stream()
                        .filter(node -> owned.isOwnedBy(node, this))
                        .toList(),
                node -> owned.isOwnedBy(node, this)
                        ? deleteOurs(node.path()).thenApply(removed -> 1)
                        : CompletableFuture.completedFuture(0));
    }
}
