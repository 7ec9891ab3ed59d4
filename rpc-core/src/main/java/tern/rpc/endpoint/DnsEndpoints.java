package tern.rpc.endpoint;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import tern.rpc.PeriodicTask;

/**
 * Resolves host names repeatedly. Every address of a name is an endpoint. If a name cannot be resolved, its last known
 * addresses are kept, and the list is marked as stale.
 */
public final class DnsEndpoints implements EndpointSource {

    /** The default time between two lookups. */
    public static final Duration DEFAULT_INTERVAL = Duration.ofSeconds(30);

    /** The delay between a call to {@link #refresh} and the lookup. Further calls within this time have no effect. */
    private static final long REFRESH_PAUSE_MILLIS = 1_000;

    /** The maximum number of addresses for which a warning is logged. */
    private static final int MAX_REFUSED = 100;

    private static final Logger LOG = LoggerFactory.getLogger(DnsEndpoints.class);

    /** Resolves a host name. */
    @FunctionalInterface
    public interface Lookup {
        /** Looks up names with {@link InetAddress#getAllByName}. */
        Lookup SYSTEM = InetAddress::getAllByName;

        InetAddress[] addressesOf(String host) throws UnknownHostException;
    }

    /** The key of sources that look up the same names with the same resolver and interval. */
    private record Names(List<Instance> names, Lookup lookup, Duration interval) {}

    private final List<Instance> names;
    private final Lookup lookup;
    private final ScheduledExecutorService executor;
    private final Duration interval;
    private final AtomicBoolean refreshing = new AtomicBoolean();
    private final AtomicBoolean resolving = new AtomicBoolean();
    // The known addresses of each name. This object's lock guards this field.
    private final List<List<Instance>> known = new ArrayList<>();
    // Each element is true if the last lookup of the name with the same index failed. This object's lock guards this
    // field.
    private final boolean[] unresolved;

    // The addresses for which a warning has been logged. This object's lock guards this field.
    private final Set<String> refused = new HashSet<>();
    // The last snapshot passed to the listener. This object's lock guards this field.
    private @Nullable EndpointSnapshot told;
    private volatile @Nullable ScheduledFuture<?> task;
    // This field is null before start() and after close().
    private volatile @Nullable Consumer<EndpointSnapshot> listener;

    /**
     * @param names the endpoints to look up; each address of an endpoint gets the attributes of the endpoint
     * @param executor runs the lookups, which block
     */
    public DnsEndpoints(List<Instance> names, Lookup lookup, ScheduledExecutorService executor, Duration interval) {
        this.names = List.copyOf(names);
        this.lookup = lookup;
        this.executor = executor;
        this.interval = interval;
        this.unresolved = new boolean[names.size()];
        names.forEach(name -> known.add(List.of()));
    }

    @Override
    public void start(Consumer<EndpointSnapshot> listener) {
        this.listener = listener;
        task = executor.scheduleWithFixedDelay(
                new PeriodicTask("The lookup of " + names.size() + " host names", this::resolve),
                0,
                interval.toMillis(),
                TimeUnit.MILLISECONDS);
    }

    @Override
    public void refresh() {
        if (listener != null && refreshing.compareAndSet(false, true)) {
            try {
                executor.schedule(this::resolveAgain, REFRESH_PAUSE_MILLIS, TimeUnit.MILLISECONDS);
            } catch (RejectedExecutionException e) {
                LOG.debug("Not looking up {} any more", this, e);
            }
        }
    }

    private void resolveAgain() {
        refreshing.set(false);
        resolve();
    }

    /** Looks up the names, unless another thread is looking them up. That thread must not block a second one. */
    private void resolve() {
        if (resolving.compareAndSet(false, true)) {
            try {
                lookUp();
            } finally {
                resolving.set(false);
            }
        }
    }

    private synchronized void lookUp() {
        List<String> failed = new ArrayList<>();
        for (int i = 0; i < names.size(); i++) {
            String host = names.get(i).endpoint().host();
            try {
                known.set(i, addresses(names.get(i)));
                unresolved[i] = false;
            } catch (UnknownHostException e) {
                failed.add(host);
                if (failedFirst(i)) {
                    LOG.debug("Host {} cannot be resolved; addresses known before: {}", host, knownBefore(i));
                }
            } catch (RuntimeException e) { // The other names are still looked up.
                failed.add(host);
                if (failedFirst(i)) {
                    LOG.error("The look-up of host {} failed; addresses known before: {}", host, knownBefore(i), e);
                }
            }
        }
        tell(DistinctEndpoints.of(() -> known.stream().flatMap(List::stream).iterator()), failed);
    }

    private List<Instance> addresses(Instance name) throws UnknownHostException {
        Endpoint asked = name.endpoint();
        return Arrays.stream(lookup.addressesOf(asked.host()))
                .filter(address -> isUsable(address, asked.host()))
                .map(address -> new Instance(
                        new Endpoint(address.getHostAddress(), asked.port(), asked.name(), asked.protocol()),
                        name.attributes()))
                .sorted(Comparator.comparing(instance -> instance.endpoint().host()))
                .toList();
    }

    /**
     * Returns whether an address can belong to a provider. For example, connecting to 0.0.0.0 would reach the client's
     * own machine.
     */
    private boolean isUsable(InetAddress address, String host) {
        boolean usable = new Endpoint(address.getHostAddress(), 0).mayBeProvider();
        if (!usable && refused.size() < MAX_REFUSED && refused.add(host + " " + address.getHostAddress())) {
            LOG.warn(
                    "Host {} resolves to {}, which cannot be a provider and is left out; look at its DNS entry",
                    host,
                    address.getHostAddress());
        }
        return usable;
    }

    private boolean failedFirst(int name) {
        boolean first = !unresolved[name];
        unresolved[name] = true;
        return first;
    }

    private String knownBefore(int name) {
        return known.get(name).isEmpty() ? "none" : known.get(name).toString();
    }

    private void tell(List<Instance> all, List<String> failed) {
        EndpointSnapshot snapshot = snapshot(all, failed);
        Consumer<EndpointSnapshot> interested = listener;
        if (interested != null && (told == null || !snapshot.saysTheSameAs(told))) {
            told = snapshot;
            try {
                interested.accept(snapshot);
            } catch (RuntimeException e) {
                LOG.error("The addresses {} could not be taken over", all, e);
            }
        }
    }

    private EndpointSnapshot snapshot(List<Instance> all, List<String> failed) {
        Instant now = Instant.now();
        if (failed.isEmpty()) {
            return EndpointSnapshot.heard(all, now);
        }
        String why = "host " + String.join(", ", failed) + " cannot be resolved";
        return all.isEmpty() ? EndpointSnapshot.unknown(now, why) : EndpointSnapshot.stale(all, now, why);
    }

    /** Returns a key made of the host names, the resolver and the lookup interval. */
    @Override
    public Object key() {
        return new Names(names, lookup, interval);
    }

    /** Closes the source without waiting for a lookup in progress. */
    @Override
    public void close() {
        listener = null;
        ScheduledFuture<?> scheduled = task;
        if (scheduled != null) {
            scheduled.cancel(false);
        }
    }

    @Override
    public String toString() {
        return names.stream().map(Instance::toString).collect(Collectors.joining(", "));
    }
}
