package tern.rpc.registry.dubbo;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import tern.rpc.endpoint.Attributes;
import tern.rpc.endpoint.PublishedToken;

/**
 * Reads a provider's attributes from the parameters of its registry entries. An invalid value is treated like a
 * missing one. Not thread-safe.
 */
public final class ReadAttributes {

    static final String WEIGHT = "weight";
    static final String WARMUP = "warmup";
    static final String ZONE = "zone";
    static final String TAG = Attributes.TAG;
    static final String TIMESTAMP = "timestamp";
    static final String TOKEN = "token";

    /** The names of all parameters that are read from a registry entry. */
    static final List<String> NAMES = List.of(TAG, TIMESTAMP, TOKEN, WEIGHT, ZONE);

    private static final int MAX_WEIGHT = 1_000_000;
    private static final int MAX_SHARED = 10_000;

    private final Map<Attributes, Attributes> shared = new HashMap<>();

    /**
     * Reads attributes. Returns the same object for equal attributes without a start time. Attributes that differ only
     * in the start time share their strings and tags.
     *
     * @param parameter returns the value of a parameter; null if the parameter is missing
     * @param revision the revision; empty if unknown
     */
    public Attributes of(Function<String, @Nullable String> parameter, String revision) {
        String tag = parameter.apply(TAG);
        String zone = parameter.apply(ZONE);
        Attributes read = new Attributes(
                (int) number(parameter.apply(WEIGHT), Attributes.DEFAULT_WEIGHT, MAX_WEIGHT),
                zone == null ? "" : zone,
                // The tag is not shortened. With a shortened tag, calls with a similar tag could reach this provider.
                tag == null || tag.isEmpty() ? Map.of() : Map.of(TAG, tag),
                revision,
                0,
                false,
                token(parameter.apply(TOKEN)));
        // Attributes with a long tag are not cached, because the cache would keep the tag after its last provider has
        // been removed.
        Attributes unstarted = tag != null && tag.length() > Limits.MAX_ATTRIBUTE ? read : shared(read);
        long startedAt = startedAtMillis(parameter.apply(TIMESTAMP));
        return startedAt == 0 ? unstarted : unstarted.withStartedAt(startedAt);
    }

    private Attributes shared(Attributes read) {
        if (shared.size() >= MAX_SHARED) {
            // Only the cache is cleared. Attribute objects that are in use stay in memory, because providers refer to
            // them.
            shared.clear();
        }
        Attributes same = shared.putIfAbsent(read, read);
        return same == null ? read : same;
    }

    private static @Nullable PublishedToken token(@Nullable String text) {
        return text == null || !PublishedToken.isUsable(text) ? null : new PublishedToken(text);
    }

    static long startedAtMillis(@Nullable String text) {
        return number(text, 0, Long.MAX_VALUE);
    }

    private static long number(@Nullable String text, long otherwise, long most) {
        if (text == null || text.isEmpty()) {
            return otherwise;
        }
        try {
            long number = Long.parseLong(text);
            return number < 0 ? otherwise : Math.min(number, most);
        } catch (NumberFormatException e) {
            return otherwise;
        }
    }
}
