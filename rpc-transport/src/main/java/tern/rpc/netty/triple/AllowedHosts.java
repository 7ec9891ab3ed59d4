package tern.rpc.netty.triple;

import io.netty.handler.codec.http2.Http2Headers;
import io.netty.util.AsciiString;
import io.netty.util.NetUtil;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * The host names that HTTP requests may contain. The check of the host name prevents DNS rebinding. In DNS rebinding, a
 * web page makes its own host name resolve to this server, and browsers then treat the server as part of the page's
 * site. The check must take linear time, because unauthenticated callers can send headers of up to 32 KiB. Immutable.
 */
final class AllowedHosts {

    /** The maximum length of a host name, in characters (RFC 1035, 2.3.4). */
    static final int MAX_NAME = 253;

    private static final AsciiString HOST = AsciiString.cached("host");
    private static final Pattern NAME = Pattern.compile("(\\*\\.)?[a-z0-9_]([a-z0-9_.-]*[a-z0-9_])?|\\[[0-9a-f:.]+]");

    private final Set<String> names;
    private final Set<String> exact;
    private final List<String> suffixes; // the endings of allowed names, such as .shop.example for *.shop.example

    /**
     * @param names host names without ports; {@code *.shop.example} for all subdomains; empty to allow any host
     * @throws IllegalArgumentException if a name is not a host name; the message contains the name
     */
    AllowedHosts(Set<String> names) {
        Set<String> lower = new TreeSet<>();
        for (String name : names) {
            String written = name.trim().toLowerCase(Locale.ROOT);
            if (written.length() > MAX_NAME || !NAME.matcher(written).matches()) {
                throw new IllegalArgumentException("'" + name
                        + "' is not a host; expected a name or an address without scheme and port, as in orders.internal,"
                        + " *.shop.example, 10.0.0.7 or [::1]");
            }
            lower.add(written);
        }
        this.names = Set.copyOf(lower);
        this.exact = lower.stream().filter(name -> !isWildcard(name)).collect(Collectors.toUnmodifiableSet());
        this.suffixes = lower.stream()
                .filter(AllowedHosts::isWildcard)
                .map(name -> name.substring(1))
                .toList();
    }

    private static boolean isWildcard(String name) {
        return name.startsWith("*");
    }

    /** Returns the allowed host names in lower case. */
    Set<String> names() {
        return names;
    }

    /** Returns the host in the request, for error messages; null if the request contains none. */
    static @Nullable String written(Http2Headers head) {
        CharSequence host = head.authority() != null ? head.authority() : head.get(HOST);
        return host == null ? null : host.toString();
    }

    /**
     * Returns whether every host in the request is allowed. The local address of the connection is always allowed,
     * because health probes and consumers of a registry use it. The local address is safe, because a web page with this
     * address as its host was loaded from this machine, without resolving a name. Other IP addresses are not allowed,
     * because a network device can redirect connections for any address to this machine.
     *
     * @param local the address at which the connection arrived
     */
    boolean allow(Http2Headers head, SocketAddress local) {
        if (names.isEmpty()) {
            return true;
        }
        CharSequence authority = head.authority();
        CharSequence host = head.get(HOST);
        return (authority != null || host != null)
                && (authority == null || allows(authority, local))
                && (host == null || allows(host, local));
    }

    private boolean allows(CharSequence written, SocketAddress local) {
        String name = nameOf(written.toString().toLowerCase(Locale.ROOT));
        if (name == null) {
            return false;
        }
        return exact.contains(name) || suffixes.stream().anyMatch(name::endsWith) || isAddressOf(name, local);
    }

    private static boolean isAddressOf(String name, SocketAddress local) {
        if (!(local instanceof InetSocketAddress arrived) || arrived.getAddress() == null) {
            return false;
        }
        InetAddress address = arrived.getAddress();
        String literal = name.startsWith("[") ? name.substring(1, name.length() - 1) : name;
        return (NetUtil.isValidIpV4Address(literal) || name.startsWith("["))
                && address.equals(NetUtil.createInetAddressFromIpAddressString(literal));
    }

    /**
     * Returns the host name without a port or trailing dot; null if the string is not a host name with an optional
     * port.
     */
    private static @Nullable String nameOf(String written) {
        int colon = written.lastIndexOf(':');
        boolean hasPort = colon > written.lastIndexOf(']');
        String name = hasPort ? written.substring(0, colon) : written;
        if (hasPort && !written.substring(colon + 1).chars().allMatch(one -> one >= '0' && one <= '9')) {
            return null;
        }
        String bare = name.endsWith(".") ? name.substring(0, name.length() - 1) : name;
        return bare.length() <= MAX_NAME
                        && !isWildcard(bare)
                        && NAME.matcher(bare).matches()
                ? bare
                : null;
    }
}
