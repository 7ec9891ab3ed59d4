package tern.rpc.spring;

import java.security.Principal;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.springframework.security.authentication.AuthenticationManager;
import org.springframework.security.authentication.AuthenticationServiceException;
import org.springframework.security.core.Authentication;
import org.springframework.security.core.AuthenticationException;
import tern.rpc.CallHead;
import tern.rpc.RpcAuthorizer;

/**
 * Authenticates callers with Spring Security. The {@link Authentication} becomes {@link
 * tern.rpc.ServerContext#principal()}. The {@link Authentication} is also set in the security context of the thread
 * that runs the method, so annotations such as {@code @PreAuthorize} work.
 *
 * <pre>
 * &#64;Bean
 * RpcAuthorizer rpcSecurity(AuthenticationManager manager) {
 *     return new AuthenticationAuthorizer(
 *             manager,
 *             call -&gt; call.bearerToken() == null ? null : new BearerTokenAuthenticationToken(call.bearerToken()));
 * }
 * </pre>
 *
 * <p>Needs {@code spring-security-core}. Thread-safe if the manager and the function are thread-safe.
 */
public final class AuthenticationAuthorizer implements RpcAuthorizer {

    private final AuthenticationManager manager;
    private final Function<CallHead, @Nullable Authentication> shown;

    /**
     * Creates an authorizer.
     *
     * @param manager the manager that authenticates callers; the call's worker thread waits for the manager's result
     * @param shown extracts the credentials of a call, such as a bearer token or the principal of its certificate; if
     *     it returns null, the call is refused as UNAUTHENTICATED
     */
    public AuthenticationAuthorizer(AuthenticationManager manager, Function<CallHead, @Nullable Authentication> shown) {
        this.manager = manager;
        this.shown = shown;
    }

    @Override
    public Principal authorize(CallHead call) {
        Authentication credentials = shown.apply(call);
        if (credentials == null) {
            throw RpcAuthorizer.unauthenticated(call + " was refused: it has no credentials");
        }
        Authentication found;
        try {
            found = manager.authenticate(credentials);
        } catch (AuthenticationServiceException e) {
            throw e; // The authentication failed for a reason that is not the caller's fault.
        } catch (AuthenticationException e) { // The cause is omitted, because its message can contain the credentials.
            throw RpcAuthorizer.unauthenticated(call + " was refused: its credentials are not accepted");
        }
        if (found == null || !found.isAuthenticated()) {
            throw RpcAuthorizer.unauthenticated(call + " was refused: its credentials are not accepted");
        }
        return found;
    }
}
