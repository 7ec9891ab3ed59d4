package tern.rpc;

import java.net.SocketAddress;
import java.security.Principal;
import org.jspecify.annotations.Nullable;

/**
 * What is known of a received call before its arguments exist: what is called, what came along, and who calls. Not
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

    /** A call without a deadline, which names its method itself. */
    public CallHead(ServiceKey service, String method, Metadata metadata, ServerContext.Exchange exchange) {
        this(service, method, false, service + "/" + method, metadata, Deadline.none(), exchange);
    }

    /**
     * @param method of a generic call, the method that it means
     * @param generic whether the method is named by an argument
     * @param written service and method as the caller wrote them, for texts that the caller sees: a name in the form in
     *     which it is exported would tell that it is exported
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

    /** The same call by somebody who is known better. */
    public CallHead withPrincipal(Principal replaced) {
        return new CallHead(service, method, generic, written, metadata, deadline, exchange, replaced);
    }

    /** Interface, group and version. */
    public ServiceKey service() {
        return service;
    }

    /**
     * The name of the method, which overloads share. Of a generic call that of the method it means, of an echo
     * {@code $echo}. It may not exist: whether it does is looked up later.
     */
    public String method() {
        return method;
    }

    /** Whether the call goes by way of {@code $invoke} or {@code $invokeAsync}, and an argument names its method. */
    public boolean isGeneric() {
        return generic;
    }

    /** Until when the caller waits. */
    public Deadline deadline() {
        return deadline;
    }

    /** Headers, or attachments, of the request. */
    public Metadata metadata() {
        return metadata;
    }

    /** What stands behind {@code authorization: Bearer}; null if there is nothing. */
    public @Nullable String bearerToken() {
        return bearerOf(metadata.get("authorization"));
    }

    /** What stands behind the scheme in the value of an authorization; null if there is nothing. */
    public static @Nullable String bearerOf(@Nullable String authorization) {
        return authorization != null && authorization.regionMatches(true, 0, BEARER, 0, BEARER.length())
                ? authorization.substring(BEARER.length()).trim()
                : null;
    }

    /**
     * Who calls, as far as it is known: whom the authorizer before found, or else whom the certificate names, as checked
     * by TLS; null for somebody unknown.
     */
    public @Nullable Principal principal() {
        return principal;
    }

    /** Null when the caller is in the same process. */
    public @Nullable SocketAddress remoteAddress() {
        return exchange.remoteAddress();
    }

    /** {@code dubbo}, {@code tri}, {@code grpc-web}, {@code connect}, {@code http} or {@code local}. */
    public String protocol() {
        return exchange.protocol();
    }

    /** Names the call as its caller did, never its metadata. */
    @Override
    public String toString() {
        return written;
    }
}
