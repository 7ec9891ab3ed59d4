package tern.rpc.spring.autoconfigure.web;

import java.net.InetSocketAddress;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;
import org.springframework.core.Ordered;
import org.springframework.http.HttpStatusCode;
import org.springframework.http.MediaType;
import org.springframework.web.ErrorResponse;
import org.springframework.web.reactive.HandlerMapping;
import org.springframework.web.reactive.resource.ResourceWebHandler;
import org.springframework.web.server.ServerWebExchange;
import org.springframework.web.server.WebFilter;
import org.springframework.web.server.WebFilterChain;
import reactor.core.CoreSubscriber;
import reactor.core.publisher.Mono;
import reactor.core.publisher.MonoOperator;
import reactor.core.scheduler.Schedulers;
import tern.rpc.CallLedger;
import tern.rpc.spring.autoconfigure.pool.ReactiveLedger;

/**
 * Keeps a ledger for each request to a reactive application, except requests to Actuator. Until the first asynchronous
 * step, the ledger is the current ledger of the thread. After that, tasks on Reactor's schedulers inherit the ledger,
 * and clients find it in the context of the reactive chain.
 */
final class ReactiveCalls implements WebFilter, Ordered {

    private static final int OK = 200;
    private static final String WEB_SOCKET = "websocket";

    private final LoopWaits loops = new LoopWaits();
    private final WebCalls calls;
    private final String managementPath;

    ReactiveCalls(WebCalls calls, String managementPath) {
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
    public Mono<Void> filter(ServerWebExchange exchange, WebFilterChain chain) {
        String path = exchange.getRequest().getPath().pathWithinApplication().value();
        if (InsightWebAutoConfiguration.isBelow(managementPath, path)) {
            return chain.filter(exchange);
        }
        return Mono.defer(() -> {
            InetSocketAddress connection = Schedulers.isInNonBlockingThread() ? remoteAddress(exchange) : null;
            WebCalls.Call call = calls.begin(
                    exchange.getRequest().getMethod().name(), path, waited(connection), () -> address(exchange));
            call.routedBy(() -> pattern(exchange));
            exchange.getResponse().beforeCommit(() -> Mono.fromRunnable(() -> committed(call, exchange)));
            AtomicBoolean ended = new AtomicBoolean();
            return new Served(chain.filter(exchange), call, connection)
                    .contextWrite(context -> ReactiveLedger.put(context, call.ledger()))
                    .doOnSuccess(nothing -> ended(call, exchange, connection, null, ended))
                    .doOnError(failure -> ended(call, exchange, connection, failure, ended))
                    .doOnCancel(() -> ended(call, exchange, connection, null, ended));
        });
    }

    /**
     * Returns the estimated time that the current request has waited for this thread.
     *
     * @param connection null if the thread is not an event loop
     */
    private long waited(@Nullable InetSocketAddress connection) {
        return connection == null ? 0 : loops.waited(connection, System.nanoTime());
    }

    private static @Nullable String address(ServerWebExchange exchange) {
        InetSocketAddress caller = remoteAddress(exchange);
        return caller == null || caller.getAddress() == null
                ? null
                : caller.getAddress().getHostAddress();
    }

    /** Returns the client's address; null if the address is unknown. */
    private static @Nullable InetSocketAddress remoteAddress(ServerWebExchange exchange) {
        try {
            return exchange.getRequest().getRemoteAddress();
        } catch (RuntimeException e) { // The client has disconnected, and the container has recycled the request.
            return null;
        }
    }

    /**
     * Records that the response is a stream if its media type says so, or if the request becomes a WebSocket, which can
     * stay open for hours. Called just before the first byte of the response is sent.
     */
    private static void committed(WebCalls.Call call, ServerWebExchange exchange) {
        MediaType type = exchange.getResponse().getHeaders().getContentType();
        if (isUpgraded(exchange) || (type != null && StreamedTypes.isOne(type.toString()))) {
            call.streams();
        }
    }

    /**
     * Returns whether the server accepts a WebSocket request. The server sets the status 101 later; until then, the
     * response has its default status.
     */
    private static boolean isUpgraded(ServerWebExchange exchange) {
        HttpStatusCode status = exchange.getResponse().getStatusCode();
        return (status == null || !status.isError())
                && WEB_SOCKET.equalsIgnoreCase(
                        exchange.getRequest().getHeaders().getUpgrade());
    }

    /**
     * Ends the call. Called before the server is notified that the request has ended, because a servlet container then
     * reuses the request and the response.
     */
    private void ended(
            WebCalls.Call call,
            ServerWebExchange exchange,
            @Nullable InetSocketAddress connection,
            @Nullable Throwable failure,
            AtomicBoolean ended) {
        if (!ended.compareAndSet(false, true)) {
            return;
        }
        if (connection != null && Schedulers.isInNonBlockingThread()) {
            loops.ended(connection, System.nanoTime());
        }
        String pattern = pattern(exchange);
        if (pattern != null) {
            call.hasRoute(pattern);
        }
        Object handler = exchange.getAttribute(HandlerMapping.BEST_MATCHING_HANDLER_ATTRIBUTE);
        if (handler instanceof ResourceWebHandler) {
            call.drop();
        }
        // For an ErrorResponse, Spring sets the response status only after the filters have run, so the status is read
        // from the exception.
        if (failure instanceof ErrorResponse mapped) {
            call.threw(failure);
            call.ended(mapped.getStatusCode().value(), null);
        } else {
            call.ended(status(exchange), failure);
        }
    }

    /** Returns the pattern of the request's route; null if the handler has not been chosen yet. */
    private static @Nullable String pattern(ServerWebExchange exchange) {
        Object pattern = exchange.getAttribute(HandlerMapping.BEST_MATCHING_PATTERN_ATTRIBUTE);
        return pattern == null ? null : pattern.toString();
    }

    private static int status(ServerWebExchange exchange) {
        try {
            HttpStatusCode status = exchange.getResponse().getStatusCode();
            return status == null ? OK : status.value();
        } catch (IllegalStateException e) { // The client has disconnected, and the container has recycled the response.
            return OK;
        }
    }

    /** Subscribes to the chain while the call's ledger is the current thread's ledger. */
    private final class Served extends MonoOperator<Void, Void> {
        private final WebCalls.Call call;
        private final @Nullable InetSocketAddress connection;

        Served(Mono<Void> source, WebCalls.Call call, @Nullable InetSocketAddress connection) {
            super(source);
            this.call = call;
            this.connection = connection;
        }

        @Override
        public void subscribe(CoreSubscriber<? super Void> subscriber) {
            CallLedger before = call.resume();
            long from = System.nanoTime();
            try {
                source.subscribe(subscriber);
            } finally {
                call.leave(before);
                if (connection != null && Schedulers.isInNonBlockingThread()) {
                    loops.worked(connection, from, System.nanoTime());
                }
            }
        }
    }
}
