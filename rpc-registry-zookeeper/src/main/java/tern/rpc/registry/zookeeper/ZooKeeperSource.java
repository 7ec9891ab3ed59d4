package tern.rpc.registry.zookeeper;

import java.time.Clock;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import tern.rpc.endpoint.EndpointSnapshot;
import tern.rpc.endpoint.EndpointSource;
import tern.rpc.endpoint.Instance;
import tern.rpc.endpoint.Rules;
import tern.rpc.registry.RegistryUrl;
import tern.rpc.registry.Subscription;
import tern.rpc.registry.dubbo.KnownProviders.Provider;
import tern.rpc.registry.dubbo.Limits;
import tern.rpc.registry.dubbo.ProviderUrl;
import tern.rpc.registry.dubbo.rules.RuleConsumer;

/** Finds the providers of one service in ZooKeeper. Fields without a comment are confined to the session's thread. */
final class ZooKeeperSource implements EndpointSource, Session.Listener {

    private static final Logger LOG = LoggerFactory.getLogger(ZooKeeperSource.class);

    private record Key(RegistryUrl url, Subscription subscription) {}

    private final Session session;
    private final Applications applications;
    private final Subscription subscription;
    private final Clock clock;
    private final ServiceMatch match;
    private final Map<String, ApplicationWatch> watched = new LinkedHashMap<>();
    private final Runnable applicationChanged = this::update;
    private final ProviderWatch providers;
    private final MappingWatch mapping;
    private final RuleWatches rules;
    private final AtomicBoolean refreshing = new AtomicBoolean(); // any thread may use this field

    // the listener; null before the source is started and after it is closed
    private @Nullable Consumer<EndpointSnapshot> listener;
    private @Nullable EndpointSnapshot last;
    private @Nullable String stale;

    ZooKeeperSource(
            Session session, Applications applications, Subscription subscription, RuleConsumer consumer, Clock clock) {
        this.session = session;
        this.applications = applications;
        this.subscription = subscription;
        this.clock = clock;
        this.match = new ServiceMatch(subscription);
        String interfaceName = subscription.service().interfaceName();
        this.providers = new ProviderWatch(session, interfaceName, this::update);
        this.mapping = new MappingWatch(session, interfaceName, this::mapped);
        this.rules = new RuleWatches(session, subscription.service(), consumer, this::update);
    }

    @Override
    public void start(Consumer<EndpointSnapshot> newListener) {
        session.start();
        session.execute(() -> {
            listener = newListener;
            rules.start();
            if (subscription.level().hasInterfaces()) {
                providers.start();
            }
            if (subscription.level().hasApplications()) {
                if (subscription.providedBy().isEmpty()) {
                    mapping.start();
                } else {
                    watch(subscription.providedBy());
                }
            }
            session.add(this);
        });
    }

    private void mapped() {
        watch(mapping.applications());
        update();
    }

    private void watch(List<String> names) {
        Set<String> gone = new HashSet<>(watched.keySet());
        for (String name : names) {
            if (!gone.remove(name)) {
                watched.put(name, applications.watch(name, applicationChanged));
            }
        }
        for (String name : gone) {
            watched.remove(name);
            applications.release(name, applicationChanged);
        }
    }

    @Override
    public void connected(boolean isNew) {
        stale = null;
        update();
    }

    @Override
    public void stale(String why) {
        stale = why;
        EndpointSnapshot reported = last;
        if (reported == null || reported.state() == EndpointSnapshot.State.UNKNOWN) {
            report(EndpointSnapshot.unknown(clock.instant(), why));
        } else {
            report(EndpointSnapshot.stale(reported.instances(), clock.instant(), why)
                    .withRules(reported.rules()));
        }
    }

    private void update() {
        if (listener == null || stale != null || !isHeard()) {
            return;
        }
        rules.watch(entries());
        if (!rules.isHeard()) {
            // Some rules have not been read yet. After they have been read, this method runs again and delivers the
            // providers.
            return;
        }
        watched.forEach((name, application) ->
                match.addProcesses(name, application.processes(), application::metadata, application.instances()));
        match.addProviders(providers.providers());
        List<Instance> instances = match.take();
        EndpointSnapshot heard = instances.isEmpty()
                ? new EndpointSnapshot(EndpointSnapshot.State.EMPTY, instances, clock.instant(), whyNobody())
                : EndpointSnapshot.heard(instances, clock.instant());
        report(heard.withRules(rules.rules(match::addressesOf)));
    }

    private String whyNobody() {
        if (watched.isEmpty() && !subscription.level().hasInterfaces()) {
            return "its mapping names no application; set rpc.client.services.<name>.provided-by or level";
        }
        UnfitEntries entries = new UnfitEntries(subscription.service());
        providers.providers().forEach(provider -> entries.add(provider, match.speaks(provider)));
        for (ApplicationWatch application : watched.values()) {
            application.processes().forEach(process -> entries.add(application.metadata(process)));
        }
        return entries.why();
    }

    /**
     * Returns the total number of entries at both levels for each application that offers the service. An application
     * that the settings name has the highest possible number, so that it comes first.
     */
    private Map<String, Integer> entries() {
        Map<String, Integer> entries = new HashMap<>();
        watched.forEach(
                (name, application) -> entries.put(name, application.processes().size()));
        String last = ""; // the application's name in the previous entry, which is also the name in most entries
        int same = 0;
        for (Provider provider : providers.providers()) {
            String application = provider.parameter(ProviderUrl.APPLICATION);
            if (!application.equals(last)) {
                entries.merge(last, same, Integer::sum);
                last = application;
                same = 0;
            }
            same++;
        }
        entries.merge(last, same, Integer::sum);
        subscription.providedBy().forEach(name -> entries.put(name, Integer.MAX_VALUE));
        return entries;
    }

    private boolean isHeard() {
        boolean interfaces = !subscription.level().hasInterfaces() || providers.isHeard();
        boolean names = !subscription.level().hasApplications()
                || !subscription.providedBy().isEmpty()
                || mapping.isHeard();
        return interfaces && names && watched.values().stream().allMatch(ApplicationWatch::isHeard);
    }

    private void report(EndpointSnapshot snapshot) {
        Consumer<EndpointSnapshot> current = listener;
        if (current == null || (last != null && snapshot.saysTheSameAs(last))) {
            return;
        }
        last = snapshot;
        LOG.debug(
                "{} at {}: {} with {} providers",
                subscription.service(),
                session.settings().url(),
                snapshot.state(),
                snapshot.instances().size());
        current.accept(snapshot);
    }

    /**
     * Reads reported changes early. Without this method, a client that has lost all providers would find new providers
     * only at the end of the current interval.
     */
    @Override
    public void refresh() {
        if (refreshing.compareAndSet(false, true)) {
            session.execute(() -> {
                refreshing.set(false);
                providers.hurry();
                watched.values().forEach(ApplicationWatch::hurry);
            });
        }
    }

    @Override
    public Rules rules(List<String> texts) {
        return rules.stored(texts);
    }

    @Override
    public Object key() {
        return new Key(session.settings().url(), subscription);
    }

    @Override
    public void close() {
        session.execute(() -> {
            listener = null;
            session.remove(this);
            providers.close();
            mapping.close();
            rules.close();
            watch(List.of());
        });
    }

    @Override
    public String toString() {
        return session.settings().url() + " for "
                + Limits.shown(subscription.service().toString());
    }
}
