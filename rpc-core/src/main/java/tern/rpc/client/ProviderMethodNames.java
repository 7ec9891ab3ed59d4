package tern.rpc.client;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;
import tern.rpc.RpcException;
import tern.rpc.StatusCode;
import tern.rpc.endpoint.Endpoint;

/**
 * The names of one method at its providers, such as {@code StockService.reserve at 10.0.0.7:20880}. The ledgers of
 * served calls contain these names. The names show whether a single provider or the method itself is slow. Thread-safe.
 */
final class ProviderMethodNames {

    /** The maximum number of names. Without a limit, a frequently changing provider list could exhaust the memory. */
    private static final int MAX_NAMES = 1_024;

    private final String method;
    private final Map<Endpoint, String> names = new ConcurrentHashMap<>();

    ProviderMethodNames(String method) {
        this.method = method;
    }

    /** @param endpoint the provider's address; null if the call reached no provider */
    String at(@Nullable Endpoint endpoint) {
        if (endpoint == null) {
            return method;
        }
        String known = names.get(endpoint);
        if (known != null) {
            return known;
        }
        if (names.size() >= MAX_NAMES) {
            names.clear();
        }
        String made = method + " at " + endpoint;
        names.put(endpoint, made);
        return made;
    }

    /**
     * Returns the name of a call that has ended. If the provider failed, the name contains the status, for example
     * {@code StockService.reserve at 10.0.0.7:20880 (failed UNAVAILABLE)}. The diagnosis can then find failed calls
     * even if the application handles their exceptions, for example by retrying.
     *
     * @param endpoint the provider's address; null if the call reached no provider
     * @param failure the call's failure; null if the call succeeded
     */
    String at(@Nullable Endpoint endpoint, @Nullable Throwable failure) {
        return ended(at(endpoint), failure);
    }

    /**
     * Like {@link #at(Endpoint, Throwable)}, for a call whose name is known.
     *
     * @param name as returned by {@link #at(Endpoint)}
     */
    static String ended(String name, @Nullable Throwable failure) {
        return failure instanceof RpcException rpc && isFailureOfProvider(rpc.code())
                ? name + " (failed " + rpc.code() + ")"
                : name;
    }

    /**
     * Returns whether the status means that the provider failed. DEADLINE_EXCEEDED only means that the call was slow.
     * UNIMPLEMENTED is not a failure, because the body of a default method can run instead.
     */
    private static boolean isFailureOfProvider(StatusCode code) {
        return switch (code) {
            case OK, CANCELLED, DEADLINE_EXCEEDED, UNIMPLEMENTED -> false;
            default -> !code.blamesCaller();
        };
    }
}
