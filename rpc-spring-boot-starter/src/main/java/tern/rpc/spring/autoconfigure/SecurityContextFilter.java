package tern.rpc.spring.autoconfigure;

import java.util.concurrent.CompletionStage;
import org.springframework.security.core.Authentication;
import org.springframework.security.core.context.SecurityContext;
import org.springframework.security.core.context.SecurityContextHolder;
import tern.rpc.Invocation;
import tern.rpc.Invoker;
import tern.rpc.Response;
import tern.rpc.ServerContext;
import tern.rpc.ServerFilter;

/**
 * Sets the caller in Spring Security's context while the method runs. Stream callbacks that run later have no security
 * context and must use {@link ServerContext#principal()} instead. Thread-safe.
 */
final class SecurityContextFilter implements ServerFilter {

    @Override
    public CompletionStage<Response> invoke(Invocation call, Invoker next) {
        ServerContext serving = ServerContext.current();
        if (serving == null || !(serving.principal() instanceof Authentication caller)) {
            return next.invoke(call);
        }
        SecurityContext before = SecurityContextHolder.getContext();
        SecurityContext own = SecurityContextHolder.createEmptyContext();
        own.setAuthentication(caller);
        SecurityContextHolder.setContext(own);
        try {
            return next.invoke(call);
        } finally {
            if (before.getAuthentication() == null) {
                SecurityContextHolder.clearContext();
            } else {
                SecurityContextHolder.setContext(before);
            }
        }
    }
}
