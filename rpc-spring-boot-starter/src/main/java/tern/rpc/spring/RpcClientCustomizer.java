package tern.rpc.spring;

import tern.rpc.client.RpcClient;

/**
 * Changes the client before it is built, after the properties were applied. Beans of this type are called in their
 * {@code @Order}.
 */
@FunctionalInterface
public interface RpcClientCustomizer {

    void customize(RpcClient.Builder client);
}
