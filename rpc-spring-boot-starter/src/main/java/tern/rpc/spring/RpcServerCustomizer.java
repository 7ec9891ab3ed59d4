package tern.rpc.spring;

import tern.rpc.server.RpcServer;

/**
 * Customizes the server builder after the properties have been applied and before the server is built. Beans of this
 * type are called in the order of their {@code @Order}.
 */
@FunctionalInterface
public interface RpcServerCustomizer {

    void customize(RpcServer.Builder server);
}
