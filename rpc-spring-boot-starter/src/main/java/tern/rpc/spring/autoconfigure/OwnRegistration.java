package tern.rpc.spring.autoconfigure;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.beans.factory.ObjectProvider;
import tern.rpc.MethodDescriptor;
import tern.rpc.registry.AdvertisedAddress;
import tern.rpc.registry.NoRouteException;
import tern.rpc.registry.Registration;
import tern.rpc.registry.Registry;
import tern.rpc.registry.SystemMachine;
import tern.rpc.server.RpcServer;
import tern.rpc.server.ServiceExport;
import tern.rpc.settings.RpcStartException;

/**
 * Describes this process as a provider. Each registry gets an address that its own consumers can reach. Thread-safe.
 */
final class OwnRegistration {

    private static final Logger LOG = LoggerFactory.getLogger(OwnRegistration.class);

    private final RegistrationSettings settings;
    private final Registries registries;
    private final ObjectProvider<RpcServer> server;
    private final Supplier<List<String>> protocols;
    private final long startedAt = System.currentTimeMillis();
    private final Map<Registry, AdvertisedAddress> chosen = new ConcurrentHashMap<>();
    private final Set<AdvertisedAddress> logged = new HashSet<>(); // guarded by this

    OwnRegistration(
            RegistrationSettings settings,
            Registries registries,
            ObjectProvider<RpcServer> server,
            Supplier<List<String>> protocols) {
        this.settings = settings;
        this.registries = registries;
        this.server = server;
        this.protocols = protocols;
    }

    /**
     * Returns the registration for a registry.
     *
     * @throws NoRouteException if the address to publish is not known yet
     * @throws RpcStartException if the address to publish cannot be used
     */
    Registration at(Registry registry) {
        AdvertisedAddress address = address(registry);
        log(address);
        List<Registration.Service> services = new ArrayList<>();
        for (ServiceExport export :
                BuiltInService.ofApplication(server.getObject().exports())) {
            services.add(new Registration.Service(
                    export.key(),
                    export.service().methods().stream()
                            .map(MethodDescriptor::name)
                            .toList(),
                    export.weight()));
        }
        return new Registration(
                settings.application(),
                address.host(),
                address.port(),
                published(protocols.get()),
                services,
                settings.attributes(),
                settings.warmup().toMillis(),
                startedAt);
    }

    private void log(AdvertisedAddress address) {
        synchronized (this) {
            if (!logged.add(address)) {
                return;
            }
        }
        LOG.info("Publishing {}:{}, from {}", address.host(), address.port(), address.reason());
        String warning = address.check(new SystemMachine(), server.getObject()::acceptedConnections);
        if (!warning.isEmpty()) {
            LOG.warn(warning);
        }
    }

    /** Returns the protocols that are published in registries: all protocols except JSON over HTTP/1.1. */
    private static List<String> published(List<String> names) {
        return List.of("dubbo", "tri").stream()
                .filter(name -> names.stream().anyMatch(known -> known.equalsIgnoreCase(name)))
                .toList();
    }

    private AdvertisedAddress address(Registry registry) {
        AdvertisedAddress last = chosen.get(registry);
        if (last != null && last.isStillUsable(settings.wish(), new SystemMachine())) {
            return last;
        }
        AdvertisedAddress found = chooseFor(registry);
        chosen.put(registry, found);
        return found;
    }

    private AdvertisedAddress chooseFor(Registry registry) {
        try {
            InetAddress bound = settings.address() == null ? null : InetAddress.getByName(settings.address());
            return AdvertisedAddress.choose(
                    settings.wish(), bound, server.getObject().port(), remotes(registry), new SystemMachine());
        } catch (NoRouteException e) {
            throw e;
        } catch (IllegalArgumentException | UnknownHostException e) {
            throw new RpcStartException(
                    "The server cannot be registered: " + e.getMessage(),
                    "Set rpc.server.advertise.host to an address that consumers can reach.",
                    e);
        }
    }

    /**
     * Returns the servers of the registry. For a registry without servers, such as a file, returns the servers of the
     * first registry that has servers. Consumers on other machines may also read the file, so the published address
     * should be reachable from them.
     */
    private List<InetSocketAddress> remotes(Registry registry) {
        if (!registry.remoteAddresses().isEmpty()) {
            return registry.remoteAddresses();
        }
        return settings.registries().stream()
                .map(url -> registries.at(url).remoteAddresses())
                .filter(servers -> !servers.isEmpty())
                .findFirst()
                .orElse(List.of());
    }
}
