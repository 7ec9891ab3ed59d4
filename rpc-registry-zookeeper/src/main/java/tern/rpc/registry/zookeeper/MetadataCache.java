package tern.rpc.registry.zookeeper;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import tern.rpc.SeldomWarning;
import tern.rpc.registry.dubbo.ApplicationMetadata;
import tern.rpc.registry.dubbo.KnownProcesses.Known;
import tern.rpc.registry.dubbo.KnownServices;
import tern.rpc.registry.dubbo.Limits;
import tern.rpc.registry.dubbo.ProcessMetadata;

/**
 * Caches the services of each revision of one application. Each revision is read once. If the registry does not contain
 * the services of a revision, they are requested from a process with that revision. A failed read is repeated after
 * increasing pauses, each time from a different process. After a reconnection, a failed read is repeated immediately.
 * Confined to the session's thread.
 */
final class MetadataCache implements Session.Listener {

    private static final Logger LOG = LoggerFactory.getLogger(MetadataCache.class);

    private static final Duration FIRST_PAUSE = Duration.ofMillis(500);
    private static final Duration LONGEST_PAUSE = Duration.ofSeconds(30);

    /** The maximum time that a provider list waits for the first read of a revision. */
    static final Duration LONGEST_WAIT = Duration.ofSeconds(1);

    /**
     * The maximum number of concurrent calls to processes. The number is limited, because a process might never answer.
     */
    private static final int MAX_CALLS = 16;

    /**
     * The maximum number of concurrent reads from the registry. The number is limited, because each read can return up
     * to a megabyte.
     */
    private static final int MAX_READS = 16;

    /**
     * The number of revisions whose failed reads are logged immediately. Failed reads of other revisions are logged at
     * most once a minute.
     */
    private static final int MAX_NAMED = 10;

    private static final Duration BETWEEN_WARNINGS = Duration.ofMinutes(1);

    private static final class Entry {
        final String revision;

        /** The processes with this revision; kept only until the services are known. */
        final List<Known> processes = new ArrayList<>();

        @Nullable
        ApplicationMetadata metadata;

        boolean asking;
        boolean asked;
        boolean pausing; // true while a repeated read of this revision waits for the end of a pause
        int failures;

        Entry(String revision) {
            this.revision = revision;
        }

        /** Returns a process with this revision. After each failure, returns a different process. */
        Known process() {
            return processes.get(failures % processes.size());
        }
    }

    /** A call to a process, queued until fewer than {@link #MAX_CALLS} calls are in progress. */
    private record Call(Entry entry, Known process, CompletableFuture<ApplicationMetadata> answer) {}

    /** The failure of a call. The message names the provider and the reason, and is safe to log. */
    private static final class RequestFailure extends RuntimeException {
        private static final long serialVersionUID = 1;

        RequestFailure(String message, Throwable cause) {
            super(message, cause);
        }
    }

    private final Session session;
    private final Paths paths;
    private final ProcessMetadata requests;
    private final Runnable changed;
    private final Map<String, Entry> entries = new HashMap<>();
    private final KnownServices known = new KnownServices();
    // the revisions that have not been read yet, in the order in which they will be read
    private final Deque<Entry> unread = new ArrayDeque<>();
    private final Deque<Call> waiting = new ArrayDeque<>();
    private final CoalescedTask changes;
    private final SeldomWarning furtherFailures;
    private int named;
    private int reads;
    private int calls;

    MetadataCache(Session session, ProcessMetadata requests, Runnable changed) {
        this.session = session;
        this.paths = Paths.of(session.settings());
        this.requests = requests;
        this.changed = changed;
        this.changes = new CoalescedTask(session, changed);
        this.furtherFailures = new SeldomWarning(LOG, session.clock(), BETWEEN_WARNINGS);
    }

    void start() {
        session.add(this);
    }

    /**
     * Retries failed reads immediately. During an outage all reads fail, so the pauses between the reads might have
     * become long.
     */
    @Override
    public void connected(boolean isNew) {
        List.copyOf(entries.values()).stream()
                .filter(entry -> entry.failures > 0)
                .forEach(this::askAgain);
    }

    @Override
    public void stale(String why) {}

    /** Returns the services of a process; null until they are known. */
    @Nullable
    ApplicationMetadata of(Known process) {
        Entry entry = entries.get(process.revision());
        return entry == null ? null : entry.metadata;
    }

    /**
     * Reads the services of new revisions, and forgets revisions that no process uses any longer.
     *
     * @param processes all processes of the application
     */
    void update(List<Known> processes) {
        Set<String> revisions = new HashSet<>();
        entries.values().forEach(entry -> entry.processes.clear());
        // Most processes have the same revision as the previous process in the list. Reusing the previous process's
        // entry saves a lookup.
        Entry entry = null;
        for (Known process : processes) {
            if (entry == null || !entry.revision.equals(process.revision())) {
                revisions.add(process.revision());
                entry = entries.computeIfAbsent(process.revision(), Entry::new);
            }
            if (entry.metadata == null) {
                entry.processes.add(process);
            }
        }
        if (entries.keySet().retainAll(revisions)) {
            known.retain(entries.values().stream()
                    .map(each -> each.metadata)
                    .filter(Objects::nonNull)
                    .toList());
        }
        unread.removeIf(each -> !isCurrent(each));
        waiting.removeIf(call -> !isCurrent(call.entry()));
        for (Entry each : entries.values()) {
            if (each.metadata == null && !each.asking && each.failures == 0) {
                ask(each);
                session.schedule(() -> overdue(each), LONGEST_WAIT);
            }
        }
    }

    private boolean isCurrent(Entry entry) {
        return entries.get(entry.revision) == entry;
    }

    /**
     * Returns true if provider lists do not have to wait for any revision. A list does not wait for a revision if the
     * revision's services are known, if a read of the services has failed, or if the read takes longer than
     * {@link #LONGEST_WAIT}.
     */
    boolean isAsked() {
        return entries.values().stream().allMatch(entry -> entry.asked);
    }

    /**
     * Stops waiting for the revisions that are being read. If every list waited for new revisions, an application whose
     * processes keep changing their revision could delay every list.
     */
    private void overdue(Entry entry) {
        if (!entry.asked && isCurrent(entry)) {
            entries.values().forEach(each -> each.asked = true);
            changed.run();
        }
    }

    private void ask(Entry entry) {
        entry.asking = true;
        unread.add(entry);
        readNext();
    }

    private void readNext() {
        while (reads < MAX_READS && !unread.isEmpty()) {
            Entry entry = unread.remove();
            Known process = entry.process();
            reads++;
            read(entry, process)
                    .whenComplete((metadata, failure) -> session.execute(() -> {
                        entry.asking = false;
                        if (isCurrent(entry)) {
                            answered(entry, process, metadata, failure);
                        }
                    }));
        }
    }

    private void answered(
            Entry entry, Known process, @Nullable ApplicationMetadata metadata, @Nullable Throwable failure) {
        entry.asked = true;
        if (metadata == null) {
            failed(entry, process, failure == null ? "no answer" : reason(failure));
            return;
        }
        try {
            entry.metadata = known.add(metadata);
        } catch (IllegalArgumentException e) {
            failed(entry, process, String.valueOf(e.getMessage()));
            return;
        }
        entry.processes.clear();
        notifyListener();
    }

    private void failed(Entry entry, Known process, String why) {
        entry.failures++;
        // Only one repeated read is scheduled, even if a reconnection has repeated the read during the pause.
        if (!entry.pausing) {
            entry.pausing = true;
            session.schedule(() -> askAfterPause(entry), pause(entry.failures));
        }
        if (entry.failures == 1) {
            name(entry, process, why);
            notifyListener();
        }
    }

    /**
     * Reports a change. While other revisions are being read, the changes are reported at intervals, because each
     * report causes work for all providers.
     */
    private void notifyListener() {
        if (reads == 0 && calls == 0 && unread.isEmpty() && waiting.isEmpty()) {
            changed.run();
        } else {
            changes.changed();
        }
    }

    private void name(Entry entry, Known process, String why) {
        String message = "The services of " + Limits.shown(process.application()) + " in revision "
                + Limits.shown(entry.revision) + " cannot be read at "
                + session.settings().url() + ": " + why + ". Tern tries again";
        if (named < MAX_NAMED) {
            named++;
            LOG.warn(message);
        } else {
            furtherFailures.warn(message);
        }
    }

    private void askAfterPause(Entry entry) {
        entry.pausing = false;
        askAgain(entry);
    }

    private void askAgain(Entry entry) {
        if (isCurrent(entry) && !entry.asking && entry.metadata == null) {
            ask(entry);
        }
    }

    private static String reason(Throwable failure) {
        Throwable cause =
                failure instanceof CompletionException && failure.getCause() != null ? failure.getCause() : failure;
        if (cause instanceof RequestFailure) {
            return String.valueOf(cause.getMessage());
        }
        return cause instanceof TimeoutException
                ? "it did not answer in time"
                : Limits.shown(String.valueOf(cause.getMessage()));
    }

    private static Duration pause(int failures) {
        long pause = Math.min(LONGEST_PAUSE.toMillis(), FIRST_PAUSE.toMillis() << Math.min(failures, 10));
        return Duration.ofMillis(pause / 2 + ThreadLocalRandom.current().nextLong(pause / 2 + 1));
    }

    /**
     * Reads the services from the registry. If they are not there, requests them from the process. Some processes store
     * their services in the registry although consumers can request the services from the process.
     */
    private CompletableFuture<ApplicationMetadata> read(Entry entry, Known process) {
        return process.isMetadataRemote()
                ? stored(process)
                : stored(process).exceptionallyCompose(missing -> requested(entry, process));
    }

    private CompletableFuture<ApplicationMetadata> stored(Known process) {
        String path = paths.metadata(process.application(), process.revision());
        return session.nodes()
                .data(path, Limits.MAX_METADATA, null)
                .whenComplete((data, failure) -> session.execute(() -> {
                    reads--;
                    readNext();
                }))
                .thenApply(data -> ApplicationMetadata.parse(new String(data.bytes(), StandardCharsets.UTF_8)));
    }

    private CompletableFuture<ApplicationMetadata> requested(Entry entry, Known process) {
        CompletableFuture<ApplicationMetadata> answer = new CompletableFuture<>();
        session.execute(() -> {
            Call call = new Call(entry, process, answer);
            if (entry.failures == 0) {
                // A call for a revision that has not failed before is made earlier than the repeated calls for other
                // revisions.
                waiting.addFirst(call);
            } else {
                waiting.addLast(call);
            }
            callNext();
        });
        return answer.exceptionallyCompose(failure -> CompletableFuture.failedFuture(new RequestFailure(
                "they are not in the registry, and the metadata service of " + process.host() + ":" + process.port()
                        + " failed: " + reason(failure),
                failure)));
    }

    private void callNext() {
        while (calls < MAX_CALLS && !waiting.isEmpty()) {
            Call call = waiting.remove();
            calls++;
            requests.of(call.process().entry()).whenComplete((metadata, failure) -> {
                session.execute(() -> {
                    calls--;
                    callNext();
                });
                if (failure == null) {
                    call.answer().complete(metadata);
                } else {
                    call.answer().completeExceptionally(failure);
                }
            });
        }
    }

    /** Forgets all revisions, so that failed reads are not repeated. */
    void close() {
        session.remove(this);
        entries.clear();
        unread.clear();
        waiting.clear();
    }
}
