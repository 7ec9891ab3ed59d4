package tern.rpc.spring;

import tern.rpc.client.RpcClient;

/**
 * Customizes the client builder after the properties have been applied and before the client is built. Beans of this
 * type are called in the order of their {@code @Order}.
 */
@FunctionalInterface
public interface RpcClientCustomizer {

    void customize(RpcClient.Builder client);
}
