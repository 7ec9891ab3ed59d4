package tern.rpc;

import java.security.Principal;
import org.jspecify.annotations.Nullable;

/**
 * Decides whether a call may run, before any of its arguments is created. A stream is checked once, before its first
 * message is decoded. If there are several authorizers, all of them must agree; they are asked in turn. {@code Check}
 * and {@code Watch} of {@code grpc.health.v1.Health} are exempt, because probes have no identity. Calls of unknown
 * services and methods are checked too, so that strangers do not learn which ones exist.
 *
 * <p>Runs on the worker thread that will run the call, never on an event loop. It may block briefly, for example to
 * read a cache or a directory. The call keeps its worker meanwhile. The time counts towards the deadline. At the
 * deadline the caller is answered in any case. Many threads call it at once.
 * <pre>{@code
 *
 * @Bean RpcAuthorizer admins() { return call -> { if (call.method().startsWith("delete") && !isAdmin(call.principal()))
 *     { throw RpcAuthorizer.denied(call + " is for administrators"); } return null; }; } }</pre>
 */
@FunctionalInterface
public interface RpcAuthorizer {

    /**
     * Returns normally to admit the call.
     *
     * @return the caller, for {@link ServerContext#principal()} and the next authorizers; null to keep the principal as
     *     it is
     * @throws RpcException PERMISSION_DENIED or UNAUTHENTICATED to refuse the call. The caller gets the description and
     *     learns that the method did not run. Any other exception is a failure of the authorizer: it is logged, and the
     *     call is refused with INTERNAL
     */
    @Nullable
    Principal authorize(CallHead call);

    /** Creates an exception for a known caller who may not make this call. */
    static RpcException denied(String description) {
        return RpcException.refusal(StatusCode.PERMISSION_DENIED, description, RpcException.Executed.NO);
    }

    /** Creates an exception for an unknown caller. */
    static RpcException unauthenticated(String description) {
        return RpcException.refusal(StatusCode.UNAUTHENTICATED, description, RpcException.Executed.NO);
    }
}
