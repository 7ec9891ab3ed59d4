package tern.rpc.spring.autoconfigure.pool;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.http.client.autoconfigure.imperative.ImperativeHttpClientAutoConfiguration;
import org.springframework.boot.http.client.autoconfigure.reactive.ReactiveHttpClientAutoConfiguration;
import org.springframework.boot.restclient.autoconfigure.RestClientAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.webclient.autoconfigure.WebClientAutoConfiguration;
import org.springframework.web.client.RestClient;
import org.springframework.web.reactive.function.client.WebClient;
import tern.rpc.pool.BodySizes;

/** Checks with every kind of client that the sizes of requests and answers are measured. */
@Timeout(120)
class MeasuredBodiesTest {

    private static final int SIZE = 120_000;

    private final ApplicationContextRunner application = new ApplicationContextRunner()
            .withConfiguration(AutoConfigurations.of(
                    RpcPoolsAutoConfiguration.class,
                    HttpClientAutoConfiguration.class,
                    HttpPoolAutoConfiguration.class,
                    org.springframework.boot.http.client.autoconfigure.HttpClientAutoConfiguration.class,
                    ImperativeHttpClientAutoConfiguration.class,
                    ReactiveHttpClientAutoConfiguration.class,
                    RestClientAutoConfiguration.class,
                    WebClientAutoConfiguration.class));

    private HttpServer server;

    @BeforeEach
    void start() throws IOException {
        server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.createContext("/known", exchange -> answer(exchange, 200, SIZE));
        server.createContext("/chunked", exchange -> answer(exchange, 200, 0));
        server.createContext("/error", exchange -> answer(exchange, 404, SIZE));
        server.start();
    }

    @AfterEach
    void stop() {
        server.stop(0);
    }

    /** @param length the size that the header states; 0 if there is no header */
    private static void answer(HttpExchange exchange, int status, int length) throws IOException {
        exchange.getRequestBody().readAllBytes();
        exchange.getResponseHeaders().add("Content-Type", "text/plain");
        exchange.sendResponseHeaders(status, length);
        exchange.getResponseBody().write("x".repeat(SIZE).getBytes(StandardCharsets.UTF_8));
        exchange.close();
    }

    private String host() {
        return "127.0.0.1:" + server.getAddress().getPort();
    }

    private String url(String path) {
        return "http://" + host() + path;
    }

    private void assertMeasured(String path) {
        assertThat(BodySizes.ANSWERS.mean("GET " + host() + path)).isEqualTo(SIZE);
        assertThat(BodySizes.ANSWERS.counted("GET " + host() + path)).isOne();
    }

    @ParameterizedTest
    @CsvSource({
        "jdk, /known",
        "jdk, /chunked",
        "simple, /known",
        "simple, /chunked",
        "reactor, /known",
        "reactor, /chunked",
        "jetty, /known",
        "jetty, /chunked",
        "http-components, /known",
        "http-components, /chunked"
    })
    void answersOfARestClientAreMeasured(String factory, String path) {
        application
                .withPropertyValues("spring.http.clients.imperative.factory=" + factory)
                .run(there -> {
                    RestClient client = there.getBean(RestClient.Builder.class).build();

                    Calls.ledgerOf(() -> assertThat(
                                    client.get().uri(url(path)).retrieve().body(String.class))
                            .hasSize(SIZE));

                    assertMeasured(path);
                });
    }

    @ParameterizedTest
    @ValueSource(strings = {"jdk", "simple", "reactor", "jetty", "http-components"})
    void requestsOfARestClientAreMeasured(String factory) {
        application
                .withPropertyValues("spring.http.clients.imperative.factory=" + factory)
                .run(there -> {
                    RestClient client = there.getBean(RestClient.Builder.class).build();

                    Calls.ledgerOf(() -> client.post()
                            .uri(url("/known"))
                            .body("y".repeat(7_000))
                            .retrieve()
                            .toBodilessEntity());

                    assertThat(BodySizes.REQUESTS.mean("POST " + host() + "/known"))
                            .isEqualTo(7_000);
                });
    }

    @ParameterizedTest
    @CsvSource({
        "jdk, /known",
        "jdk, /chunked",
        "reactor, /known",
        "reactor, /chunked",
        "jetty, /known",
        "jetty, /chunked"
    })
    void answersOfAWebClientAreMeasured(String connector, String path) {
        application
                .withPropertyValues("spring.http.clients.reactive.connector=" + connector)
                .run(there -> {
                    WebClient client = there.getBean(WebClient.Builder.class).build();

                    Calls.ledgerOf(() -> assertThat(client.get()
                                    .uri(url(path))
                                    .retrieve()
                                    .bodyToMono(String.class)
                                    .block())
                            .hasSize(SIZE));

                    assertMeasured(path);
                });
    }

    @ParameterizedTest
    @ValueSource(strings = {"/known", "/chunked"})
    void answersOfAJdkClientAreMeasured(String path) throws Exception {
        HttpClient client = new WatchedHttpClient(HttpClient.newHttpClient());
        HttpRequest request = HttpRequest.newBuilder(URI.create(url(path))).build();

        Calls.ledgerOf(() -> client.send(request, BodyHandlers.ofString()));
        assertMeasured(path);

        Calls.ledgerOf(
                () -> client.sendAsync(request, BodyHandlers.ofByteArray()).get(60, TimeUnit.SECONDS));
        // The client's thread may wake up the waiting thread before it counts the answer.
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(60);
        while (BodySizes.ANSWERS.counted("GET " + host() + path) < 2 && System.nanoTime() - end < 0) {
            Thread.onSpinWait();
        }
        assertThat(BodySizes.ANSWERS.counted("GET " + host() + path)).isEqualTo(2);
    }

    @Test
    void streamedAnswerOfAJdkClientIsMeasuredByItsHeader() throws Exception {
        HttpClient client = new WatchedHttpClient(HttpClient.newHttpClient());
        HttpRequest request = HttpRequest.newBuilder(URI.create(url("/known"))).build();

        Calls.ledgerOf(() -> {
            client.send(request, BodyHandlers.ofInputStream()).body().close();
            return null;
        });

        assertMeasured("/known");
    }

    @Test
    void errorsAndHeadersAreNotMeasured() {
        application
                .withPropertyValues("spring.http.clients.imperative.factory=simple")
                .run(there -> {
                    RestClient client = there.getBean(RestClient.Builder.class).build();

                    Calls.ledgerOf(() -> client.get()
                            .uri(url("/error"))
                            .retrieve()
                            .onStatus(status -> true, (sent, answered) -> {})
                            .toBodilessEntity());

                    assertThat(BodySizes.ANSWERS.counted("GET " + host() + "/error"))
                            .isZero();
                    assertThat(BodyLength.of("HEAD", 200, "120000")).isEqualTo(-1);
                    assertThat(BodyLength.of("GET", 200, "many")).isEqualTo(-1);
                    assertThat(BodyLength.of("GET", 200, null)).isEqualTo(-1);
                    assertThat(BodyLength.of("GET", 200, "120000")).isEqualTo(SIZE);
                });
    }
}
