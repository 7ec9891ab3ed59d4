package tern.rpc.client;

import java.util.Set;
import tern.rpc.ServiceKey;

/** Thrown when the client has no transport for the protocol that a reference names. */
public final class UnknownProtocolException extends IllegalArgumentException {

    private static final long serialVersionUID = 1L;

    private final String protocol;

    UnknownProtocolException(String protocol, ServiceKey service, Set<String> known) {
        super("protocol '" + protocol + "' of " + service + " is not known; "
                + (known.isEmpty()
                        ? "the client has no transport, so add one for this protocol to its builder"
                        : "expected one of " + known + instead(protocol)));
        this.protocol = protocol;
    }

    /** Returns the protocol that the reference names. */
    public String protocol() {
        return protocol;
    }

    /** Returns the advice for a protocol name that is used only by other frameworks; empty if there is no advice. */
    private static String instead(String protocol) {
        return switch (protocol) {
            case "grpc", "h2c", "h2", "http2", "triple" -> "; tri is the protocol for gRPC, which uses HTTP/2";
            case "grpcs", "tris" -> "; tri is the protocol for gRPC, and rpc.client.ssl.bundle adds TLS";
            case "https" ->
                "; http is the protocol for JSON and tri the protocol for gRPC, and rpc.client.ssl.bundle adds TLS";
            case "injvm" -> "; the address local is the server of the same application";
            case "rest" -> "; http is the protocol for JSON";
            case "dns", "discovery", "lb", "static", "xds" ->
                "; write the host and port after a known protocol, such as tri://host:9090";
            case "consul", "etcd", "eureka", "multicast", "nacos", "polaris", "redis" ->
                "; the supported registries are zookeeper and file (docs/registries.md)";
            default -> "";
        };
    }
}
