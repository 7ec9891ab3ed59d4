package tern.rpc.endpoint;

/**
 * The identity of a provider: its address and protocol. All other properties belong to its {@link Attributes} and may
 * change without a new connection.
 *
 * @param host a name or an IP address; an IPv6 address has no brackets
 * @param name the name that the provider's certificate must contain: the name that was looked up, or the host itself
 * @param protocol the transport's protocol, such as {@code tri}; empty for the reference's protocol
 */
public record Endpoint(String host, int port, String name, String protocol) {

    private static final int MAX_PORT = 65_535;

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
     * Returns {@code host:port}, with brackets around an IPv6 address. If the port is 0, as for the in-memory
     * transport, returns only the host.
     */
    @Override
    public String toString() {
        if (port == 0) {
            return host;
        }
        return host.indexOf(':') < 0 ? host + ":" + port : "[" + host + "]:" + port;
    }
}
