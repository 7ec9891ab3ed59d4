package tern.rpc;

import java.net.SocketAddress;
import java.security.Principal;
import org.jspecify.annotations.Nullable;

/**
 * The head of a received call, known before its arguments are created: service, method, metadata and caller. Not
 * thread-safe.
 */
public final class CallHead {

    private static final String BEARER = "Bearer ";

    private final ServiceKey service;
    private final String method;
    private final boolean generic;
    private final String written;
    private final Metadata metadata;
    private final Deadline deadline;
    private final ServerContext.Exchange exchange;
    private final @Nullable Principal principal;

    /** Creates the head of a call without a deadline that is not generic. */
    public CallHead(ServiceKey service, String method, Metadata metadata, ServerContext.Exchange exchange) {
        this(service, method, false, service + "/" + method, metadata, Deadline.none(), exchange);
    }

    /**
     * @param method the method; for a generic call, the method named by its argument
     * @param generic whether an argument names the method
     * @param written service and method as the caller wrote them, for messages to the caller. The exported spelling
     *     would reveal that the service is exported
     */
    public CallHead(
            ServiceKey service,
            String method,
            boolean generic,
            String written,
            Metadata metadata,
            Deadline deadline,
            ServerContext.Exchange exchange) {
        this(service, method, generic, written, metadata, deadline, exchange, exchange.peerPrincipal());
    }

    private CallHead(
            ServiceKey service,
            String method,
            boolean generic,
            String written,
            Metadata metadata,
            Deadline deadline,
            ServerContext.Exchange exchange,
            @Nullable Principal principal) {
        this.service = service;
        this.method = method;
        this.generic = generic;
        this.written = PeerText.name(written);
        this.metadata = metadata;
        this.deadline = deadline;
        this.exchange = exchange;
        this.principal = principal;
    }

    /** Returns a copy of this head with another principal. */
    public CallHead withPrincipal(Principal principal) {
        return new CallHead(service, method, generic, written, metadata, deadline, exchange, principal);
    }

    /** The interface, group and version. */
    public ServiceKey service() {
        return service;
    }

    /**
     * The method's name, without its overload. For a generic call this is the method named in the call; for an echo it
     * is {@code $echo}. The method is looked up later, so it may not exist.
     */
    public String method() {
        return method;
    }

    /** Whether the call uses {@code $invoke} or {@code $invokeAsync}, where an argument names the method. */
    public boolean isGeneric() {
        return generic;
    }

    /** The time until which the caller waits. */
    public Deadline deadline() {
        return deadline;
    }

    /** The headers of the request. Dubbo calls them attachments. */
    public Metadata metadata() {
        return metadata;
    }

    /** The token after {@code authorization: Bearer}; null if there is none. */
    public @Nullable String bearerToken() {
        return bearerOf(metadata.get("authorization"));
    }

    /** The token after the scheme in the value of an authorization header; null if there is none. */
    public static @Nullable String bearerOf(@Nullable String authorization) {
        return authorization != null && authorization.regionMatches(true, 0, BEARER, 0, BEARER.length())
                ? authorization.substring(BEARER.length()).trim()
                : null;
    }

    /**
     * The caller: the principal found by an earlier authorizer, or else the subject of the certificate that TLS
     * verified. Null if the caller is unknown.
     */
    public @Nullable Principal principal() {
        return principal;
    }

    /** The address of the caller; null if the caller is in the same process. */
    public @Nullable SocketAddress remoteAddress() {
        return exchange.remoteAddress();
    }

    /** The protocol: {@code dubbo}, {@code tri}, {@code grpc-web}, {@code connect}, {@code http}, {@code local} or {@code console}. */
    public String protocol() {
        return exchange.protocol();
    }

    /** The call as its caller named it, without metadata. */
    @Override
    public String toString() {
        return written;
    }
}
