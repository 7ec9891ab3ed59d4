package tern.rpc.spring;

import tern.rpc.server.RpcServer;

/**
 * Changes the server before it is built, after the properties were applied. Beans of this type are called in their
 * {@code @Order}.
 */
@FunctionalInterface
public interface RpcServerCustomizer {

    void customize(RpcServer.Builder server);
}
