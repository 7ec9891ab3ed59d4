package tern.rpc.spring;

import tern.rpc.server.RpcServer;

/**
 * Changes the server after the properties were applied and before it is built. Beans of this type are called in their
 * {@code @Order}.
 */
@FunctionalInterface
public interface RpcServerCustomizer {

    void customize(RpcServer.Builder server);
}
