package tern.rpc.endpoint;

/**
 * The identity of a provider: its address and protocol. All other properties of a provider are {@link Attributes},
 * which can change without a new connection.
 *
 * @param host a name or an IP address; an IPv6 address has no brackets
 * @param name the name that clients use for the provider and that its certificate must contain: the name that was
 *     looked up, or the host itself
 * @param protocol the transport's protocol, such as {@code tri}, or empty for the reference's protocol
 */
public record Endpoint(String host, int port, String name, String protocol) {

    private static final int MAX_PORT = 65_535;

    /** The prefix of an IPv4-mapped IPv6 address. */
    private static final String MAPPED = "::ffff:";

    /** The number of digits in the first group of an IPv6 multicast address, which begins with {@code ff}. */
    private static final int MULTICAST_GROUP_DIGITS = 4;

    private static final int MAX_OCTET_DIGITS = 3;
    private static final int FIRST_MULTICAST = 224;
    private static final int LAST_MULTICAST = 239;

    public Endpoint {
        if (host.isEmpty() || port < 0 || port > MAX_PORT) {
            throw new IllegalArgumentException("'" + host + ":" + port + "' is not an address; expected host:port");
        }
    }

    /** Creates an endpoint that uses the protocol of its reference. */
    public Endpoint(String host, int port, String name) {
        this(host, port, name, "");
    }

    public Endpoint(String host, int port) {
        this(host, port, host);
    }

    /**
     * Returns whether the address can belong to a single provider. Unspecified addresses such as {@code 0.0.0.0}, all
     * other addresses in {@code 0.0.0.0/8}, multicast addresses and {@code 255.255.255.255} cannot belong to a
     * provider. For example, a connection to {@code 0.0.0.0} reaches the client's own machine. If the host is a name,
     * returns true without looking the name up.
     */
    public boolean mayBeProvider() {
        if (!Character.isDigit(host.charAt(0)) && host.indexOf(':') < 0) {
            return true; // the host is a name and not an IP address
        }
        String address = host.regionMatches(true, 0, MAPPED, 0, MAPPED.length()) && host.indexOf('.') > 0
                ? host.substring(MAPPED.length())
                : host;
        if (consistsOf(address, "0.:")) {
            return false;
        }
        if (address.indexOf(':') >= 0) {
            return !(address.regionMatches(true, 0, "ff", 0, 2) && address.indexOf(':') == MULTICAST_GROUP_DIGITS);
        }
        return !consistsOf(address, "0123456789.") || mayBeProvider(address);
    }

    private static boolean mayBeProvider(String numeric) {
        int dot = numeric.indexOf('.');
        if (dot < 1 || dot > MAX_OCTET_DIGITS) {
            return true;
        }
        int first = Integer.parseInt(numeric, 0, dot, 10);
        boolean isMulticast = first >= FIRST_MULTICAST && first <= LAST_MULTICAST;
        return first != 0 && !isMulticast && !numeric.equals("255.255.255.255");
    }

    private static boolean consistsOf(String text, String characters) {
        for (int i = 0; i < text.length(); i++) {
            if (characters.indexOf(text.charAt(i)) < 0) {
                return false;
            }
        }
        return true;
    }

    /**
     * Returns {@code host:port}, with brackets around an IPv6 address. For the in-memory transport, whose port is 0,
     * returns only the host.
     */
    @Override
    public String toString() {
        return port == 0 ? host : withPort(host);
    }

    /**
     * Returns {@code name:port} for the header {@code host} or {@code :authority}. Proxies choose the provider by this
     * name.
     */
    public String authority() {
        return withPort(name);
    }

    private String withPort(String text) {
        return text.indexOf(':') < 0 ? text + ":" + port : "[" + text + "]:" + port;
    }
}
