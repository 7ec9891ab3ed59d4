package tern.rpc.spring.autoconfigure.web;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledForJreRange;
import org.junit.jupiter.api.condition.JRE;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.context.ConfigurableApplicationContext;
import plain.EventController;
import tern.rpc.Phase;
import tern.rpc.diagnosis.CallSource;
import tern.rpc.metrics.PhaseMeters;
import tern.rpc.metrics.RpcMeters;
import tern.rpc.pool.PoolKind;
import tern.rpc.pool.PoolSnapshot;
import tern.rpc.pool.PoolSource;

/** Tests all kinds of web requests on each web server. */
@Timeout(600)
class WebRequestsTest {

    private final HttpClient http = HttpClient.newHttpClient();

    private CompletableFuture<HttpResponse<String>> send(ConfigurableApplicationContext there, String path) {
        String address = "http://localhost:" + there.getEnvironment().getProperty("local.server.port") + path;
        return http.sendAsync(
                HttpRequest.newBuilder(URI.create(address)).build(), HttpResponse.BodyHandlers.ofString());
    }

    private String get(ConfigurableApplicationContext there, String path) throws Exception {
        String body = send(there, path).get(60, TimeUnit.SECONDS).body();
        while (!there.getBean(CallSource.class).runningCalls().isEmpty()) {
            // The client receives the response before the container completes the request, so the test waits.
            Thread.onSpinWait();
        }
        return body;
    }

    private static PhaseMeters phases(ConfigurableApplicationContext there, String method) {
        return there.getBean(RpcMeters.class).phases().stream()
                .filter(phases -> phases.method().equals(method))
                .findFirst()
                .orElseThrow();
    }

    private static boolean isKnown(ConfigurableApplicationContext there, String method) {
        return there.getBean(RpcMeters.class).phases().stream()
                .anyMatch(phases -> phases.method().equals(method));
    }

    private static PoolSnapshot workers(ConfigurableApplicationContext there) {
        return there.getBeanProvider(PoolSource.class).stream()
                .map(PoolSource::snapshot)
                .filter(pool -> pool.kind() == PoolKind.WORKERS)
                .findFirst()
                .orElseThrow();
    }

    @Test
    void requestThatWaitsForAThreadOfTomcatIsSeenInItsPoolAndItsLedger() throws Exception {
        try (var there = InsightAloneTest.start("servlet", "server.tomcat.threads.max=1")) {
            EventController events = there.getBean(EventController.class);
            CompletableFuture<HttpResponse<String>> first = send(there, "/hold");
            assertThat(events.held.await(60, TimeUnit.SECONDS)).isTrue();
            CompletableFuture<HttpResponse<String>> second = send(there, "/handed");
            while (workers(there).waiting() == 0) {
                Thread.onSpinWait();
            }

            assertThat(workers(there).name()).isEqualTo("tomcat");
            assertThat(workers(there).max()).isEqualTo(1);
            assertThat(workers(there).active()).isEqualTo(1);
            assertThat(workers(there).settings())
                    .extracting(setting -> setting.property() + "=" + setting.value() + " " + setting.source())
                    .containsExactly("server.tomcat.threads.max=1 USER");

            events.release.countDown();
            first.get(60, TimeUnit.SECONDS);
            second.get(60, TimeUnit.SECONDS);
            get(there, "/hold");
            assertThat(phases(there, "GET /handed").callsWith(Phase.QUEUE)).isOne();
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"servlet", "reactive"})
    void verbsThatClientsInventShareOneName(String type) throws Exception {
        try (var there = InsightAloneTest.start(type)) {
            String address = "http://localhost:" + there.getEnvironment().getProperty("local.server.port");
            for (int i = 0; i < 20; i++) {
                http.send(
                        HttpRequest.newBuilder(URI.create(address + "/error"))
                                .method("INVENTED" + i, HttpRequest.BodyPublishers.noBody())
                                .build(),
                        HttpResponse.BodyHandlers.ofString());
            }
            get(there, "/handed");

            assertThat(there.getBean(RpcMeters.class).phases())
                    .extracting(PhaseMeters::method)
                    .noneMatch(method -> method.contains("INVENTED"));
        }
    }

    @Test
    void workOfOtherThreadsCountsAndWaitsForEventsDoNot() throws Exception {
        try (var there = InsightAloneTest.start("servlet", "rpc.slo.latency=1ms")) {
            assertThat(get(there, "/handed")).isEqualTo("handed 17");
            assertThat(get(there, "/elastic")).isEqualTo("elastic 17");
            assertThat(get(there, "/events")).contains("one", "two");
            CompletableFuture<HttpResponse<String>> poll = send(there, "/poll");
            EventController events = there.getBean(EventController.class);
            while (!poll.isDone()) {
                // The test calls setResult repeatedly, because it has no effect before the request has arrived.
                events.next.setResult("now");
                Thread.onSpinWait();
            }

            assertThat(poll.get(60, TimeUnit.SECONDS).statusCode()).isEqualTo(200);
            assertThat(phases(there, "GET /handed").operations(Phase.SQL)).isOne();
            assertThat(phases(there, "GET /handed").operations(Phase.EXECUTOR)).isOne();
            assertThat(phases(there, "GET /elastic").operations(Phase.SQL)).isOne();
            assertThat(isKnown(there, "GET /events"))
                    .as("a stream is not judged")
                    .isFalse();
        }
    }

    @Test
    void reactiveRequestHasTheWorkOfSchedulersAndNoStreams() throws Exception {
        try (var there = InsightAloneTest.start("reactive")) {
            assertThat(get(there, "/elastic")).isEqualTo("elastic 17");
            assertThat(get(there, "/handed")).isEqualTo("handed 17");
            assertThat(get(there, "/events")).contains("one", "two");

            assertThat(phases(there, "GET /elastic").operations(Phase.SQL)).isOne();
            assertThat(phases(there, "GET /handed").operations(Phase.SQL)).isOne();
            assertThat(isKnown(there, "GET /events")).isFalse();
        }
    }

    @Test
    void threadsOfJettyAreAPool() throws Exception {
        try (var there = InsightAloneTest.start("servlet", "spring.autoconfigure.exclude=" + InsightAloneTest.TOMCAT)) {
            assertThat(get(there, "/handed")).isEqualTo("handed 17");

            assertThat(workers(there).name()).isEqualTo("jetty");
            assertThat(workers(there).max()).isPositive();
            assertThat(phases(there, "GET /handed").operations(Phase.SQL)).isOne();
        }
    }

    @EnabledForJreRange(min = JRE.JAVA_21)
    @ParameterizedTest
    @ValueSource(strings = {"/handed", "/elastic"})
    void requestOnAVirtualThreadIsACallToo(String path) throws Exception {
        try (var there = InsightAloneTest.start("servlet", "spring.threads.virtual.enabled=true")) {
            get(there, path);

            assertThat(phases(there, "GET " + path).operations(Phase.SQL)).isOne();
        }
    }
}
