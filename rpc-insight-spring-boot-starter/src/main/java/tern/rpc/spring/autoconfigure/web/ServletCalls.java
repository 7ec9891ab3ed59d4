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
import tern.rpc.CallLedger;
import tern.rpc.spring.autoconfigure.pool.WaitedWorker;

/** Keeps a ledger for each request to a servlet application, except requests to Actuator. */
final class ServletCalls extends OncePerRequestFilter implements Ordered {

    /** The request attribute that contains the call. */
    static final String CALL = ServletCalls.class.getName() + ".call";

    private final WebCalls calls;
    private final String managementPath;

    ServletCalls(WebCalls calls, String managementPath) {
        this.calls = calls;
        this.managementPath = managementPath;
    }

    /**
     * Places this filter before all other filters, because the time spent in the other filters belongs to the request.
     */
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

    /**
     * Returns false, because the filter must also run for asynchronous dispatches. One of these dispatches writes the
     * result of an asynchronous request.
     */
    @Override
    protected boolean shouldNotFilterAsyncDispatch() {
        return false;
    }

    @Override
    protected void doFilterInternal(HttpServletRequest request, HttpServletResponse response, FilterChain chain)
            throws ServletException, IOException {
        if (request.getAttribute(CALL) instanceof WebCalls.Call known) {
            continueWith(known, request, response, chain);
            return;
        }
        WebCalls.Call call = calls.begin(
                request.getMethod(), request.getRequestURI(), WaitedWorker.takeNanos(), request::getRemoteAddr);
        request.setAttribute(CALL, call);
        CallLedger before = call.resume();
        Throwable failure = null;
        try {
            chain.doFilter(request, response);
        } catch (ServletException | IOException | RuntimeException | Error e) {
            failure = e;
            throw e;
        } finally {
            ServletRoutes.setRoute(call, request);
            call.leave(before);
            if (failure == null && request.isAsyncStarted()) {
                continuesLater(call, request, response);
            } else {
                call.ended(response.getStatus(), failure);
            }
        }
    }

    private static void continuesLater(WebCalls.Call call, HttpServletRequest request, HttpServletResponse response) {
        if (StreamedTypes.isOne(response.getContentType())) {
            call.streams();
        }
        request.getAsyncContext().addListener(new End(call, response));
    }

    /** Continues the call on the thread that writes the result of an asynchronous request. */
    private static void continueWith(
            WebCalls.Call call, HttpServletRequest request, HttpServletResponse response, FilterChain chain)
            throws ServletException, IOException {
        CallLedger part = call.ledger().child();
        CallLedger before = CallLedger.replace(part);
        try {
            chain.doFilter(request, response);
        } finally {
            CallLedger.replace(before);
            part.joinAndLeave();
        }
    }

    /** Ends the call when another thread completes the request. */
    private static final class End implements AsyncListener {
        private final WebCalls.Call call;
        private final HttpServletResponse response;
        private final AtomicBoolean ended = new AtomicBoolean();

        End(WebCalls.Call call, HttpServletResponse response) {
            this.call = call;
            this.response = response;
        }

        private void end(@Nullable Throwable failure) {
            if (ended.compareAndSet(false, true)) {
                if (StreamedTypes.isOne(response.getContentType())) {
                    call.streams();
                }
                call.ended(response.getStatus(), failure);
            }
        }

        @Override
        public void onComplete(AsyncEvent event) {
            end(null);
        }

        @Override
        public void onTimeout(AsyncEvent event) {
            // The call does not end here, because the container calls onComplete next, with the response status.
        }

        @Override
        public void onError(AsyncEvent event) {
            end(event.getThrowable());
        }

        /**
         * Adds this listener again, because the listeners of a request are removed when a new asynchronous cycle
         * starts.
         */
        @Override
        public void onStartAsync(AsyncEvent event) {
            event.getAsyncContext().addListener(this);
        }
    }
}
