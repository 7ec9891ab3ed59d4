package tern.rpc.registry;

import java.util.concurrent.CompletableFuture;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The published entries of one process in a file registry. */
final class FilePublication implements Publication {

    private static final Logger LOG = LoggerFactory.getLogger(FilePublication.class);

    private final FileRegistry registry;
    private final Registration registration;
    private final CompletableFuture<Void> seen = new CompletableFuture<>();
    private volatile boolean withdrawn;
    private volatile String problem = "";

    FilePublication(FileRegistry registry, Registration registration) {
        this.registry = registry;
        this.registration = registration;
    }

    void start() {
        verify().whenComplete((repaired, failure) -> {
            if (!problem.isEmpty()) {
                LOG.warn("{} could not be registered: {}. Tern tries again", registration, problem);
            }
        });
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
        boolean wasPublished = seen.isDone();
        return registry.change(content -> withdrawn || content.has(registration) ? content : content.with(registration))
                .whenComplete((before, failure) -> {
                    problem = failure == null ? "" : String.valueOf(failure.getMessage());
                    if (failure == null) {
                        seen.complete(null);
                    }
                })
                .thenApply(before -> before.has(registration)
                        ? Repair.NONE
                        : wasPublished && before.isTakenFrom(registration) ? Repair.CONFLICT : Repair.MISSING);
    }

    @Override
    public CompletableFuture<Void> withdraw() {
        withdrawn = true; // the flag is set first, so that a pending verification does not publish the entries again
        return remove();
    }

    /** Returns the published address. */
    String address() {
        return registration.address();
    }

    /**
     * Removes the entries. If the removal fails, tries again later. Does nothing if this process or another process has
     * published the same address in the meantime.
     */
    private CompletableFuture<Void> remove() {
        return registry.change(content -> registry.isReplaced(this) || content.isTakenFrom(registration)
                        ? content
                        : content.without(registration))
                .whenComplete((before, failure) -> {
                    if (failure != null) {
                        registry.later(this::remove);
                    }
                })
                .thenApply(before -> null);
    }
}
