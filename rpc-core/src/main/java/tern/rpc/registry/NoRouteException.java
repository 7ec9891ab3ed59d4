package tern.rpc.registry;

import org.jspecify.annotations.Nullable;

/**
 * Thrown if this process has no route to a registry, for example because the registry's name cannot be looked up.
 * Without a route to the registry, the address to publish is unknown. A route may become available later.
 */
public final class NoRouteException extends IllegalArgumentException {

    private static final long serialVersionUID = 1;

    NoRouteException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }
}
