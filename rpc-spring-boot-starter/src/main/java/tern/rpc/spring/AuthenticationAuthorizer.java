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
 * Lets Spring Security find out who calls. The {@link Authentication} is {@link tern.rpc.ServerContext#principal()} then,
 * and in the security context of the thread that runs the method, so that {@code @PreAuthorize} and the like work there.
 *
 * <pre>{@code
 * @Bean
 * RpcAuthorizer rpcSecurity(AuthenticationManager manager) {
 *     return new AuthenticationAuthorizer(
 *             manager,
 *             call -> call.bearerToken() == null ? null : new BearerTokenAuthenticationToken(call.bearerToken()));
 * }
 * }</pre>
 *
 * <p>Needs {@code spring-security-core}. Thread-safe as far as what it is made of is.
 */
public final class AuthenticationAuthorizer implements RpcAuthorizer {

    private final AuthenticationManager manager;
    private final Function<CallHead, @Nullable Authentication> shown;

    /**
     * @param manager blocks the worker of the call meanwhile
     * @param shown what a call shows of its caller: a bearer token, or the principal of its certificate; null for nothing,
     *     which refuses the call as UNAUTHENTICATED
     */
    public AuthenticationAuthorizer(AuthenticationManager manager, Function<CallHead, @Nullable Authentication> shown) {
        this.manager = manager;
        this.shown = shown;
    }

    @Override
    public Principal authorize(CallHead call) {
        Authentication credentials = shown.apply(call);
        if (credentials == null) {
            throw RpcAuthorizer.unauthenticated(call + " was refused: it shows no credentials");
        }
        Authentication found;
        try {
            found = manager.authenticate(credentials);
        } catch (AuthenticationServiceException e) {
            throw e; // it is not known who calls, and that is not the caller's fault
        } catch (AuthenticationException e) { // its message may repeat what was shown
            throw RpcAuthorizer.unauthenticated(call + " was refused: its credentials are not accepted");
        }
        if (found == null || !found.isAuthenticated()) {
            throw RpcAuthorizer.unauthenticated(call + " was refused: its credentials are not accepted");
        }
        return found;
    }
}
