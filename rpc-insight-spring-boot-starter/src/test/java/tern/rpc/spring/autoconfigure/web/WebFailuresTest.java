package tern.rpc.spring.autoconfigure.web;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.sql.SQLException;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.springframework.context.ConfigurableApplicationContext;
import tern.rpc.diagnosis.CallSource;
import tern.rpc.diagnosis.failure.ErrorStatus;
import tern.rpc.metrics.RpcMeters;

/** Tests which failures the diagnosis sees if the application itself answers failed web requests. */
@Timeout(120)
class WebFailuresTest {

    private final HttpClient http = HttpClient.newHttpClient();
    private final ConcurrentMap<String, Optional<Throwable>> ended = new ConcurrentHashMap<>();

    private ConfigurableApplicationContext start() {
        // The latency target is generous, because a late answer with status 503 counts as a failure.
        ConfigurableApplicationContext there = InsightAloneTest.start("servlet", "rpc.slo.latency=1m");
        there.getBean(RpcMeters.class)
                .observe((method, ledger, took, now, failure) -> ended.put(method, Optional.ofNullable(failure)));
        return there;
    }

    private int status(ConfigurableApplicationContext there, String path) throws Exception {
        String address = "http://localhost:" + there.getEnvironment().getProperty("local.server.port") + path;
        HttpRequest request = HttpRequest.newBuilder(URI.create(address)).build();
        int status = http.send(request, HttpResponse.BodyHandlers.ofString()).statusCode();
        while (!there.getBean(CallSource.class).runningCalls().isEmpty()) {
            // The client receives the response before the container completes the request, so the test waits.
            Thread.onSpinWait();
        }
        return status;
    }

    private Throwable failureOf(String method) {
        return ended.get(method).orElseThrow();
    }

    @Test
    void exceptionThatTheApplicationHandlesIsTheFailureOfTheCall() throws Exception {
        try (var there = start()) {
            assertThat(status(there, "/stock/closed")).isEqualTo(500);

            assertThat(failureOf("web.GET /stock/closed"))
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessage("no stock today");
        }
    }

    @Test
    void statusWithoutAnExceptionIsTheFailureOfTheCall() throws Exception {
        try (var there = start()) {
            assertThat(status(there, "/stock/error")).isEqualTo(500);

            assertThat(failureOf("web.GET /stock/error"))
                    .isInstanceOfSatisfying(
                            ErrorStatus.class,
                            answer -> assertThat(answer.status()).isEqualTo(500));
        }
    }

    @Test
    void answerWithStatus503IsNoRefusalIfTheDatabaseFailed() throws Exception {
        try (var there = start()) {
            assertThat(status(there, "/stock/count")).isEqualTo(503);

            assertThat(failureOf("web.GET /stock/count")).hasCauseInstanceOf(SQLException.class);
            assertThat(there.getBean(CallSource.class).refusals()).isEmpty();
        }
    }

    @Test
    void answerWithStatus503IsARefusalIfTheApplicationDecidesSo() throws Exception {
        try (var there = start()) {
            assertThat(status(there, "/stock/limited")).isEqualTo(503);

            assertThat(ended).isEmpty();
            assertThat(there.getBean(CallSource.class).refusals()).isEqualTo(Map.of("status 503", 1L));
        }
    }
}
