package tern.rpc;

import java.security.Principal;
import org.jspecify.annotations.Nullable;

/**
 * Decides whether a call may run, before any of its arguments are decoded. A stream is checked once, before its first
 * message is decoded. If there are several authorizers, the server calls them one after another, and all of them must
 * allow the call. {@code Check} and {@code Watch} of {@code grpc.health.v1.Health} are exempt, because health probes
 * have no identity. Calls to unknown services and methods are also checked, so that unauthorized callers do not learn
 * which services and methods exist.
 *
 * <p>An authorizer runs on the worker thread that will run the call, never on an event loop. An authorizer may block
 * briefly, for example to read a cache or a directory. During this time, the call occupies its worker, and the time
 * counts towards the deadline. At the deadline, the server answers the caller even if the authorizer has not returned.
 * Many threads may call an authorizer at the same time.
 *
 * <pre>{@code
 * @Bean
 * RpcAuthorizer admins() {
 *     return call -> {
 *         if (call.method().startsWith("delete") && !isAdmin(call.principal())) {
 *             throw RpcAuthorizer.denied(call + " is for administrators");
 *         }
 *         return null;
 *     };
 * }
 * }</pre>
 */
@FunctionalInterface
public interface RpcAuthorizer {

    /**
     * Checks a call. Returns normally to allow the call, or throws an exception to refuse it.
     *
     * @return the caller, for {@link ServerContext#principal()} and the next authorizers; null to keep the current
     *     principal
     * @throws RpcException PERMISSION_DENIED or UNAUTHENTICATED to refuse the call. The caller receives the description
     *     and learns that the method did not run. Any other exception is a failure of the authorizer: the server logs
     *     it and refuses the call with INTERNAL
     */
    @Nullable
    Principal authorize(CallHead call);

    /** Creates the exception for a known caller who is not allowed to make this call. */
    static RpcException denied(String description) {
        return RpcException.refusal(StatusCode.PERMISSION_DENIED, description, RpcException.Executed.NO);
    }

    /** Creates the exception for a caller that is not authenticated. */
    static RpcException unauthenticated(String description) {
        return RpcException.refusal(StatusCode.UNAUTHENTICATED, description, RpcException.Executed.NO);
    }
}
