package tern.rpc.registry;

import java.net.InetSocketAddress;
import org.jspecify.annotations.Nullable;
import tern.rpc.endpoint.EndpointSource;

/**
 * A registry of providers. It connects lazily, when the first registration is published or the first source is started.
 * If the registry is unreachable, it keeps trying until it is closed. Thread-safe.
 */
public interface Registry extends AutoCloseable {

    /** Opens registries of one or more kinds. */
    interface Factory {

        /** Returns whether this factory opens registries whose addresses have this scheme. */
        boolean accepts(String scheme);

        /** @throws IllegalArgumentException if a part of the address is invalid or missing */
        Registry open(RegistryUrl url);
    }

    RegistryUrl url();

    /**
     * Returns an address of the registry, or null for a registry that needs no network, such as a file. This process
     * uses the address to find its route to the registry.
     */
    @Nullable
    InetSocketAddress remoteAddress();

    /** Starts publishing a provider. Does not block. */
    Publication publish(Registration registration);

    /**
     * Returns a source of the providers of a service. Sources for equal subscriptions have equal
     * {@linkplain EndpointSource#key() keys}, so that several references can share one source.
     */
    EndpointSource source(Subscription subscription);

    /** Closes the registry. Does not block. Ephemeral entries disappear with the connection. */
    @Override
    void close();
}
