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
    private final Metadata metadata;
    private final ServerContext.Exchange exchange;
    private final @Nullable Principal principal;

    /** @param method of a generic call, the method that it means */
    public CallHead(ServiceKey service, String method, Metadata metadata, ServerContext.Exchange exchange) {
        this(service, method, metadata, exchange, exchange.peerPrincipal());
    }

    private CallHead(
            ServiceKey service,
            String method,
            Metadata metadata,
            ServerContext.Exchange exchange,
            @Nullable Principal principal) {
        this.service = service;
        this.method = method;
        this.metadata = metadata;
        this.exchange = exchange;
        this.principal = principal;
    }

    /** The same call by somebody who is known better. */
    public CallHead withPrincipal(Principal replaced) {
        return new CallHead(service, method, metadata, exchange, replaced);
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

    /** {@code dubbo}, {@code tri}, {@code grpc-web}, {@code connect}, {@code http} or {@code memory}. */
    public String protocol() {
        return exchange.protocol();
    }

    /** Names the call, never its metadata. */
    @Override
    public String toString() {
        return service + "/" + method;
    }
}
