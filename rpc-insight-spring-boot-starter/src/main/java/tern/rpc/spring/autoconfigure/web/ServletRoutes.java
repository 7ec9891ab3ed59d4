package tern.rpc.spring.autoconfigure.web;

import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import org.jspecify.annotations.Nullable;
import org.springframework.core.Ordered;
import org.springframework.web.context.request.async.DeferredResult;
import org.springframework.web.method.HandlerMethod;
import org.springframework.web.servlet.HandlerInterceptor;
import org.springframework.web.servlet.HandlerMapping;
import org.springframework.web.servlet.config.annotation.InterceptorRegistry;
import org.springframework.web.servlet.config.annotation.WebMvcConfigurer;
import org.springframework.web.servlet.resource.ResourceHttpRequestHandler;

/** Sets the route and kind of each call as soon as Spring MVC has chosen a handler. */
final class ServletRoutes implements WebMvcConfigurer, HandlerInterceptor {

    /** The package prefix of Boot's own request handlers, such as Actuator's handlers. */
    private static final String BOOT = "org.springframework.boot.";

    private static final String ACTUATE = ".actuate.";

    @Override
    public void addInterceptors(InterceptorRegistry registry) {
        registry.addInterceptor(this).order(Ordered.HIGHEST_PRECEDENCE);
    }

    @Override
    public boolean preHandle(HttpServletRequest request, HttpServletResponse response, Object handler) {
        if (request.getAttribute(ServletCalls.CALL) instanceof WebCalls.Call call) {
            setRoute(call, request, handler);
        }
        return true;
    }

    /**
     * Reads the route and kind of a call after the request has been handled. Used if the application configures Spring
     * MVC so that this interceptor is missing.
     */
    static void setRoute(WebCalls.Call call, HttpServletRequest request) {
        setRoute(call, request, request.getAttribute(HandlerMapping.BEST_MATCHING_HANDLER_ATTRIBUTE));
    }

    private static void setRoute(WebCalls.Call call, HttpServletRequest request, @Nullable Object handler) {
        if (request.getAttribute(HandlerMapping.BEST_MATCHING_PATTERN_ATTRIBUTE) instanceof String pattern) {
            call.hasRoute(pattern);
        }
        if (isNoCall(handler)) {
            call.drop();
        } else if (handler instanceof HandlerMethod method
                && DeferredResult.class.isAssignableFrom(method.getReturnType().getParameterType())) {
            call.waitsForEvent();
        }
    }

    private static boolean isNoCall(@Nullable Object handler) {
        if (handler instanceof ResourceHttpRequestHandler) {
            return true;
        }
        Object target = handler instanceof HandlerMethod method ? method.getBean() : handler;
        String type = target == null ? "" : target.getClass().getName();
        return type.startsWith(BOOT) && type.contains(ACTUATE);
    }
}
