package tern.rpc;

import java.net.SocketAddress;
import java.security.Principal;
import org.jspecify.annotations.Nullable;

/**
 * The parts of a received call that are known before its arguments are decoded: service, method, metadata and caller.
 * Not thread-safe.
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

    /** Creates the head of a call that is not generic and has no deadline. */
    public CallHead(ServiceKey service, String method, Metadata metadata, ServerContext.Exchange exchange) {
        this(service, method, false, service + "/" + method, metadata, Deadline.none(), exchange);
    }

    /**
     * @param method the method name; for a generic call, the method named by an argument
     * @param generic whether an argument of the call names the method
     * @param written the names of the service and the method in the caller's spelling, for error messages to the
     *     caller. The text does not contain the server's name for the service, which would reveal that the service
     *     exists
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

    /** Returns a copy of this head with the given principal. */
    public CallHead withPrincipal(Principal principal) {
        return new CallHead(service, method, generic, written, metadata, deadline, exchange, principal);
    }

    /** Returns the interface, group and version of the called service. */
    public ServiceKey service() {
        return service;
    }

    /**
     * Returns the method name, without parameter types. For a generic call, this is the method named by an argument;
     * for an echo, {@code $echo}. The service may have no method with this name, because the method is looked up later.
     */
    public String method() {
        return method;
    }

    /**
     * Returns whether the call is generic. A generic call calls {@code $invoke} or {@code $invokeAsync}, and an
     * argument contains the name of the method.
     */
    public boolean isGeneric() {
        return generic;
    }

    /** Returns the time when the caller stops waiting; {@link Deadline#none()} if the call has no time limit. */
    public Deadline deadline() {
        return deadline;
    }

    /** Returns the request's headers. Dubbo calls them attachments. */
    public Metadata metadata() {
        return metadata;
    }

    /**
     * Returns the token in the {@code authorization: Bearer} header; null if the request does not contain this header.
     */
    public @Nullable String bearerToken() {
        return bearerOf(metadata.get("authorization"));
    }

    /** Returns the token in the value of an authorization header; null if the header's scheme is not {@code Bearer}. */
    public static @Nullable String bearerOf(@Nullable String authorization) {
        return authorization != null && authorization.regionMatches(true, 0, BEARER, 0, BEARER.length())
                ? authorization.substring(BEARER.length()).trim()
                : null;
    }

    /**
     * Returns the caller: the principal returned by an earlier authorizer or, without such a principal, the subject of
     * the verified TLS certificate. Returns null if the caller is unknown.
     */
    public @Nullable Principal principal() {
        return principal;
    }

    /** Returns the caller's address; null if the caller is in the same process. */
    public @Nullable SocketAddress remoteAddress() {
        return exchange.remoteAddress();
    }

    /**
     * Returns the protocol: {@code dubbo}, {@code tri}, {@code grpc-web}, {@code connect}, {@code http}, {@code local}
     * or {@code console}.
     */
    public String protocol() {
        return exchange.protocol();
    }

    /** Returns the names of the service and the method in the caller's spelling. */
    @Override
    public String toString() {
        return written;
    }
}
