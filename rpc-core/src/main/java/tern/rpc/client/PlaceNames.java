package tern.rpc.client;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;
import tern.rpc.endpoint.Endpoint;

/**
 * The names of one method at its providers, such as {@code StockService.reserve at 10.0.0.7:20880}. The ledgers of
 * served calls use these names, so that a slow provider can be distinguished from a slow method. Thread-safe.
 */
final class PlaceNames {

    /** The maximum number of names. Without this limit, frequently changing providers could exhaust the memory. */
    private static final int MAX_NAMES = 1_024;

    private final String method;
    private final Map<Endpoint, String> names = new ConcurrentHashMap<>();

    PlaceNames(String method) {
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
}
