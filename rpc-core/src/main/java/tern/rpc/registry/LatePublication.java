package tern.rpc.registry;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Publishes a registration once its address is known, and again when the address has changed. The address is known as
 * soon as the process has a route to the registry. Thread-safe.
 */
final class LatePublication implements Publication {

    /** The interval between attempts to find the address. */
    static final Duration TRY_EVERY = Duration.ofSeconds(5);

    private static final Logger LOG = LoggerFactory.getLogger(LatePublication.class);

    private final Registry registry;
    private final Supplier<Registration> registration;
    private final ScheduledExecutorService timer;
    private final CompletableFuture<Void> seen = new CompletableFuture<>();
    private volatile String problem = "";
    private @Nullable Publication begun; // guarded by this
    private @Nullable Registration published; // guarded by this
    // the publication of the previous address; null after its removal; guarded by this
    private @Nullable Publication former;
    private boolean withdrawn; // guarded by this

    private LatePublication(Registry registry, Supplier<Registration> registration, ScheduledExecutorService timer) {
        this.registry = registry;
        this.registration = registration;
        this.timer = timer;
    }

    /**
     * Publishes a registration immediately, or as soon as its address is known.
     *
     * @param registration supplies the registration; may throw {@link NoRouteException}
     * @param timer runs the search for the address, which can take a few seconds
     */
    static Publication of(Registry registry, Supplier<Registration> registration, ScheduledExecutorService timer) {
        LatePublication late = new LatePublication(registry, registration, timer);
        try {
            late.begin(registration.get());
        } catch (NoRouteException e) {
            late.failed(e);
        }
        return late;
    }

    private void look() {
        try {
            begin(registration.get());
        } catch (RuntimeException e) {
            // The supplier throws an exception, for example if consumers of this registry could not reach the address.
            failed(e);
        }
    }

    private synchronized void begin(Registration found) {
        if (!withdrawn) {
            Publication publication = registry.publish(found);
            begun = publication;
            published = found;
            problem = "";
            publication.seen().thenRun(() -> seen.complete(null));
        }
    }

    private synchronized void failed(RuntimeException failure) {
        String why = String.valueOf(failure.getMessage());
        if (withdrawn) {
            return;
        }
        if (!why.equals(problem)) {
            problem = why;
            LOG.warn("This provider is not registered at {} yet: {}. Tern tries again", registry.url(), why);
        }
        try {
            timer.schedule(this::look, TRY_EVERY.toMillis(), TimeUnit.MILLISECONDS);
        } catch (RejectedExecutionException e) {
            LOG.debug("{} is closed", registry.url(), e);
        }
    }

    private synchronized @Nullable Publication begun() {
        return begun;
    }

    @Override
    public CompletableFuture<Void> seen() {
        return seen;
    }

    @Override
    public String problem() {
        Publication publication = begun();
        return publication == null || !problem.isEmpty() ? problem : publication.problem();
    }

    @Override
    public CompletableFuture<Repair> verify() {
        follow();
        Publication publication = begun();
        return publication == null ? CompletableFuture.completedFuture(Repair.NONE) : publication.verify();
    }

    /** If the address has changed, publishes the new address, and then removes the entries of the old address. */
    private void follow() {
        if (begun() == null) {
            return;
        }
        Registration found;
        try {
            found = registration.get();
        } catch (RuntimeException e) { // The address is unknown, for example because there is no route to the registry.
            LOG.debug("The address to publish at {} is not known", registry.url(), e);
            return;
        }
        Publication before;
        Publication next;
        synchronized (this) {
            Registration last = published;
            before = begun;
            if (withdrawn || before == null || last == null || former != null) {
                return;
            }
            if (found.equals(last)) {
                problem = ""; // the published address is correct again, so the recorded problem is removed
                return;
            }
            try {
                next = registry.publish(found);
            } catch (RuntimeException e) { // Publishing has failed. The registry may be rejecting the new address.
                refused(found, e);
                return;
            }
            begun = next;
            published = found;
            former = before;
            problem = "";
            LOG.warn(
                    "The address of this provider at {} has changed from {}:{} to {}:{}",
                    registry.url(),
                    last.host(),
                    last.port(),
                    found.host(),
                    found.port());
        }
        next.seen().thenCompose(seenNow -> withdrawFormer()).whenComplete((gone, failure) -> {
            if (failure != null) {
                LOG.warn("The entries of the old address at {} could not be removed", registry.url(), failure);
            }
        });
    }

    /**
     * Logs the reason why the new address cannot be published, but not the same reason twice in succession. This
     * object's lock must be held.
     */
    private void refused(Registration found, RuntimeException failure) {
        String why = found.host() + ":" + found.port() + ": " + failure.getMessage();
        if (!why.equals(problem)) {
            problem = why;
            LOG.warn("The new address cannot be published at {}, {}. Tern tries again", registry.url(), why);
        }
    }

    private CompletableFuture<Void> withdrawFormer() {
        Publication last;
        synchronized (this) {
            last = former;
            former = null;
        }
        return last == null ? CompletableFuture.completedFuture(null) : last.withdraw();
    }

    @Override
    public CompletableFuture<Void> withdraw() {
        Publication publication;
        synchronized (this) {
            withdrawn = true;
            publication = begun;
        }
        CompletableFuture<Void> formerGone = withdrawFormer();
        return publication == null ? formerGone : CompletableFuture.allOf(formerGone, publication.withdraw());
    }
}
