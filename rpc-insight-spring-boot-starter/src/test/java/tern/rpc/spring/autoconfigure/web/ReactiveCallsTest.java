package tern.rpc.spring.autoconfigure.web;

import static org.assertj.core.api.Assertions.assertThat;

import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;
import org.springframework.http.HttpMethod;
import org.springframework.http.server.RequestPath;
import org.springframework.http.server.reactive.ServerHttpRequest;
import org.springframework.http.server.reactive.ServerHttpResponse;
import org.springframework.web.server.ServerWebExchange;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;
import tern.rpc.CallLedger;
import tern.rpc.NanoClock;
import tern.rpc.metrics.CallObserver;
import tern.rpc.metrics.RpcMeters;
import tern.rpc.metrics.Slo;

class ReactiveCallsTest {

    private final RpcMeters meters = new RpcMeters(new SimpleMeterRegistry(), new Slo(500, Duration.ofMillis(100)));
    private final WebCalls calls = new WebCalls(meters, NanoClock.SYSTEM);
    private final List<String> served = new ArrayList<>();

    private static <T> T proxy(Class<T> type, Map<String, Object> values) {
        return type.cast(Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] {type}, (self, method, args) -> {
            if (values.get(method.getName()) instanceof RuntimeException failure) {
                throw failure;
            }
            return values.get(method.getName());
        }));
    }

    /** Returns an exchange whose client has disconnected and whose request the container has recycled. */
    private static ServerWebExchange recycled() {
        RuntimeException failure = new IllegalStateException("the request object has been recycled");
        ServerHttpRequest request = proxy(
                ServerHttpRequest.class,
                Map.of(
                        "getPath",
                        RequestPath.parse("/orders", null),
                        "getMethod",
                        HttpMethod.GET,
                        "getRemoteAddress",
                        failure));
        ServerHttpResponse response = proxy(ServerHttpResponse.class, Map.of("getStatusCode", failure));
        return proxy(ServerWebExchange.class, Map.of("getRequest", request, "getResponse", response));
    }

    /** Asks for the address of each caller, as the diagnosis does. */
    private static final class Callers implements CallObserver {
        @Override
        public void ended(String method, CallLedger ledger, long tookNanos, long now, Throwable failure) {}

        @Override
        public void ended(
                String method,
                CallLedger ledger,
                long tookNanos,
                long now,
                Throwable failure,
                Supplier<String> caller) {
            assertThat(caller.get()).isNull();
        }
    }

    private Mono<Void> serve() {
        return new ReactiveCalls(calls, "/actuator")
                .filter(recycled(), exchange -> Mono.fromRunnable(() -> served.add("/orders")));
    }

    @Test
    void requestThatTheContainerHasRecycledIsServedAndEnds() {
        meters.observe(new Callers());

        serve().block();
        serve().subscribeOn(Schedulers.parallel()).block();

        assertThat(served).hasSize(2);
        assertThat(calls.runningCalls()).isEmpty();
    }

    @Test
    void cancelledRequestThatTheContainerHasRecycledEnds() {
        new ReactiveCalls(calls, "/actuator")
                .filter(recycled(), exchange -> Mono.never())
                .subscribe()
                .dispose();

        assertThat(calls.runningCalls()).isEmpty();
    }
}
