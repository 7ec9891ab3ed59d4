package tern.rpc.spring.autoconfigure.web;

import jakarta.servlet.AsyncEvent;
import jakarta.servlet.AsyncListener;
import jakarta.servlet.FilterChain;
import jakarta.servlet.ServletException;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;
import org.springframework.core.Ordered;
import org.springframework.web.filter.OncePerRequestFilter;
import org.springframework.web.servlet.HandlerMapping;
import tern.rpc.CallLedger;

/** Keeps a ledger for each request of a servlet application, except those of Actuator. */
final class ServletCalls extends OncePerRequestFilter implements Ordered {

    private final WebCalls calls;
    private final String managementPath;

    ServletCalls(WebCalls calls, String managementPath) {
        this.calls = calls;
        this.managementPath = managementPath;
    }

    /** Before all other filters, whose time belongs to the request. */
    @Override
    public int getOrder() {
        return Ordered.HIGHEST_PRECEDENCE;
    }

    @Override
    protected boolean shouldNotFilter(HttpServletRequest request) {
        return InsightWebAutoConfiguration.isBelow(
                managementPath,
                request.getRequestURI().substring(request.getContextPath().length()));
    }

    @Override
    protected void doFilterInternal(HttpServletRequest request, HttpServletResponse response, FilterChain chain)
            throws ServletException, IOException {
        WebCalls.Call call = calls.begin(request.getMethod(), request.getRequestURI());
        CallLedger before = call.resume();
        Throwable failure = null;
        try {
            chain.doFilter(request, response);
        } catch (ServletException | IOException | RuntimeException | Error e) {
            failure = e;
            throw e;
        } finally {
            call.leave(before);
            if (failure == null && request.isAsyncStarted()) {
                request.getAsyncContext().addListener(new End(call, request, response));
            } else {
                call.ended(pattern(request), response.getStatus(), failure);
            }
        }
    }

    private static @Nullable String pattern(HttpServletRequest request) {
        Object pattern = request.getAttribute(HandlerMapping.BEST_MATCHING_PATTERN_ATTRIBUTE);
        return pattern == null ? null : pattern.toString();
    }

    /** Ends the call of a request that another thread completes. */
    private static final class End implements AsyncListener {
        private final WebCalls.Call call;
        private final HttpServletRequest request;
        private final HttpServletResponse response;
        private final AtomicBoolean ended = new AtomicBoolean();

        End(WebCalls.Call call, HttpServletRequest request, HttpServletResponse response) {
            this.call = call;
            this.request = request;
            this.response = response;
        }

        private void end(@Nullable Throwable failure) {
            if (ended.compareAndSet(false, true)) {
                call.ended(pattern(request), response.getStatus(), failure);
            }
        }

        @Override
        public void onComplete(AsyncEvent event) {
            end(null);
        }

        @Override
        public void onTimeout(AsyncEvent event) {
            // onComplete follows, with the status of the answer.
        }

        @Override
        public void onError(AsyncEvent event) {
            end(event.getThrowable());
        }

        /** A new cycle of the same request has no listeners. */
        @Override
        public void onStartAsync(AsyncEvent event) {
            event.getAsyncContext().addListener(this);
        }
    }
}
