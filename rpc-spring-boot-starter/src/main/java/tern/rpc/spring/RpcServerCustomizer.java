package tern.rpc.spring;

import tern.rpc.server.RpcServer;

/**
 * Changes the server builder after the properties were applied and before the server is built. Beans of this type are
 * called in the order of their {@code @Order}.
 */
@FunctionalInterface
public interface RpcServerCustomizer {

    void customize(RpcServer.Builder server);
}
