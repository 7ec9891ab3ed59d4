package tern.rpc.registry.zookeeper;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ThreadLocalRandom;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import tern.rpc.registry.dubbo.ApplicationMetadata;
import tern.rpc.registry.dubbo.Limits;
import tern.rpc.registry.dubbo.ProcessEntry;

/**
 * Caches the services of each revision of one application. Each revision is read once. If reading fails, the read is
 * repeated after increasing pauses. Confined to the session's thread.
 */
final class MetadataCache {

    private static final Logger LOG = LoggerFactory.getLogger(MetadataCache.class);

    private static final Duration FIRST_PAUSE = Duration.ofMillis(500);
    private static final Duration LONGEST_PAUSE = Duration.ofSeconds(30);

    private static final IllegalStateException ONLY_THERE =
            new IllegalStateException("only the provider knows them, and Tern reads them from the registry alone; set"
                    + " dubbo.application.metadata-type=remote at the provider");

    private static final class Entry {
        @Nullable
        ApplicationMetadata metadata;

        ProcessEntry process;
        boolean asking;
        boolean asked;
        int failures;

        Entry(ProcessEntry process) {
            this.process = process;
        }
    }

    private final Session session;
    private final Paths paths;
    private final Runnable changed;
    private final Map<String, Entry> entries = new HashMap<>();

    MetadataCache(Session session, Runnable changed) {
        this.session = session;
        this.paths = Paths.of(session.settings());
        this.changed = changed;
    }

    /** Returns the services of a process; null until they are known. */
    @Nullable
    ApplicationMetadata of(ProcessEntry process) {
        Entry entry = entries.computeIfAbsent(process.revision(), unknown -> new Entry(process));
        entry.process = process;
        if (entry.metadata == null && !entry.asking && entry.failures == 0) {
            ask(entry);
        }
        return entry.metadata;
    }

    /** Whether the services of each revision are known, or reading them has failed at least once. */
    boolean isAsked() {
        return entries.values().stream().allMatch(entry -> entry.asked);
    }

    void keepOnly(Set<String> revisions) {
        entries.keySet().retainAll(revisions);
    }

    private void ask(Entry entry) {
        entry.asking = true;
        ProcessEntry process = entry.process;
        read(process)
                .whenComplete((metadata, failure) -> session.execute(() -> {
                    entry.asking = false;
                    entry.asked = true;
                    if (failure == null) {
                        entry.metadata = metadata;
                        changed.run();
                        return;
                    }
                    if (entry.failures++ == 0) {
                        LOG.warn(
                                "The services of {} in revision {} cannot be read at {}: {}. It is tried again",
                                Limits.shown(process.application()),
                                Limits.shown(process.revision()),
                                session.settings().url(),
                                reason(failure));
                        changed.run();
                    }
                    session.schedule(() -> askAgain(process.revision(), entry), pause(entry.failures));
                }));
    }

    private void askAgain(String revision, Entry entry) {
        if (entries.get(revision) == entry && !entry.asking) {
            ask(entry);
        }
    }

    private static String reason(Throwable failure) {
        Throwable cause = failure.getCause() == null ? failure : failure.getCause();
        return Limits.shown(String.valueOf(cause.getMessage()));
    }

    private static Duration pause(int failures) {
        long pause = Math.min(LONGEST_PAUSE.toMillis(), FIRST_PAUSE.toMillis() << Math.min(failures, 10));
        return Duration.ofMillis(pause / 2 + ThreadLocalRandom.current().nextLong(pause / 2 + 1));
    }

    /**
     * Reads the services from the registry. Some providers that answer metadata requests themselves also store their
     * services there.
     */
    private CompletableFuture<ApplicationMetadata> read(ProcessEntry process) {
        return process.isMetadataRemote()
                ? stored(process)
                : stored(process).exceptionallyCompose(missing -> CompletableFuture.failedFuture(ONLY_THERE));
    }

    private CompletableFuture<ApplicationMetadata> stored(ProcessEntry process) {
        String path = paths.metadata(process.application(), process.revision());
        return session.data(path, Limits.MAX_METADATA, null)
                .thenApply(data -> ApplicationMetadata.parse(new String(data.bytes(), StandardCharsets.UTF_8)));
    }
}
