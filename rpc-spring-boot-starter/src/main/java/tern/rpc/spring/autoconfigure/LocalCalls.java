package tern.rpc.spring.autoconfigure;

import java.util.Set;
import java.util.TreeSet;
import org.springframework.beans.BeansException;
import org.springframework.beans.factory.BeanFactoryUtils;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.config.ConfigurableBeanFactory;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.core.env.Environment;
import tern.rpc.RpcException;
import tern.rpc.RpcException.Executed;
import tern.rpc.StatusCode;
import tern.rpc.serialization.Serializer;
import tern.rpc.server.RpcServer;
import tern.rpc.settings.RpcStartException;
import tern.rpc.transport.InMemoryTransport;

/**
 * Calls an application's own server in memory, for the {@code local} address. The server is looked up only on the first
 * call. References can therefore be created before the server, and beans can call each other during startup.
 */
final class LocalCalls {

    private LocalCalls() {}

    /** @param server provides the server of the same application context or of a parent context */
    static InMemoryTransport transport(
            Serializer serializer, ClientSettings settings, ObjectProvider<RpcServer> server) {
        return new InMemoryTransport(
                serializer,
                settings.transport().maxRequestBytes(),
                settings.transport().maxResponseBytes(),
                transport -> serve(transport, server));
    }

    private static void serve(InMemoryTransport transport, ObjectProvider<RpcServer> server) {
        try {
            server.getObject().serve(transport);
        } catch (BeansException | IllegalStateException e) {
            throw new RpcException(
                    StatusCode.UNAVAILABLE,
                    "the call to local was not sent: the server of this application cannot be used: " + e.getMessage(),
                    Executed.NO,
                    e);
        }
    }

    /**
     * Checks that the application has a server, without creating the server.
     *
     * @throws RpcStartException if the application exports nothing
     */
    static void checkServer(ConfigurableBeanFactory beans, String where) {
        if (!has(beans, RpcServer.class)) {
            if (beans instanceof ConfigurableListableBeanFactory all) {
                checkHiddenServices(all, where);
            }
            throw new RpcStartException(
                    where + " refers to local, but this application exports no services: it has no @RpcService bean, or"
                            + " rpc.server.enabled is false",
                    "Add the provider's configuration to this application, set rpc.server.enabled to true, or set"
                            + " rpc.client.url to the address of a provider. In a test, a @MockitoBean of the interface or"
                            + " a ScriptedProvider of tern-rpc-test can replace the provider (docs/testing.md).",
                    null);
        }
    }

    /** Names a service that Tern found too late. This service is the reason why there is no server. */
    private static void checkHiddenServices(ConfigurableListableBeanFactory beans, String where) {
        Set<String> names = new TreeSet<>(HiddenServices.in(beans).keySet());
        names.addAll(LateServices.in(beans));
        if (!names.isEmpty()
                && beans.getBean(Environment.class).getProperty("rpc.server.enabled", Boolean.class, true)) {
            String name = names.iterator().next();
            throw new RpcStartException(
                    where + " refers to local, but this application exports no services: bean '" + name
                            + "' is an @RpcService, but it is not exported, because "
                            + LateServices.reason(beans, name),
                    LateServices.action(beans, name),
                    null);
        }
    }

    private static boolean has(ConfigurableBeanFactory beans, Class<?> type) {
        return BeanFactoryUtils.beanNamesForTypeIncludingAncestors((ListableBeanFactory) beans, type, true, false)
                        .length
                > 0;
    }

    /**
     * Returns whether this application's server is already listening. For example, the server is listening when Spring
     * injects the fields of a test class.
     */
    static boolean portIsKnown(ConfigurableBeanFactory beans) {
        return beans.getBeanProvider(RpcServerLifecycle.class).stream().anyMatch(RpcServerLifecycle::isRunning);
    }
}
