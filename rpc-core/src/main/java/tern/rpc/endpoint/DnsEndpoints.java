package tern.rpc.endpoint;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import java.util.function.IntPredicate;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
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

    /** The delay between a call to {@link #refresh} and the lookup. Other calls during the delay have no effect. */
    private static final long REFRESH_PAUSE_MILLIS = 1_000;

    /**
     * How long the source waits for the addresses of all names after its start. After this time, the source also
     * reports incomplete lists, which lack the addresses of unresolved names.
     */
    private static final long FIRST_LIST_MILLIS = 500;

    /**
     * The maximum number of names that a source looks up at the same time. With only one lookup at a time, a name whose
     * servers do not answer would delay the other names. With many lookups, one source could occupy all threads of the
     * client.
     */
    private static final int AT_ONCE = 2;

    /** The maximum number of addresses that are logged in warnings. */
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
    // This object's lock guards the following fields. Lists and arrays have one element for each name.
    private final List<List<Instance>> known = new ArrayList<>();
    private final boolean[] unresolved; // For each name, true if its last lookup failed.
    private final boolean[] looked; // For each name, true after its first lookup has ended.
    private final boolean[] looking; // For each name, true while it is being looked up.
    private final Queue<Integer> due = new ArrayDeque<>(); // The indexes of the names that must be looked up.
    private int workers; // The number of threads that are looking up names.
    // True if the time limit for the first list has passed. From then on, lists that lack the addresses of unresolved
    // names are reported, too.
    private boolean isFirstListDue;

    // The addresses whose warning has already been logged, guarded by this object's lock.
    private final Set<String> refused = new HashSet<>();
    // The last snapshot passed to the listener, guarded by this object's lock.
    private @Nullable EndpointSnapshot reported;
    private volatile @Nullable ScheduledFuture<?> task;
    // The listener is null before start() and after close().
    private volatile @Nullable Consumer<EndpointSnapshot> listener;

    /**
     * @param names the endpoints to look up; each address of an endpoint gets the attributes of the endpoint
     * @param executor runs the lookups, which block
     */
    public DnsEndpoints(List<Instance> names, Lookup lookup, ScheduledExecutorService executor, Duration interval) {
        this.names = DistinctEndpoints.of(names);
        this.lookup = lookup;
        this.executor = executor;
        this.interval = interval;
        int count = this.names.size();
        this.unresolved = new boolean[count];
        this.looked = new boolean[count];
        this.looking = new boolean[count];
        this.names.forEach(name -> known.add(List.of()));
    }

    @Override
    public void start(Consumer<EndpointSnapshot> listener) {
        this.listener = listener;
        task = executor.scheduleWithFixedDelay(
                new PeriodicTask("The lookup of " + names.size() + " host names", this::resolve),
                0,
                interval.toMillis(),
                TimeUnit.MILLISECONDS);
        if (names.size() > 1) {
            executor.schedule(this::reportIncomplete, FIRST_LIST_MILLIS, TimeUnit.MILLISECONDS);
        }
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

    /** Looks up all names that no thread is looking up at the moment. */
    private void resolve() {
        if (addDue() > 1) {
            try {
                executor.execute(this::work);
            } catch (RejectedExecutionException e) {
                LOG.debug("Looking up {} on one thread only", this, e);
            }
        }
        work();
    }

    private synchronized int addDue() {
        for (int i = 0; i < names.size(); i++) {
            if (!looking[i] && !due.contains(i)) {
                due.add(i);
            }
        }
        return due.size();
    }

    private void work() {
        if (!begin()) {
            return;
        }
        boolean ended = false;
        try {
            for (int name = next(); name >= 0; name = next()) {
                lookUp(name);
            }
            ended = true;
        } finally {
            if (!ended) { // an error that the listener has thrown ended the loop
                leave();
            }
        }
    }

    private synchronized void leave() {
        workers--;
    }

    private synchronized boolean begin() {
        if (workers >= AT_ONCE) {
            return false;
        }
        workers++;
        return true;
    }

    /** @return the index of the name that this thread must look up; -1 if there is nothing to do */
    private synchronized int next() {
        Integer name = due.poll();
        if (name == null) {
            workers--;
            return -1;
        }
        looking[name] = true;
        return name;
    }

    private void lookUp(int name) {
        InetAddress[] found = null;
        Throwable failure = null;
        try {
            found = lookup.addressesOf(names.get(name).endpoint().host());
            // If a lookup fails, this thread continues with the next names.
        } catch (UnknownHostException | RuntimeException | Error e) {
            failure = e;
        }
        lookedUp(name, found, failure);
    }

    private synchronized void lookedUp(int name, InetAddress @Nullable [] found, @Nullable Throwable failure) {
        looking[name] = false;
        looked[name] = true;
        boolean failedFirst = failure != null && !unresolved[name];
        unresolved[name] = failure != null;
        if (found != null) {
            known.set(name, instances(names.get(name), found));
        } else if (failedFirst) {
            String host = names.get(name).endpoint().host();
            if (failure instanceof UnknownHostException) {
                LOG.debug("Host {} cannot be resolved; addresses known before: {}", host, knownBefore(name));
            } else {
                LOG.error("The lookup of host {} failed; addresses known before: {}", host, knownBefore(name), failure);
            }
        }
        report();
    }

    private synchronized void reportIncomplete() {
        isFirstListDue = true;
        report();
    }

    private List<Instance> instances(Instance name, InetAddress[] found) {
        Endpoint requested = name.endpoint();
        return Arrays.stream(found)
                .filter(address -> isUsable(address, requested.host()))
                .map(address -> new Instance(
                        new Endpoint(
                                address.getHostAddress(), requested.port(), requested.name(), requested.protocol()),
                        name.attributes()))
                .sorted(Comparator.comparing(instance -> instance.endpoint().host()))
                .toList();
    }

    /**
     * Returns whether an address can belong to a provider. For example, the address 0.0.0.0 cannot belong to a
     * provider, because it refers to the client's own machine.
     */
    private boolean isUsable(InetAddress address, String host) {
        boolean usable = new Endpoint(address.getHostAddress(), 0).mayBeProvider();
        if (!usable && refused.size() < MAX_REFUSED && refused.add(host + " " + address.getHostAddress())) {
            LOG.warn(
                    "Host {} resolves to {}, which cannot be a provider and is left out; check its DNS entry",
                    host,
                    address.getHostAddress());
        }
        return usable;
    }

    private String knownBefore(int name) {
        return known.get(name).isEmpty() ? "none" : known.get(name).toString();
    }

    /** Reports the list if it has changed. Called under this object's lock, so that lists are reported in order. */
    private void report() {
        List<String> missing = hosts(name -> !looked[name]);
        if (!missing.isEmpty() && !isFirstListDue) {
            return;
        }
        List<Instance> all =
                DistinctEndpoints.of(() -> known.stream().flatMap(List::stream).iterator());
        EndpointSnapshot snapshot = snapshot(all, hosts(name -> unresolved[name]), missing);
        Consumer<EndpointSnapshot> interested = listener;
        if (interested != null && (reported == null || !snapshot.saysTheSameAs(reported))) {
            reported = snapshot;
            try {
                interested.accept(snapshot);
            } catch (RuntimeException e) {
                LOG.error("The addresses {} could not be applied", all, e);
            }
        }
    }

    private List<String> hosts(IntPredicate which) {
        return IntStream.range(0, names.size())
                .filter(which)
                .mapToObj(name -> names.get(name).endpoint().host())
                .toList();
    }

    /**
     * @param failed the hosts that cannot be resolved
     * @param missing the hosts whose first lookup has not ended yet
     */
    private static EndpointSnapshot snapshot(List<Instance> all, List<String> failed, List<String> missing) {
        Instant now = Instant.now();
        if (failed.isEmpty() && missing.isEmpty()) {
            return EndpointSnapshot.heard(all, now);
        }
        String why = failed.isEmpty()
                ? "no name server has answered yet for host " + String.join(", ", missing)
                : "host " + String.join(", ", failed) + " cannot be resolved";
        return all.isEmpty() ? EndpointSnapshot.unknown(now, why) : EndpointSnapshot.stale(all, now, why);
    }

    /** Returns a key that consists of the host names, the resolver and the lookup interval. */
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
