package tern.rpc.spring.autoconfigure.web;

import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import org.jspecify.annotations.Nullable;
import org.springframework.core.Ordered;
import org.springframework.web.servlet.HandlerExceptionResolver;
import org.springframework.web.servlet.ModelAndView;

/**
 * Records the exception that a handler throws, before the application's exception handlers turn it into an answer.
 * Filters do not see such an exception.
 */
final class ServletFailures implements HandlerExceptionResolver, Ordered {

    /** Places this resolver before the resolvers that handle exceptions. */
    @Override
    public int getOrder() {
        return Ordered.HIGHEST_PRECEDENCE;
    }

    /** Returns null, so that Spring MVC tries the other resolvers. */
    @Override
    public @Nullable ModelAndView resolveException(
            HttpServletRequest request, HttpServletResponse response, @Nullable Object handler, Exception failure) {
        if (request.getAttribute(ServletCalls.CALL) instanceof WebCalls.Call call) {
            call.threw(failure);
        }
        return null;
    }
}
