package tern.rpc.registry;

import java.net.InetSocketAddress;
import java.util.List;
import java.util.function.Consumer;
import tern.rpc.endpoint.EndpointSource;

/**
 * A registry of providers. A registry connects lazily, when the first registration is published or the first source is
 * started. If the registry is unreachable, this object tries to connect again until it is closed. Thread-safe.
 */
public interface Registry extends AutoCloseable {

    /** Opens registries of one or more kinds. */
    interface Factory {

        /** Returns whether this factory opens registries whose addresses have the given scheme. */
        boolean accepts(String scheme);

        /** @throws IllegalArgumentException if a part of the address is invalid or missing */
        Registry open(RegistryUrl url);
    }

    RegistryUrl url();

    /**
     * Returns the addresses of the registry's servers, without looking up their names, or an empty list for a registry
     * that needs no network, such as a file. This process uses these addresses to determine its own address on the
     * route to the registry.
     */
    List<InetSocketAddress> remoteAddresses();

    /** Starts publishing a provider. Does not block. */
    Publication publish(Registration registration);

    /**
     * Returns a source of the providers of a service. Sources for equal subscriptions have equal
     * {@linkplain EndpointSource#key() keys}, so that several references can share one source.
     */
    EndpointSource source(Subscription subscription);

    /**
     * Watches the rules that limit a provider's running calls. Rules for addresses apply to the address that the
     * provider published last. A registry without such rules never calls the listener.
     *
     * @param limits receives the limits after each change, on a thread of the registry; a later limit of a method takes
     *     precedence over an earlier one
     */
    default void watchLimits(Registration registration, Consumer<List<RuledLimit>> limits) {}

    /** Closes the registry. Does not block. Ephemeral entries disappear with the connection. */
    @Override
    void close();
}
