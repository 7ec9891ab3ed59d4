package tern.rpc.spring.autoconfigure.web;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import plain.OrderController;
import plain.ShopApplication;
import tern.rpc.Phase;
import tern.rpc.RunningCall;
import tern.rpc.diagnosis.CallSource;
import tern.rpc.metrics.LatencyWindow;
import tern.rpc.metrics.PhaseMeters;
import tern.rpc.metrics.RpcMeters;
import tern.rpc.pool.ApplicationCode;

/** Tests a plain Spring Boot web application that uses the insight starter but not RPC. */
@Timeout(120)
class InsightAloneTest {

    /**
     * The auto-configurations of Jetty. Tests that use Tomcat exclude them, because both web servers are on the class
     * path.
     */
    private static final String JETTY =
            "org.springframework.boot.jetty.autoconfigure.servlet.JettyServletWebServerAutoConfiguration,"
                    + "org.springframework.boot.jetty.autoconfigure.reactive.JettyReactiveWebServerAutoConfiguration";

    static final String TOMCAT = JETTY.replace("jetty", "tomcat").replace("Jetty", "Tomcat");

    private final HttpClient http = HttpClient.newHttpClient();

    static ConfigurableApplicationContext start(String kind, String... properties) {
        return new SpringApplicationBuilder(ShopApplication.class)
                .properties(
                        "spring.main.web-application-type=" + kind,
                        "server.port=0",
                        "spring.autoconfigure.exclude=" + JETTY,
                        "spring.main.banner-mode=off",
                        "management.endpoints.web.exposure.include=*",
                        "spring.datasource.url=jdbc:h2:mem:insight")
                .properties(properties)
                .run();
    }

    private HttpResponse<String> get(ConfigurableApplicationContext there, String path)
            throws IOException, InterruptedException {
        return http.send(request(there, path), HttpResponse.BodyHandlers.ofString());
    }

    private static HttpRequest request(ConfigurableApplicationContext there, String path) {
        return HttpRequest.newBuilder(URI.create(
                        "http://localhost:" + there.getEnvironment().getProperty("local.server.port") + path))
                .build();
    }

    private static Timer timer(ConfigurableApplicationContext there, String method, String outcome) {
        return there.getBean(MeterRegistry.class)
                .get("rpc.server.requests")
                .tag("method", method)
                .tag("outcome", outcome)
                .timer();
    }

    private static long calls(ConfigurableApplicationContext there) {
        RpcMeters meters = there.getBean(RpcMeters.class);
        long second = meters.servedWindow().second();
        return meters.servedMethods().stream()
                .map(method -> method.lastMinute(second))
                .filter(Objects::nonNull)
                .mapToLong(LatencyWindow.Point::calls)
                .sum();
    }

    private static long successes(ConfigurableApplicationContext there) {
        return there.getBean(MeterRegistry.class).find("rpc.server.requests").tag("outcome", "ok").timers().stream()
                .mapToLong(Timer::count)
                .sum();
    }

    @ParameterizedTest
    @ValueSource(strings = {"servlet", "reactive"})
    void webRequestsAreTheCallsOfTheApplication(String kind) throws Exception {
        try (var there = start(kind)) {
            assertThat(get(there, "/orders/7").body()).isEqualTo("order 7");
            assertThat(get(there, "/orders/8").body()).isEqualTo("order 8");

            awaitNoCalls(there);
            assertThat(timer(there, "GET /orders/{id}", "ok").count()).isEqualTo(2);
            assertThat(calls(there)).isEqualTo(2);
        }
    }

    @Test
    void packagesOfTheApplicationAreKnownToTheDiagnosis() {
        try (ConfigurableApplicationContext there = start("servlet")) {
            StackTraceElement[] stack = {
                new StackTraceElement("unknown.library.Throttle", "consume", "Throttle.java", 1),
                new StackTraceElement("plain.OrderController", "place", "OrderController.java", 2)
            };

            assertThat(there.isRunning()).isTrue();
            assertThat(ApplicationCode.first(stack)).isEqualTo(stack[1]);
        }
    }

    @Test
    void timeOfARequestIsAttributedToPhases() throws Exception {
        try (var there = start("servlet")) {
            get(there, "/orders/7");

            awaitNoCalls(there);
            PhaseMeters phases = there.getBean(RpcMeters.class).phases().get(0);
            assertThat(phases.method()).isEqualTo("GET /orders/{id}");
            assertThat(phases.operations(Phase.JDBC_CONNECTION)).isEqualTo(1);
            assertThat(phases.totalNanos(Phase.OWN)).isPositive();
        }
    }

    @Test
    void requestThatAnotherThreadCompletesIsOneCall() throws Exception {
        try (var there = start("servlet")) {
            assertThat(get(there, "/later/7").body()).isEqualTo("later 7");

            awaitNoCalls(there);
            assertThat(timer(there, "GET /later/{id}", "ok").count()).isEqualTo(1);
        }
    }

    /**
     * Waits until no call is running. This takes a moment, because the client receives the answer before the container
     * completes the request.
     */
    private static void awaitNoCalls(ConfigurableApplicationContext there) {
        CallSource calls = there.getBean(CallSource.class);
        while (!calls.runningCalls().isEmpty()) {
            Thread.onSpinWait();
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"servlet", "reactive"})
    void requestThatFailsIsNoSuccess(String kind) throws Exception {
        // The latency target is long, because a response with status 503 counts as a failure if it takes longer than
        // the target.
        try (var there = start(kind, "rpc.slo.latency=1m")) {
            assertThat(get(there, "/broken").statusCode()).isEqualTo(503);
            assertThat(get(there, "/failing").statusCode()).isEqualTo(500);
            assertThat(get(there, "/none").statusCode()).isEqualTo(404);

            awaitNoCalls(there);
            assertThat(calls(there)).as("a missing file is no call").isEqualTo(2);
            assertThat(successes(there)).isZero();
            assertThat(there.getBean(CallSource.class).refusals()).containsExactly(Map.entry("status 503", 1L));
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"servlet", "reactive"})
    void runningRequestIsSeenWithItsThread(String kind) throws Exception {
        try (var there = start(kind)) {
            OrderController orders = there.getBean(OrderController.class);
            CompletableFuture<HttpResponse<String>> answer =
                    http.sendAsync(request(there, "/held"), HttpResponse.BodyHandlers.ofString());
            assertThat(orders.held.await(60, TimeUnit.SECONDS)).isTrue();

            List<RunningCall> running = there.getBean(CallSource.class).runningCalls();

            assertThat(running).extracting(RunningCall::method).containsExactly("web.GET /held");
            orders.release.countDown();
            assertThat(answer.get(60, TimeUnit.SECONDS).body()).isEqualTo("released true");
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"servlet", "reactive"})
    void reportsAreShownAndRequestsForThemAreNotCounted(String kind) throws Exception {
        try (var there = start(kind)) {
            assertThat(get(there, "/actuator/rpc").body()).contains("\"qps\":500", "diagnosis", "pools");
            assertThat(get(there, "/actuator/rpc/pools").body()).contains("\"pools\":[", "\"hikari\"");
            assertThat(get(there, "/actuator/rpc/none").statusCode()).isEqualTo(404);
            assertThat(calls(there)).isZero();
        }
    }

    @Test
    void targetIsConfigured() {
        try (var there = start("servlet", "rpc.slo.qps=50", "rpc.slo.latency=1s")) {
            assertThat(there.getBean(RpcMeters.class).slo().qps()).isEqualTo(50);
        }
    }

    @Test
    void poolThatCannotBeIsRefusedWithItsProperty() {
        assertThatThrownBy(() -> start("servlet", "rpc.pools.executors.mail.threads=0"))
                .hasStackTraceContaining("rpc.pools.executors.mail.threads is 0; expected 1 to");
    }

    @Test
    void unknownPropertyOfAPoolIsRefused() {
        assertThatThrownBy(() -> start("servlet", "rpc.pools.tund=false")).hasStackTraceContaining("rpc.pools.tund");
    }

    @Test
    void passwordInAnAddressOfRedisIsHidden() throws Exception {
        String[] properties = {
            "rpc.pools.jedis.url=redis://me:s3cret@localhost:1", "management.endpoint.env.show-values=always"
        };
        try (var there = start("servlet", properties)) {
            assertThat(get(there, "/actuator/env/rpc.pools.jedis.url").body())
                    .contains("******")
                    .doesNotContain("s3cret");
        }
    }
}
