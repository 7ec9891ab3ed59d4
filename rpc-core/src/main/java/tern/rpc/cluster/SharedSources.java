package tern.rpc.cluster;

import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import tern.rpc.NanoClock;
import tern.rpc.endpoint.EndpointSnapshot;
import tern.rpc.endpoint.EndpointSource;
import tern.rpc.endpoint.Instance;

/**
 * The sources of a client. References with equal source keys share one source. It is closed with the last of these
 * references. Frequent changes are coalesced, and repeated lists are not passed on. Thread-safe.
 */
final class SharedSources {

    /** Maximum number of providers of one source. Further ones are ignored. */
    static final int MAX_INSTANCES = 200_000;

    private static final Logger LOG = LoggerFactory.getLogger(SharedSources.class);

    private final NanoClock clock;
    private final ScheduledExecutorService timer;
    private final Map<Object, Shared> byKey = new HashMap<>(); // guarded by this

    /** @param timer passes on delayed changes */
    SharedSources(NanoClock clock, ScheduledExecutorService timer) {
        this.clock = clock;
        this.timer = timer;
    }

    /** The use of a source by one reference. */
    interface Subscription {
        /** Asks the source to look up the providers again soon. */
        void refresh();

        void close();
    }

    /**
     * Passes every snapshot to the listener, beginning with the current one. The listener runs on any thread, one call
     * at a time.
     */
    Subscription subscribe(EndpointSource source, Consumer<EndpointSnapshot> listener) {
        Shared shared;
        boolean first;
        synchronized (this) {
            int before = byKey.size();
            shared = byKey.computeIfAbsent(source.key(), unknown -> new Shared(source));
            first = byKey.size() > before;
            shared.users++;
        }
        shared.add(listener);
        if (first) {
            source.start(shared::heard);
        }
        return new Subscription() {
            @Override
            public void refresh() {
                shared.source.refresh();
            }

            @Override
            public void close() {
                shared.listeners.remove(listener);
                release(shared);
            }
        };
    }

    private void release(Shared shared) {
        synchronized (this) {
            if (--shared.users > 0) {
                return;
            }
            byKey.remove(shared.source.key());
        }
        shared.source.close(); // outside the lock, because its thread may be waiting for it
    }

    /** The number of sources in use. */
    synchronized int size() {
        return byKey.size();
    }

    private final class Shared {
        private final EndpointSource source;
        private final List<Consumer<EndpointSnapshot>> listeners = new CopyOnWriteArrayList<>();
        private final Coalescing coalescing = new Coalescing(); // guarded by this, like the four fields below
        private EndpointSnapshot told = EndpointSnapshot.unknown(Instant.now(), "");
        private EndpointSnapshot latest = told;
        private boolean waiting;
        private boolean namedAsTooLong;
        private int users; // guarded by the enclosing SharedSources

        Shared(EndpointSource source) {
            this.source = source;
        }

        synchronized void add(Consumer<EndpointSnapshot> listener) {
            listeners.add(listener);
            listener.accept(told);
        }

        synchronized void heard(EndpointSnapshot snapshot) {
            latest = bounded(snapshot);
            if (waiting) {
                return;
            }
            if (latest.saysTheSameAs(told)) {
                return;
            }
            long delay = coalescing.delay(clock.nanoTime());
            if (delay == 0) {
                pass();
                return;
            }
            waiting = true;
            try {
                timer.schedule(this::passLater, delay, TimeUnit.NANOSECONDS);
            } catch (RejectedExecutionException e) {
                LOG.debug("{} changed while the client was closed", source, e);
            }
        }

        private synchronized void passLater() {
            waiting = false;
            if (!latest.saysTheSameAs(told)) {
                pass();
            }
        }

        private void pass() {
            coalescing.passed(clock.nanoTime());
            told = latest;
            for (Consumer<EndpointSnapshot> listener : listeners) {
                try {
                    listener.accept(told);
                } catch (RuntimeException e) {
                    LOG.error("The list of {} could not be taken over", source, e);
                }
            }
        }

        private EndpointSnapshot bounded(EndpointSnapshot snapshot) {
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
