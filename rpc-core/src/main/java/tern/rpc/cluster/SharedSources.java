package tern.rpc.cluster;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;
import tern.rpc.NanoClock;
import tern.rpc.SeldomWarning;
import tern.rpc.Thrown;
import tern.rpc.endpoint.EndpointSnapshot;
import tern.rpc.endpoint.EndpointSource;
import tern.rpc.endpoint.Instance;

/**
 * The endpoint sources of a client. References whose sources have equal keys share one source. The source is closed
 * when the last of these references is closed. Frequent changes are coalesced, and repeated lists are not passed on.
 * Thread-safe.
 */
final class SharedSources {

    /** The maximum number of providers that are used from one source. All other providers are ignored. */
    static final int MAX_INSTANCES = 200_000;

    /** The maximum number of warnings about invalid provider addresses per source. */
    static final int MAX_REFUSED = 100;

    private static final Logger LOG = LoggerFactory.getLogger(SharedSources.class);

    /**
     * The delay before a list is passed again to a reference that could not apply it, for example because memory was
     * exhausted.
     */
    private static final long RETRY_NANOS = 1_000_000_000;

    private static final Duration BETWEEN_WARNINGS = Duration.ofMinutes(1);

    private final NanoClock clock;
    private final ScheduledExecutorService timer;
    private final Map<Object, Shared> byKey = new HashMap<>(); // This object's lock guards byKey.

    /** @param timer runs the delayed notifications that inform references about changes */
    SharedSources(NanoClock clock, ScheduledExecutorService timer) {
        this.clock = clock;
        this.timer = timer;
    }

    /** The subscription of one reference to a source. */
    interface Subscription {
        /**
         * Requests the source to look up the providers again soon. If a list of providers is being delayed because of
         * frequent changes, shortens the delay.
         */
        void refresh();

        /** Records that a reference has waited for the source's first list without success. */
        void waitedInVain();

        /**
         * Returns whether a reference has waited for the first list without success. If so, the other references do not
         * wait, so that an application with many references starts quickly.
         */
        boolean isLate();

        void close();
    }

    /**
     * Passes the current snapshot, and then every new snapshot, to the listener. The listener may run on any thread,
     * but only on one thread at a time.
     *
     * @param service the reference's service, for logs and error messages
     */
    Subscription subscribe(EndpointSource source, String service, Consumer<EndpointSnapshot> listener) {
        Shared shared;
        boolean first;
        synchronized (this) {
            int before = byKey.size();
            shared = byKey.computeIfAbsent(source.key(), unknown -> new Shared(source));
            first = byKey.size() > before;
            shared.users++;
        }
        try {
            shared.add(service, listener);
            if (first) {
                source.start(shared::heard);
            }
            // The source failed to start, or the listener failed, for example because a connection cannot be opened.
        } catch (RuntimeException | Error e) {
            shared.remove(service, listener);
            if (first) {
                failed(shared, e);
            }
            release(shared);
            throw e;
        }
        return new Subscription() {
            @Override
            public void refresh() {
                shared.refresh();
                shared.hurry();
            }

            @Override
            public void waitedInVain() {
                shared.late = true;
            }

            @Override
            public boolean isLate() {
                return shared.late;
            }

            @Override
            public void close() {
                shared.remove(service, listener);
                release(shared);
            }
        };
    }

    /**
     * Logs that providers of a source cannot be reached, in one line for all of them and for all references, at a
     * limited rate. Does nothing if no reference uses this source. The caller must not hold a lock that a listener
     * needs.
     */
    void notConnected(Object key, List<Node> failed) {
        Shared shared;
        synchronized (this) {
            shared = byKey.get(key);
        }
        if (shared != null) {
            shared.notConnected(failed);
        }
    }

    /**
     * Reports the failed start to the references that subscribed while the source was starting. References that
     * subscribe later start a new source.
     */
    private void failed(Shared shared, Throwable why) {
        synchronized (this) {
            byKey.remove(shared.source.key(), shared);
        }
        if (!shared.listeners.isEmpty()) {
            shared.heard(
                    EndpointSnapshot.unknown(Instant.now(), "the source could not be started: " + Thrown.text(why)));
        }
    }

    private void release(Shared shared) {
        synchronized (this) {
            if (--shared.users > 0) {
                return;
            }
            byKey.remove(shared.source.key(), shared);
        }
        try {
            // The source is closed without holding the lock, because one of its threads may be waiting for the lock.
            shared.source.close();
        } catch (RuntimeException e) {
            // an exception from one source must not prevent the other references from being closed
            LOG.warn("{} could not be closed", shared.source, e);
        }
    }

    /** Returns the number of sources in use. */
    synchronized int size() {
        return byKey.size();
    }

    private final class Shared {
        private final EndpointSource source;
        private final List<Consumer<EndpointSnapshot>> listeners = new CopyOnWriteArrayList<>();
        private final ChangeLog log = new ChangeLog(LOG, clock, timer);
        private final SeldomWarning failures = new SeldomWarning(LOG, clock, BETWEEN_WARNINGS);
        private final ChangeLog outages = new ChangeLog(LOG, clock, timer);
        // The nodes whose outages have not been logged yet. The set's own lock guards it.
        private final Set<Node> unlogged = new LinkedHashSet<>();
        private volatile boolean late; // true if a reference has waited for the first list without success
        // This object's lock guards "coalescing" and the following fields up to namedAsTooLong.
        private final Coalescing coalescing = new Coalescing();
        private final List<String> services = new ArrayList<>(); // The services of all references that use the source.
        private long stateSinceNanos = clock.nanoTime();
        private EndpointSnapshot previous = EndpointSnapshot.unknown(Instant.now(), "");
        private EndpointSnapshot latest = previous;
        // The last list without unusable addresses. Its instances need not be checked again.
        private List<Instance> checked = List.of();
        // True while a list of providers is being delayed because of frequent changes. Reads do not need the lock.
        private volatile boolean waiting;
        // True if the delayed list will be passed on before the usual delay ends. Reads do not need the lock.
        private volatile boolean hurried;
        private boolean namedAsTooLong;
        private final Set<String> refused = new HashSet<>(); // The addresses that have been logged in a warning.
        private int users; // The lock of the enclosing SharedSources guards the field "users".

        Shared(EndpointSource source) {
            this.source = source;
        }

        /** Requests a lookup. A failure must not fail the call that has found no provider. */
        void refresh() {
            try {
                source.refresh();
            } catch (RuntimeException e) {
                failures.warn(() -> source + " failed to look up its providers again", e);
            }
        }

        synchronized void add(String service, Consumer<EndpointSnapshot> listener) {
            services.add(service);
            listeners.add(listener);
            listener.accept(previous);
        }

        synchronized void remove(String service, Consumer<EndpointSnapshot> listener) {
            services.remove(service);
            listeners.remove(listener);
        }

        private synchronized String service() {
            return services.isEmpty() ? "an unused service" : ChangeTexts.services(services);
        }

        /** Logs a line if the state or its reason has changed, except when the first list arrives normally. */
        private void log(EndpointSnapshot before, EndpointSnapshot now) {
            boolean isNew = before.state() != now.state()
                    || (!now.why().isEmpty() && !before.why().equals(now.why()));
            long lasted = clock.nanoTime() - stateSinceNanos;
            stateSinceNanos = isNew ? clock.nanoTime() : stateSinceNanos;
            boolean isUsualStart = before.state() == EndpointSnapshot.State.UNKNOWN
                    && now.state() == EndpointSnapshot.State.FRESH
                    && before.why().isEmpty();
            if (isNew && !isUsualStart) {
                // Another thread may write the line later, while it holds the lock of the log. The supplier of the line
                // must therefore not take this object's lock: this thread takes the two locks in the opposite order.
                String service = service();
                log.changed(
                        now.state() == EndpointSnapshot.State.FRESH ? Level.INFO : Level.WARN,
                        () -> ChangeTexts.changed(source.toString(), service, before, now, lasted));
            }
        }

        void notConnected(List<Node> failed) {
            boolean isFirst;
            synchronized (unlogged) {
                isFirst = unlogged.isEmpty() && !failed.isEmpty();
                unlogged.addAll(failed);
            }
            if (isFirst) {
                outages.changed(Level.INFO, this::takeUnlogged);
            }
        }

        /**
         * Returns the log line about the outages that have not been logged yet; empty if they have all ended while the
         * line was delayed.
         */
        private String takeUnlogged() {
            List<Node> nodes;
            synchronized (unlogged) {
                nodes = unlogged.stream()
                        .filter(node -> !node.link().isUsable())
                        .toList();
                unlogged.clear();
            }
            return nodes.isEmpty()
                    ? ""
                    : ChangeTexts.notConnected(
                            source.toString(),
                            service(),
                            nodes.size(),
                            nodes.get(0).link().whyNotConnected());
        }

        synchronized void heard(EndpointSnapshot snapshot) {
            latest = bounded(snapshot);
            if (waiting) {
                return;
            }
            if (isPassed()) {
                return;
            }
            long delay = coalescing.delay(clock.nanoTime());
            if (delay == 0) {
                pass();
                return;
            }
            waiting = true;
            later(delay, this::passLater);
        }

        /**
         * Passes a delayed list on earlier, because no provider of the previous list can be used. Does nothing if no
         * list is being delayed.
         */
        void hurry() {
            // Usually no list is being delayed. This check takes no lock, because many failed calls may run this method
            // at the same time.
            if (!waiting || hurried) {
                return;
            }
            synchronized (this) {
                if (waiting && !hurried) {
                    hurried = true;
                    later(coalescing.shortestDelay(clock.nanoTime()), this::passLater);
                }
            }
        }

        private void later(long nanos, Runnable task) {
            try {
                timer.schedule(task, nanos, TimeUnit.NANOSECONDS);
            } catch (RejectedExecutionException e) {
                LOG.debug("{} changed while the client was closed", source, e);
            }
        }

        private synchronized void passAgain() {
            if (!waiting) {
                pass();
            }
        }

        private synchronized void passLater() {
            if (!waiting) {
                // The list is no longer waiting. A task with a delay that hurry() had shortened has already passed the
                // list on.
                return;
            }
            waiting = false;
            hurried = false;
            if (!isPassed()) {
                pass();
            }
        }

        /** Returns whether the references already have the latest state and list. */
        private boolean isPassed() {
            return latest.hasSameState(previous)
                    && ListChange.between(previous.instances(), latest.instances())
                            .isEmpty();
        }

        private void pass() {
            coalescing.passed(clock.nanoTime());
            log(previous, latest);
            previous = latest;
            boolean failed = false;
            for (Consumer<EndpointSnapshot> listener : listeners) {
                try {
                    listener.accept(previous);
                } catch (RuntimeException | Error e) {
                    Thrown.log(e, exception -> LOG.error("The list of {} could not be applied", source, exception));
                    failed |= e instanceof Error;
                }
            }
            if (failed) {
                // A source reports only changes. Without another attempt to apply the list, the reference would keep
                // its old list until the next change.
                later(RETRY_NANOS, this::passAgain);
            }
        }

        private EndpointSnapshot bounded(EndpointSnapshot snapshot) {
            return shortened(withoutUnusable(snapshot));
        }

        /** Removes addresses that cannot be providers, such as 0.0.0.0 and multicast addresses. */
        private EndpointSnapshot withoutUnusable(EndpointSnapshot snapshot) {
            String last = "";
            for (Instance instance :
                    ListChange.between(checked, snapshot.instances()).added()) {
                if (!instance.endpoint().mayBeProvider()) {
                    last = instance.endpoint().toString();
                    warnOnce(last);
                }
            }
            if (last.isEmpty()) {
                checked = snapshot.instances();
                return snapshot;
            }
            List<Instance> usable = snapshot.instances().stream()
                    .filter(instance -> instance.endpoint().mayBeProvider())
                    .toList();
            boolean isEmpty = usable.isEmpty() && snapshot.state() == EndpointSnapshot.State.FRESH;
            return new EndpointSnapshot(
                    isEmpty ? EndpointSnapshot.State.EMPTY : snapshot.state(),
                    usable,
                    snapshot.since(),
                    isEmpty ? last + " cannot be a provider" : snapshot.why(),
                    snapshot.rules());
        }

        private void warnOnce(String address) {
            if (refused.size() < MAX_REFUSED && refused.add(address)) {
                LOG.warn(
                        "{} lists {} for {}, which cannot be a provider and is left out; check the address that it"
                                + " registers",
                        source,
                        address,
                        service());
            }
        }

        private EndpointSnapshot shortened(EndpointSnapshot snapshot) {
            List<Instance> instances = snapshot.instances();
            if (instances.size() <= MAX_INSTANCES) {
                namedAsTooLong = false;
                return snapshot;
            }
            if (!namedAsTooLong) {
                namedAsTooLong = true;
                LOG.warn("{} lists {} providers; only the first {} are used", source, instances.size(), MAX_INSTANCES);
            }
            return new EndpointSnapshot(
                    snapshot.state(),
                    instances.subList(0, MAX_INSTANCES),
                    snapshot.since(),
                    snapshot.why(),
                    snapshot.rules());
        }
    }
}
