package tern.rpc;

import java.security.Principal;
import org.jspecify.annotations.Nullable;

/**
 * Decides whether a call may run, before any of its arguments is created; of a stream once, before its first message is
 * read. Several are asked one after another, and all have to agree. {@code Check} and {@code Watch} of
 * {@code grpc.health.v1.Health} are not asked about, since probes have no identity. Calls of services and methods that do
 * not exist are, so that strangers do not learn which do.
 *
 * <p>Asked on the worker thread that will run the call, never on an event loop. It may block briefly, as for a look into a
 * cache or a directory: the call keeps its worker meanwhile, and the time counts towards its deadline, at
 * which the caller is answered in any case. Asked by many threads at once.
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
     * Returns to let the call pass.
     *
     * @return who calls, for {@link ServerContext#principal()} and the authorizers behind this one; null to leave that as
     *     it is
     * @throws RpcException PERMISSION_DENIED or UNAUTHENTICATED to refuse the call, which the caller is told with the
     *     description and that the method did not run. Anything else that is thrown is a failure of the authorizer: it is
     *     logged, and the call refused with INTERNAL
     */
    @Nullable
    Principal authorize(CallHead call);

    /** To be thrown when the caller is known and may not do this. */
    static RpcException denied(String description) {
        return RpcException.refusal(StatusCode.PERMISSION_DENIED, description, RpcException.Executed.NO);
    }

    /** To be thrown when it is not known who calls. */
    static RpcException unauthenticated(String description) {
        return RpcException.refusal(StatusCode.UNAUTHENTICATED, description, RpcException.Executed.NO);
    }
}
