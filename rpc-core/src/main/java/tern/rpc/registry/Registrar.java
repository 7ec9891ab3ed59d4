package tern.rpc.registry;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import tern.rpc.NanoClock;
import tern.rpc.PeriodicTask;

/**
 * Maintains one process's registration in its registries: publishes it, verifies it repeatedly, and withdraws it. The
 * process can register again after a withdrawal. Thread-safe.
 */
public final class Registrar implements AutoCloseable {

    /** The interval between a process's verifications of its own entries. */
    public static final Duration VERIFY_EVERY = Duration.ofSeconds(30);

    /** The maximum duration of a withdrawal. */
    static final Duration MAX_WITHDRAWAL = Duration.ofSeconds(3);

    /** The time allowed for consumers to detect the removal of the entries. */
    static final Duration AFTER_GONE = Duration.ofSeconds(1);

    /** The minimum time between two warnings with the same text. */
    static final Duration WARN_EVERY = Duration.ofMinutes(1);

    private static final Logger LOG = LoggerFactory.getLogger(Registrar.class);

    /** Waits for a given time. Tests use another implementation. */
    interface Waiting {

        Waiting SYSTEM = new Waiting() {
            @Override
            public boolean isDone(CompletableFuture<?> future, Duration atMost) throws InterruptedException {
                try {
                    future.get(atMost.toNanos(), TimeUnit.NANOSECONDS);
                    return true;
                } catch (ExecutionException | TimeoutException e) {
                    return false;
                }
            }

            @Override
            public void pause(Duration time) {
                LockSupport.parkNanos(time.toNanos());
            }
        };

        boolean isDone(CompletableFuture<?> future, Duration atMost) throws InterruptedException;

        void pause(Duration time);
    }

    private final List<Registry> registries;
    private final ScheduledExecutorService timer;
    private final NanoClock clock;
    private final Waiting waiting;
    private final Map<Registry, Publication> publications = new LinkedHashMap<>(); // guarded by this
    private final Map<Registry, Warning> warnings = new HashMap<>(); // guarded by this
    private @Nullable ScheduledFuture<?> verification; // guarded by this

    /** The text and the time of the last warning that a registry's verification has caused. */
    private record Warning(String text, long nanos) {}

    /**
     * @param timer runs the verifications, which can block for a few seconds while they look for the address; the
     *     registrar does not shut down the timer
     */
    public Registrar(List<Registry> registries, ScheduledExecutorService timer) {
        this(registries, timer, NanoClock.SYSTEM, Waiting.SYSTEM);
    }

    Registrar(List<Registry> registries, ScheduledExecutorService timer, NanoClock clock, Waiting waiting) {
        this.registries = List.copyOf(registries);
        this.timer = timer;
        this.clock = clock;
        this.waiting = waiting;
    }

    /**
     * Starts publishing the registration, and does not wait for the registries. Does nothing if a registration is
     * already published.
     *
     * @return a future that completes when the entries have been read back from every registry
     */
    public CompletableFuture<Void> register(Registration registration) {
        return register(registry -> registration);
    }

    /**
     * Starts publishing like {@link #register(Registration)}, but with a separate registration for each registry. If
     * one registry throws an exception, the registration is withdrawn from the other registries.
     *
     * @param registrations returns the registration for a registry, and may block for a few seconds while it looks for
     *     the address. If this function throws {@link NoRouteException}, the timer calls it again later
     */
    public synchronized CompletableFuture<Void> register(Function<Registry, Registration> registrations) {
        if (publications.isEmpty()) {
            try {
                for (Registry registry : registries) {
                    publications.put(
                            registry, LatePublication.of(registry, () -> registrations.apply(registry), timer));
                }
            } catch (RuntimeException | Error e) {
                // The entries published so far are withdrawn, because they would never be verified.
                withdrawAll();
                throw e;
            }
            verification = timer.scheduleWithFixedDelay(
                    new PeriodicTask("The check of our registrations", this::verify),
                    VERIFY_EVERY.toMillis(),
                    VERIFY_EVERY.toMillis(),
                    TimeUnit.MILLISECONDS);
        }
        return seen();
    }

    /**
     * Returns a future that completes when the entries have been read back from every registry. The future never
     * completes if there is no registration.
     */
    public synchronized CompletableFuture<Void> seen() {
        if (publications.isEmpty()) {
            return new CompletableFuture<>();
        }
        return CompletableFuture.allOf(
                publications.values().stream().map(Publication::seen).toArray(CompletableFuture[]::new));
    }

    /**
     * Returns, for each registry, the reason why an entry is currently not published, or an empty string if all entries
     * are published.
     */
    public synchronized Map<String, String> problems() {
        Map<String, String> problems = new LinkedHashMap<>();
        publications.forEach(
                (registry, publication) -> problems.put(registry.url().toString(), publication.problem()));
        return problems;
    }

    private void verify() {
        Map<Registry, Publication> current;
        synchronized (this) {
            current = new LinkedHashMap<>(publications);
        }
        current.forEach((registry, publication) -> publication.verify().whenComplete((repaired, failure) -> {
            if (failure != null) {
                warnOnceAMinute(
                        registry,
                        "The registration at " + registry.url() + " could not be verified: "
                                + cause(failure).getMessage() + ". Tern tries again");
            } else if (repaired.conflicts() > 0) {
                warnOnceAMinute(
                        registry,
                        "Another process registers the same address as this provider at " + registry.url()
                                + ". The entries of the other process were replaced. Give every provider its own"
                                + " rpc.server.advertise.host or rpc.server.advertise.port");
            } else if (repaired.missing() > 0) {
                LOG.warn(
                        "{} entries of this provider were missing at {} and were written again",
                        repaired.missing(),
                        registry.url());
            }
        }));
    }

    private void warnOnceAMinute(Registry registry, String warning) {
        long now = clock.nanoTime();
        synchronized (this) {
            Warning last = warnings.get(registry);
            if (last != null && last.text().equals(warning) && now - last.nanos() < WARN_EVERY.toNanos()) {
                return;
            }
            warnings.put(registry, new Warning(warning, now));
        }
        LOG.warn(warning);
    }

    private static Throwable cause(Throwable failure) {
        return failure instanceof CompletionException && failure.getCause() != null ? failure.getCause() : failure;
    }

    /**
     * Removes the registration. Blocks until the entries are removed and consumers have had one second to detect the
     * removal, but for at most three seconds in total. Does nothing if there is no registration.
     */
    public void withdraw() {
        List<CompletableFuture<Boolean>> gone;
        synchronized (this) {
            if (verification != null) {
                verification.cancel(false);
                verification = null;
            }
            gone = withdrawAll();
        }
        if (gone.isEmpty()) {
            return;
        }
        long started = clock.nanoTime();
        try {
            boolean answered =
                    waiting.isDone(CompletableFuture.allOf(gone.toArray(CompletableFuture[]::new)), MAX_WITHDRAWAL);
            Duration left = MAX_WITHDRAWAL.minusNanos(clock.nanoTime() - started);
            if (!answered) {
                LOG.warn(
                        "Not every registry confirmed within {} s that this provider is gone; it stops nevertheless",
                        MAX_WITHDRAWAL.toSeconds());
            } else if (!left.isNegative() && gone.stream().anyMatch(future -> future.getNow(true))) {
                waiting.pause(left.compareTo(AFTER_GONE) < 0 ? left : AFTER_GONE);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** Starts withdrawing all publications. This object's lock must be held. */
    private List<CompletableFuture<Boolean>> withdrawAll() {
        List<CompletableFuture<Boolean>> gone = new ArrayList<>();
        publications.forEach((registry, publication) ->
                gone.add(publication.withdraw().handle((done, failure) -> isGone(registry, failure))));
        publications.clear();
        return gone;
    }

    /**
     * Returns whether a registry confirmed that the entries are gone. If the registry did not confirm this, logs the
     * reason.
     */
    private static boolean isGone(Registry registry, @Nullable Throwable failure) {
        if (failure != null) {
            LOG.warn(
                    "The registration at {} could not be removed: {}. This provider stops nevertheless",
                    registry.url(),
                    cause(failure).getMessage());
        }
        return failure == null;
    }

    /** Closes the registries. Does not block. */
    @Override
    public synchronized void close() {
        if (verification != null) {
            verification.cancel(false);
        }
        publications.clear();
        for (Registry registry : registries) {
            try {
                registry.close();
            } catch (RejectedExecutionException e) {
                LOG.debug("{} was closing already", registry.url(), e);
            }
        }
    }
}
