package tern.rpc.registry.dubbo;

import java.net.URLDecoder;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.Collections;
import java.util.Map;
import java.util.TreeMap;
import tern.rpc.ServiceKey;

/**
 * An interface-level entry, which is the URL of one service in one process. In ZooKeeper the encoded URL is a node's
 * name.
 *
 * @param host the host; an IPv6 address has no brackets
 * @param path the interface, without a group or version
 * @param parameters the parameters, sorted by key
 */
public record ProviderUrl(String protocol, String host, int port, String path, Map<String, String> parameters) {

    public static final String INTERFACE = "interface";
    public static final String GROUP = "group";
    public static final String VERSION = "version";
    public static final String CATEGORY = "category";
    public static final String APPLICATION = "application";
    public static final String ENABLED = "enabled";
    public static final String DISABLED = "disabled";

    /** The parameter that contains the name of a second protocol on the same port. */
    public static final String FURTHER_PROTOCOL = "ext.protocol";

    /** The protocol of an entry that represents an empty list of providers. */
    public static final String NO_PROVIDER = "empty";

    private static final String SCHEME_END = "://";
    private static final int MAX_PORT = 65_535;

    public ProviderUrl {
        parameters = Collections.unmodifiableMap(new TreeMap<>(parameters));
    }

    /**
     * Parses a node's name.
     *
     * @throws IllegalArgumentException if the name is not the encoded URL of a provider, or exceeds the limits
     */
    public static ProviderUrl parseNode(String name) {
        checkNode(name);
        return parse(decoded(name));
    }

    private static String decoded(String name) {
        try {
            return URLDecoder.decode(name, StandardCharsets.UTF_8);
        } catch (IllegalArgumentException e) {
            // The caught exception is not set as the cause, because its message quotes the node's name, which can
            // contain a password.
            throw new IllegalArgumentException("a name that is not URL-encoded");
        }
    }

    /** @throws IllegalArgumentException if the name of a node is too long */
    static void checkNode(String name) {
        Limits.check("the length of the name", name.length(), Limits.MAX_ENTRY);
    }

    /**
     * Parses a URL.
     *
     * @throws IllegalArgumentException if the string is not a provider's URL, or exceeds the limits
     */
    public static ProviderUrl parse(String url) {
        Limits.check("the length of the URL", url.length(), Limits.MAX_ENTRY);
        int scheme = url.indexOf(SCHEME_END);
        int query = url.indexOf('?');
        if (scheme < 1 || (query >= 0 && query < scheme)) {
            throw new IllegalArgumentException("a URL without a protocol");
        }
        String address = url.substring(scheme + SCHEME_END.length(), query < 0 ? url.length() : query);
        int slash = address.indexOf('/');
        String authority = slash < 0 ? address : address.substring(0, slash);
        String hostAndPort = authority.substring(authority.lastIndexOf('@') + 1);
        int colon = hostAndPort.lastIndexOf(':');
        boolean noPort = colon < 0 || hostAndPort.endsWith("]");
        return new ProviderUrl(
                url.substring(0, scheme),
                host(noPort ? hostAndPort : hostAndPort.substring(0, colon)),
                noPort ? 0 : port(hostAndPort.substring(colon + 1)),
                slash < 0 ? "" : address.substring(slash + 1),
                query < 0 ? Map.of() : parameters(url.substring(query + 1)));
    }

    static String host(String text) {
        String host = text.startsWith("[") && text.endsWith("]") ? text.substring(1, text.length() - 1) : text;
        if (!Hosts.isHost(host)) {
            throw new IllegalArgumentException("a URL without a valid host");
        }
        return host;
    }

    static int port(String text) {
        try {
            int port = Integer.parseInt(text);
            if (port < 0 || port > MAX_PORT) {
                throw new IllegalArgumentException("a URL with port " + port);
            }
            return port;
        } catch (NumberFormatException e) {
            throw new IllegalArgumentException("a URL whose port is not a number", e);
        }
    }

    private static Map<String, String> parameters(String query) {
        Map<String, String> parameters = new TreeMap<>();
        int start = 0;
        while (start < query.length()) {
            int end = query.indexOf('&', start);
            end = end < 0 ? query.length() : end;
            int equals = query.indexOf('=', start);
            if (equals > start && equals < end) {
                parameters.put(query.substring(start, equals), query.substring(equals + 1, end));
                Limits.check("the number of parameters", parameters.size(), Limits.MAX_KEYS);
            }
            start = end + 1;
        }
        return parameters;
    }

    public String parameter(String name) {
        return parameters.getOrDefault(name, "");
    }

    /**
     * Returns the service that the URL belongs to. The service name comes from the parameters or, if they contain no
     * name, from the path.
     */
    public ServiceKey service() {
        String name = parameter(INTERFACE);
        return new ServiceKey(name.isEmpty() ? path : name, parameter(GROUP), parameter(VERSION));
    }

    /** Returns the node name for this entry. */
    public String node() {
        return URLEncoder.encode(toString(), StandardCharsets.UTF_8);
    }

    @Override
    public String toString() {
        StringBuilder url = new StringBuilder(protocol).append("://");
        url.append(host.indexOf(':') < 0 ? host : "[" + host + "]");
        if (port > 0) {
            url.append(':').append(port);
        }
        url.append('/').append(path);
        char separator = '?';
        for (Map.Entry<String, String> parameter : parameters.entrySet()) {
            url.append(separator).append(parameter.getKey()).append('=').append(parameter.getValue());
            separator = '&';
        }
        return url.toString();
    }
}
