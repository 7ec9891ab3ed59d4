package tern.rpc.spring.autoconfigure.web;

import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.springframework.core.Ordered;
import org.springframework.http.HttpStatusCode;
import org.springframework.web.ErrorResponse;
import org.springframework.web.reactive.HandlerMapping;
import org.springframework.web.server.ServerWebExchange;
import org.springframework.web.server.WebFilter;
import org.springframework.web.server.WebFilterChain;
import reactor.core.publisher.Mono;
import tern.rpc.CallLedger;

/**
 * Keeps a ledger for each request of a reactive application, except those of Actuator. Only what runs before the first
 * asynchronous step is attributed to phases; the rest is time without a thread.
 */
final class ReactiveCalls implements WebFilter, Ordered {

    private static final int OK = 200;

    private final WebCalls calls;
    private final String managementPath;

    ReactiveCalls(WebCalls calls, String managementPath) {
        this.calls = calls;
        this.managementPath = managementPath;
    }

    /** Before all other filters, whose time belongs to the request. */
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
            WebCalls.Call call = calls.begin(exchange.getRequest().getMethod().name(), path);
            AtomicReference<@Nullable Throwable> failure = new AtomicReference<>();
            CallLedger before = call.resume();
            Mono<Void> answer;
            try {
                answer = chain.filter(exchange);
            } catch (RuntimeException | Error e) {
                answer = Mono.error(e);
            } finally {
                call.leave(before);
            }
            return answer.doOnError(failure::set).doFinally(signal -> {
                if (failure.get() instanceof ErrorResponse mapped) { // its status is set after the filters
                    call.ended(pattern(exchange), mapped.getStatusCode().value(), null);
                } else {
                    call.ended(pattern(exchange), status(exchange), failure.get());
                }
            });
        });
    }

    private static @Nullable String pattern(ServerWebExchange exchange) {
        Object pattern = exchange.getAttribute(HandlerMapping.BEST_MATCHING_PATTERN_ATTRIBUTE);
        return pattern == null ? null : pattern.toString();
    }

    private static int status(ServerWebExchange exchange) {
        HttpStatusCode status = exchange.getResponse().getStatusCode();
        return status == null ? OK : status.value();
    }
}
