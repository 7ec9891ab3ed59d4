package tern.rpc.spring.autoconfigure.web;

import static org.assertj.core.api.Assertions.assertThat;

import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;
import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpMethod;
import org.springframework.http.HttpStatus;
import org.springframework.http.server.RequestPath;
import org.springframework.http.server.reactive.ServerHttpRequest;
import org.springframework.http.server.reactive.ServerHttpResponse;
import org.springframework.web.server.ServerWebExchange;
import reactor.core.Disposable;
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

    private final Map<String, Object> request = new HashMap<>();
    private final Map<String, Object> response = new HashMap<>();
    private final Map<String, Object> attributes = new HashMap<>();
    private Supplier<?> beforeCommit = Mono::empty;

    /** Returns an exchange whose request has not been recycled yet. */
    private ServerWebExchange exchange() {
        request.put("getPath", RequestPath.parse("/orders", null));
        request.put("getMethod", HttpMethod.GET);
        attributes.put("getRequest", proxy(ServerHttpRequest.class, request));
        attributes.put("getResponse", response());
        return proxy(ServerWebExchange.class, attributes);
    }

    private ServerHttpResponse response() {
        ServerHttpResponse values = proxy(ServerHttpResponse.class, response);
        return (ServerHttpResponse) Proxy.newProxyInstance(
                ServerHttpResponse.class.getClassLoader(),
                new Class<?>[] {ServerHttpResponse.class},
                (self, method, args) -> {
                    if (method.getName().equals("beforeCommit")) {
                        beforeCommit = (Supplier<?>) args[0];
                        return null;
                    }
                    return method.invoke(values, args);
                });
    }

    /** Starts a request that asks for a WebSocket, and commits its response with the given status. */
    private Disposable askForWebSocket(HttpStatus status) {
        HttpHeaders headers = new HttpHeaders();
        headers.setUpgrade("WebSocket");
        request.put("getHeaders", headers);
        response.put("getHeaders", new HttpHeaders());
        response.put("getStatusCode", status);
        Disposable running = new ReactiveCalls(calls, "/actuator")
                .filter(exchange(), exchange -> Mono.never())
                .subscribe();
        ((Mono<?>) beforeCommit.get()).block();
        return running;
    }

    @Test
    void openWebSocketIsNoRunningCall() {
        Disposable socket = askForWebSocket(HttpStatus.OK);

        assertThat(calls.runningCalls()).isEmpty();
        socket.dispose();
    }

    @Test
    void requestForAWebSocketThatIsRefusedIsACall() {
        Disposable refused = askForWebSocket(HttpStatus.FORBIDDEN);

        assertThat(calls.runningCalls()).hasSize(1);
        refused.dispose();
    }

    @Test
    void runningCallIsNamedAfterItsRouteAsSoonAsTheRouteIsKnown() {
        Disposable running = new ReactiveCalls(calls, "/actuator")
                .filter(exchange(), exchange -> Mono.never())
                .subscribe();
        assertThat(calls.runningCalls().get(0).method()).isEqualTo("web.GET /orders");

        attributes.put("getAttribute", "/orders/{id}");

        assertThat(calls.runningCalls().get(0).method()).isEqualTo("web.GET /orders/{id}");
        running.dispose();
    }

    /** Recycles the request, as a container does after its client has disconnected. */
    private void recycle() {
        request.put("getRemoteAddress", new IllegalStateException("the request object has been recycled"));
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
                .filter(exchange(), exchange -> Mono.fromRunnable(() -> served.add("/orders")));
    }

    @Test
    void requestThatTheContainerHasRecycledIsServedAndEnds() {
        meters.observe(new Callers());
        recycle();

        serve().block();
        serve().subscribeOn(Schedulers.parallel()).block();

        assertThat(served).hasSize(2);
        assertThat(calls.runningCalls()).isEmpty();
    }

    @Test
    void cancelledRequestThatTheContainerHasRecycledEnds() {
        Disposable running = new ReactiveCalls(calls, "/actuator")
                .filter(exchange(), exchange -> Mono.never())
                .subscribe();
        assertThat(calls.runningCalls()).hasSize(1);

        recycle();
        running.dispose();

        assertThat(calls.runningCalls()).isEmpty();
    }
}
