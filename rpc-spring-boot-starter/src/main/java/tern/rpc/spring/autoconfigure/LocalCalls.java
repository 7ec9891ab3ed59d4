package tern.rpc.spring.autoconfigure;

import org.springframework.beans.BeansException;
import org.springframework.beans.factory.BeanFactoryUtils;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.config.ConfigurableBeanFactory;
import tern.rpc.RpcException;
import tern.rpc.RpcException.Executed;
import tern.rpc.StatusCode;
import tern.rpc.serialization.Serializer;
import tern.rpc.server.RpcServer;
import tern.rpc.transport.InMemoryTransport;

/**
 * Calls of an application to its own server, in memory: what the address {@code local} means. The server is looked up by
 * the first call, so that beans may call each other while the application starts.
 */
final class LocalCalls {

    private LocalCalls() {}

    /** @param server of the same context or one of its parents */
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
     * Looks for the bean without making it.
     *
     * @throws RpcStartException if the application serves nothing
     */
    static void checkServer(ConfigurableBeanFactory beans, String where) {
        if (!has(beans, RpcServer.class)) {
            throw new RpcStartException(
                    where + " refers to local, but this application serves nothing: it has no @RpcService bean, or"
                            + " rpc.server.enabled is false",
                    "Add the provider's configuration to this application, set rpc.server.enabled to true, or set"
                            + " rpc.client.url to the address of a provider.",
                    null);
        }
    }

    private static boolean has(ConfigurableBeanFactory beans, Class<?> type) {
        return BeanFactoryUtils.beanNamesForTypeIncludingAncestors((ListableBeanFactory) beans, type, true, false)
                        .length
                > 0;
    }

    /** Whether the server of this application listens already, as in the fields of a test class. */
    static boolean portIsKnown(ConfigurableBeanFactory beans) {
        return beans.getBeanProvider(RpcServerLifecycle.class).stream().anyMatch(RpcServerLifecycle::isRunning);
    }
}
