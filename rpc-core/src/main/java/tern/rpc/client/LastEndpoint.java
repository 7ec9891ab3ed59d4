package tern.rpc.client;

import org.jspecify.annotations.Nullable;
import tern.rpc.endpoint.Endpoint;

/** The provider of the last attempt of a blocking call. Confined to the call's thread. */
final class LastEndpoint {

    private @Nullable Endpoint endpoint;

    void set(Endpoint reached) {
        endpoint = reached;
    }

    @Nullable
    Endpoint endpoint() {
        return endpoint;
    }
}
