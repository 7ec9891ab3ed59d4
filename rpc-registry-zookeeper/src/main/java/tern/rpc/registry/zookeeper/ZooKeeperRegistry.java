package tern.rpc.registry.zookeeper;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.time.Clock;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import tern.rpc.endpoint.EndpointSource;
import tern.rpc.registry.Publication;
import tern.rpc.registry.Registration;
import tern.rpc.registry.Registry;
import tern.rpc.registry.RegistryUrl;
import tern.rpc.registry.RuledLimit;
import tern.rpc.registry.Subscription;
import tern.rpc.registry.Subscription.Level;
import tern.rpc.registry.SystemMachine;
import tern.rpc.registry.dubbo.DubboEntries;
import tern.rpc.registry.dubbo.ProcessMetadata;
import tern.rpc.registry.dubbo.rules.RuleConsumer;
import tern.rpc.transport.Tls;

/** A registry in ZooKeeper, with interface-level and application-level entries in Dubbo's formats. Thread-safe. */
public final class ZooKeeperRegistry implements Registry {

    /**
     * The form of the entries that this process writes.
     *
     * @param level the levels at which entries are written
     * @param nodePerProtocol whether each protocol of a port gets its own interface-level entry
     * @param metadataRemote whether the services are stored in the registry. If false, consumers request the services
     *     from this process
     */
    public record Form(Level level, boolean nodePerProtocol, boolean metadataRemote) {

        public static final Form DEFAULT = new Form(Level.BOTH, false);

        /** Creates a form in which consumers read the services from the registry. */
        public Form(Level level, boolean nodePerProtocol) {
            this(level, nodePerProtocol, true);
        }
    }

    /**
     * Opens registries whose addresses have the scheme {@code zookeeper}.
     *
     * @param application the name of this application, as used in rules; empty for none
     * @param processMetadata requests the services of providers that do not store them in the registry
     * @param bundles returns the TLS settings of a bundle by its name, for addresses with {@code ssl.bundle}. Throws an
     *     exception if the bundle is unknown
     */
    public record Factory(
            Form form, String application, ProcessMetadata processMetadata, Function<String, Supplier<Tls>> bundles)
            implements Registry.Factory {

        /** Creates a factory without TLS bundles. */
        public Factory(Form form, String application, ProcessMetadata processMetadata) {
            this(form, application, processMetadata, bundle -> {
                throw new IllegalArgumentException("there is no bundle '" + bundle + "'");
            });
        }

        /**
         * Creates a factory for an application without a name. The factory reads only metadata that is stored in the
         * registry.
         */
        public Factory(Form form) {
            this(form, "", ProcessMetadata.NONE);
        }

        @Override
        public boolean accepts(String scheme) {
            return scheme.equals("zookeeper");
        }

        @Override
        public Registry open(RegistryUrl url) {
            return new ZooKeeperRegistry(url, this, Clock.systemUTC());
        }
    }

    private static final Logger LOG = LoggerFactory.getLogger(ZooKeeperRegistry.class);

    private final RegistryUrl url;
    private final Form form;
    private final String application;
    private final Clock clock;
    private final Session session;
    private final Applications applications;
    private final OwnedPaths owned = new OwnedPaths();
    private final List<LimitRules> limitRules = new ArrayList<>(); // only the session's thread uses this field

    private ZooKeeperRegistry(RegistryUrl url, Factory factory, Clock clock) {
        this(url, factory, clock, new Session(ZooKeeperSettings.of(url, factory.bundles())));
    }

    ZooKeeperRegistry(RegistryUrl url, Factory factory, Clock clock, Session session) {
        this.url = url;
        this.form = factory.form();
        this.application = factory.application();
        this.clock = clock;
        this.session = session;
        this.applications = new Applications(session, factory.processMetadata());
    }

    @Override
    public RegistryUrl url() {
        return url;
    }

    @Override
    public List<InetSocketAddress> remoteAddresses() {
        return ZooKeeperSettings.servers(url);
    }

    @Override
    public Publication publish(Registration registration) {
        DubboEntries entries = new DubboEntries(registration, form.nodePerProtocol(), form.metadataRemote());
        ZooKeeperPublication publication = new ZooKeeperPublication(
                session,
                entries,
                OwnNodes.of(entries, form.level(), Paths.of(session.settings()), clock.millis()),
                owned,
                new InterfaceOnly(session, form.level()));
        publication.start();
        session.execute(() -> limitRules.forEach(rules -> rules.follow(registration)));
        return publication;
    }

    @Override
    public EndpointSource source(Subscription subscription) {
        return new ZooKeeperSource(
                session, applications, subscription, new RuleConsumer(application, ownHosts()), clock);
    }

    @Override
    public void watchLimits(Registration registration, Consumer<List<RuledLimit>> limits) {
        session.start();
        session.execute(() -> {
            LimitRules rules = new LimitRules(session, registration, limits);
            limitRules.add(rules);
            rules.start();
        });
    }

    private static Set<String> ownHosts() {
        try {
            return new SystemMachine()
                    .addresses().stream()
                            .map(card -> card.address().getHostAddress())
                            .collect(Collectors.toSet());
        } catch (IOException e) {
            LOG.warn("The addresses of this machine are unknown, so rules for hosts of consumers never apply", e);
            return Set.of();
        }
    }

    @Override
    public void close() {
        session.close();
    }
}
