package tern.rpc.registry;

import java.net.InetSocketAddress;
import org.jspecify.annotations.Nullable;
import tern.rpc.endpoint.EndpointSource;

/**
 * A registry of providers. It connects lazily, at the first publication or the start of the first source. It keeps
 * trying to reach an unreachable registry until it is closed. Thread-safe.
 */
public interface Registry extends AutoCloseable {

    /** Opens registries of one or more kinds. */
    interface Factory {

        /** Whether this factory opens addresses with this scheme. */
        boolean accepts(String scheme);

        /** @throws IllegalArgumentException if the address has wrong or missing parts */
        Registry open(RegistryUrl url);
    }

    RegistryUrl url();

    /**
     * An address of the registry, used to look up the route to it. Null for a registry without a network, such as a
     * file.
     */
    @Nullable
    InetSocketAddress remoteAddress();

    /** Starts to publish a provider and returns at once. */
    Publication publish(Registration registration);

    /** Returns a source of the providers of a service. Sources of equal subscriptions have equal keys. */
    EndpointSource source(Subscription subscription);

    /** Closes without waiting. Ephemeral entries disappear with the connection. */
    @Override
    void close();
}
