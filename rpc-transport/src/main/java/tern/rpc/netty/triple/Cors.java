package tern.rpc.netty.triple;

import java.time.Duration;
import java.util.Locale;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;

/**
 * The other origins whose pages may make calls (CORS, docs/wire-protocol.md 4.8). Immutable.
 *
 * @param origins the origins in the form that browsers send, such as {@code https://shop.example} or {@code
 *     http://localhost:3000}; {@code *} for all
 * @param headers the request headers that pages from these origins may set; empty for all
 * @param credentials whether browsers may send cookies; must be false if the origins are {@code *}
 * @param maxAge how long browsers may cache the permission
 */
public record Cors(Set<String> origins, Set<String> headers, boolean credentials, Duration maxAge) {

    private static final String ALL = "*";
    private static final Pattern ORIGIN = Pattern.compile("[a-z][a-z0-9+.-]*://[^/?#@\\s,*]+");

    /** @throws IllegalArgumentException if a value is invalid; the message contains the value */
    public Cors {
        Set<String> lower = new TreeSet<>();
        for (String origin : origins) {
            String written = origin.trim().toLowerCase(Locale.ROOT);
            if (!written.equals(ALL) && !ORIGIN.matcher(written).matches()) {
                throw new IllegalArgumentException("'" + origin
                        + "' is not an origin; expected a scheme, a host and no path, as in https://shop.example");
            }
            lower.add(written);
        }
        if (lower.contains(ALL) && credentials) {
            throw new IllegalArgumentException("every origin cannot be combined with credentials; list the origins");
        }
        origins = Set.copyOf(lower);
        headers = Set.copyOf(headers);
    }

    /** Creates settings that allow no other origins. */
    public static Cors off() {
        return new Cors(Set.of(), Set.of(), false, Duration.ofMinutes(10));
    }

    boolean isOff() {
        return origins.isEmpty();
    }

    boolean allowsAll() {
        return origins.contains(ALL);
    }

    boolean allows(CharSequence origin) {
        return allowsAll() || origins.contains(origin.toString().toLowerCase(Locale.ROOT));
    }
}
