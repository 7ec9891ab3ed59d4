package tern.rpc.registry.zookeeper;

import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import tern.rpc.registry.Registration;
import tern.rpc.registry.Subscription.Level;
import tern.rpc.registry.dubbo.DubboEntries;
import tern.rpc.registry.dubbo.Limits;
import tern.rpc.registry.dubbo.ProviderUrl;

/**
 * Finds providers that have only interface-level entries. If at least one provider of a service has an
 * application-level entry, Dubbo 3 consumers call only providers with application-level entries. Providers without such
 * an entry then get no calls.
 */
final class InterfaceOnly {

    private static final Logger LOG = LoggerFactory.getLogger(InterfaceOnly.class);

    private static final int MAX_NAMED = 5;

    private final Session session;
    private final NodeWriter steps;
    private final Paths paths;
    private final Level level;

    InterfaceOnly(Session session, Level level) {
        this.session = session;
        this.steps = new NodeWriter(session);
        this.paths = Paths.of(session.settings());
        this.level = level;
    }

    /**
     * Logs a warning about providers that would no longer get calls because they have no application-level entry. The
     * returned future never completes exceptionally.
     */
    CompletableFuture<Void> warn(DubboEntries own) {
        if (!level.hasApplications()) {
            return CompletableFuture.completedFuture(null);
        }
        Set<String> alone = new TreeSet<>();
        return steps.each(own.registration().services(), service -> look(own.registration(), service, alone))
                .handle((looked, failure) -> {
                    if (!alone.isEmpty()) {
                        LOG.warn(
                                "{} at {} are registered only at the level of interfaces. Consumers of Dubbo 3 will"
                                        + " send them no more calls once this provider is registered at the level of"
                                        + " applications, too. Set rpc.server.registry.level=interface until all"
                                        + " providers are at both levels",
                                alone.stream().limit(MAX_NAMED).toList(),
                                session.settings().url());
                    }
                    return null;
                });
    }

    private CompletableFuture<Integer> look(Registration own, Registration.Service service, Set<String> alone) {
        String path = paths.providers(service.key().interfaceName());
        if (session.cutOffLists().isTooLong(path)) {
            return CompletableFuture.completedFuture(0);
        }
        return session.nodes()
                .children(path, null)
                .thenCompose(names -> steps.each(applications(own, names), application -> look(application, alone)))
                .exceptionally(failure -> 0);
    }

    /**
     * Returns the application names in the entries of other processes. If an entry has no application name, the result
     * contains the address of the entry instead.
     */
    private static List<String> applications(Registration own, List<String> names) {
        Set<String> found = new TreeSet<>();
        for (String name : names) {
            try {
                ProviderUrl url = ProviderUrl.parseNode(name);
                String application = url.parameter(ProviderUrl.APPLICATION);
                boolean self = url.host().equals(own.host()) && url.port() == own.port();
                if (!self && found.size() < Limits.MAX_APPLICATIONS) {
                    found.add(application.isEmpty() ? url.host() + ":" + url.port() : Limits.shown(application));
                }
            } catch (IllegalArgumentException e) {
                LOG.debug("An entry of {} is left out", own, e);
            }
        }
        return List.copyOf(found);
    }

    private CompletableFuture<Integer> look(String application, Set<String> alone) {
        return session.nodes()
                .children(paths.processes(application), null)
                .exceptionally(failure -> List.of())
                .thenApply(processes -> {
                    if (processes.isEmpty()) {
                        alone.add(application);
                    }
                    return 1;
                });
    }
}
