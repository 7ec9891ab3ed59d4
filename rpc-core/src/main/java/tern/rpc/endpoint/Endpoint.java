package tern.rpc.endpoint;

/**
 * One address of a provider.
 *
 * @param host a name or an IP address, IPv6 without brackets
 * @param weight its share of the calls relative to the others; 0 gets no calls while another one is available
 * @param name the name that the provider's certificate must contain: the looked-up name, or the host itself
 */
public record Endpoint(String host, int port, int weight, String name) {

    /** The default weight, equal to Dubbo's. */
    public static final int DEFAULT_WEIGHT = 100;

    public Endpoint {
        if (host.isEmpty() || port < 0 || port > 65_535) {
            throw new IllegalArgumentException("'" + host + ":" + port + "' is not an address; expected host:port");
        }
        if (weight < 0) {
            throw new IllegalArgumentException(
                    "weight of " + host + ":" + port + " is " + weight + "; expected 0 or more");
        }
    }

    public Endpoint(String host, int port, int weight) {
        this(host, port, weight, host);
    }

    public Endpoint(String host, int port) {
        this(host, port, DEFAULT_WEIGHT);
    }

    /** {@code host:port}, with brackets around IPv6. The host alone if there is no port, as in memory. */
    @Override
    public String toString() {
        if (port == 0) {
            return host;
        }
        return host.indexOf(':') < 0 ? host + ":" + port : "[" + host + "]:" + port;
    }
}
