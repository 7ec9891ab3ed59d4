package tern.rpc.endpoint;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * Removes repeated endpoints from a list, even if their addresses are spelled differently. Keeps the first occurrence
 * of each endpoint. Otherwise, a provider that is listed twice would get two connections and twice its share of the
 * calls.
 */
final class DistinctEndpoints {

    /** The number of 16-bit groups in an IPv6 address. */
    private static final int GROUPS = 8;

    private static final int IPV4_BYTES = 4;

    private DistinctEndpoints() {}

    static List<Instance> of(Iterable<Instance> instances) {
        Set<Endpoint> seen = new HashSet<>();
        // For each address, true if the first entry with this address was listed without a host name.
        Map<Endpoint, Boolean> addresses = new HashMap<>();
        List<Instance> distinct = new ArrayList<>();
        for (Instance each : instances) {
            Endpoint endpoint = canonical(each.endpoint());
            boolean isUnnamed = endpoint.name().equals(endpoint.host());
            Boolean known = addresses.putIfAbsent(
                    new Endpoint(endpoint.host(), endpoint.port(), "", endpoint.protocol()), isUnnamed);
            // An address and a name that resolves to it belong to one provider. Two names of one address may belong to
            // two providers behind a proxy, which chooses the provider by the name.
            boolean isSameProvider = known != null && (known || isUnnamed);
            if (!isSameProvider && seen.add(endpoint)) {
                distinct.add(endpoint.equals(each.endpoint()) ? each : new Instance(endpoint, each.attributes()));
            }
        }
        return List.copyOf(distinct);
    }

    private static Endpoint canonical(Endpoint endpoint) {
        String host = canonical(endpoint.host());
        // A dot at the end of a name affects the lookup, but it does not belong to the name in certificates.
        String name = endpoint.name().equals(endpoint.host()) ? host : canonical(endpoint.name());
        boolean isAbsolute = name.length() > 1 && name.endsWith(".");
        return new Endpoint(
                host, endpoint.port(), isAbsolute ? name.substring(0, name.length() - 1) : name, endpoint.protocol());
    }

    /** Returns the host in lower case. IPv6 addresses are returned in the form of RFC 5952. */
    private static String canonical(String host) {
        int scope = host.indexOf('%'); // the character % precedes the name of a network interface, whose case matters
        String address = (scope < 0 ? host : host.substring(0, scope)).toLowerCase(Locale.ROOT);
        String suffix = scope < 0 ? "" : host.substring(scope);
        return (isIpv6(address) ? shortened(address) : address) + suffix;
    }

    private static boolean isIpv6(String address) {
        return address.indexOf(':') >= 0
                && address.chars().allMatch(c -> c == ':' || c == '.' || Character.digit(c, 16) >= 0);
    }

    private static String shortened(String address) {
        byte[] bytes;
        try {
            bytes = InetAddress.getByName(address).getAddress(); // a text that contains a colon is never looked up
        } catch (UnknownHostException e) {
            return address; // the text is not an address
        }
        if (bytes.length == IPV4_BYTES) { // the text is an IPv4-mapped address, such as ::ffff:10.0.0.7
            return (bytes[0] & 0xFF) + "." + (bytes[1] & 0xFF) + "." + (bytes[2] & 0xFF) + "." + (bytes[3] & 0xFF);
        }
        int longest = 0;
        int start = -1; // the index of the first group in the longest run of zero groups
        for (int i = 0; i < GROUPS; i++) {
            int end = i;
            while (end < GROUPS && group(bytes, end) == 0) {
                end++;
            }
            if (end - i > Math.max(1, longest)) {
                longest = end - i;
                start = i;
            }
        }
        return start < 0
                ? groups(bytes, 0, GROUPS)
                : groups(bytes, 0, start) + "::" + groups(bytes, start + longest, GROUPS);
    }

    private static String groups(byte[] address, int from, int to) {
        return IntStream.range(from, to)
                .mapToObj(i -> Integer.toHexString(group(address, i)))
                .collect(Collectors.joining(":"));
    }

    private static int group(byte[] address, int index) {
        return (address[2 * index] & 0xFF) << Byte.SIZE | (address[2 * index + 1] & 0xFF);
    }
}
