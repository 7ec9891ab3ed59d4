package tern.rpc.registry;

import java.net.InetSocketAddress;
import org.jspecify.annotations.Nullable;
import tern.rpc.endpoint.EndpointSource;

/**
 * A registry of providers. It is opened lazily: nothing is connected before the first publication or the start of the
 * first source. A registry that is out of reach is tried again until it is closed. Thread-safe.
 */
public interface Registry extends AutoCloseable {

    /** Opens registries of some kinds. */
    interface Factory {

        /** Whether this factory opens addresses with this scheme. */
        boolean accepts(String scheme);

        /** @throws IllegalArgumentException if the address has wrong or missing parts */
        Registry open(RegistryUrl url);
    }

    RegistryUrl url();

    /**
     * An address of the registry, towards which the route of this machine is looked up. Null for a registry without the
     * network, such as a file.
     */
    @Nullable
    InetSocketAddress remoteAddress();

    /** Starts to publish a provider and returns at once. */
    Publication publish(Registration registration);

    /** A source of the providers of a service. Sources of equal subscriptions have equal keys. */
    EndpointSource source(Subscription subscription);

    /** Closes without waiting. Ephemeral entries end with it. */
    @Override
    void close();
}
