package tern.rpc.endpoint;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
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

/**
 * Resolves host names repeatedly. Every address of a name is an endpoint. While a name cannot be resolved, its last
 * known addresses stay.
 */
public final class DnsEndpoints implements EndpointResolver {

    /** The default time between two look-ups. */
    public static final Duration DEFAULT_INTERVAL = Duration.ofSeconds(30);

    /** At most one {@link #refresh} in this time has an effect. */
    private static final long REFRESH_PAUSE_MILLIS = 1_000;

    private static final Logger LOG = LoggerFactory.getLogger(DnsEndpoints.class);

    /** Resolves a name. */
    @FunctionalInterface
    public interface Lookup {
        /** Uses {@link InetAddress#getAllByName}. */
        Lookup SYSTEM = InetAddress::getAllByName;

        InetAddress[] addressesOf(String host) throws UnknownHostException;
    }

    private final List<Endpoint> names;
    private final Lookup lookup;
    private final ScheduledExecutorService executor;
    private final Duration interval;
    private final AtomicBoolean refreshing = new AtomicBoolean();
    private final Set<Endpoint> unresolved = new HashSet<>(); // endpoints as given
    private final List<List<Endpoint>> known = new ArrayList<>(); // one list per name; used by the resolver thread only

    private @Nullable List<Endpoint> told; // used by look-ups only, one at a time
    private volatile @Nullable ScheduledFuture<?> task;
    private volatile @Nullable Consumer<List<Endpoint>> listener; // null once closed

    /** @param executor runs the look-ups, which block */
    public DnsEndpoints(List<Endpoint> names, Lookup lookup, ScheduledExecutorService executor, Duration interval) {
        this.names = List.copyOf(names);
        this.lookup = lookup;
        this.executor = executor;
        this.interval = interval;
        names.forEach(name -> known.add(List.of()));
    }

    @Override
    public void start(Consumer<List<Endpoint>> listener) {
        this.listener = listener;
        task = executor.scheduleWithFixedDelay(this::resolve, 0, interval.toMillis(), TimeUnit.MILLISECONDS);
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

    private synchronized void resolve() {
        for (int i = 0; i < names.size(); i++) {
            Endpoint name = names.get(i);
            try {
                known.set(
                        i,
                        Arrays.stream(lookup.addressesOf(name.host()))
                                .map(address ->
                                        new Endpoint(address.getHostAddress(), name.port(), name.weight(), name.host()))
                                .sorted((one, other) -> one.host().compareTo(other.host()))
                                .toList());
                unresolved.remove(name);
            } catch (UnknownHostException e) {
                if (unresolved.add(name)) {
                    LOG.warn(
                            "Host {} cannot be resolved; addresses known before: {}",
                            name.host(),
                            known.get(i).isEmpty() ? "none" : known.get(i));
                }
            } catch (RuntimeException e) { // thrown again, it would end the schedule
                if (unresolved.add(name)) {
                    LOG.error(
                            "The look-up of host {} failed; addresses known before: {}",
                            name.host(),
                            known.get(i).isEmpty() ? "none" : known.get(i),
                            e);
                }
            }
        }
        List<Endpoint> all = known.stream().flatMap(List::stream).distinct().toList();
        Consumer<List<Endpoint>> interested = listener;
        if (interested != null && !all.equals(told)) {
            told = all;
            try {
                interested.accept(all);
            } catch (RuntimeException e) {
                LOG.error("The addresses {} could not be taken over", all, e);
            }
        }
    }

    /** Closes without waiting for a running look-up. */
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
        return names.stream().map(Endpoint::toString).collect(Collectors.joining(", "));
    }
}
