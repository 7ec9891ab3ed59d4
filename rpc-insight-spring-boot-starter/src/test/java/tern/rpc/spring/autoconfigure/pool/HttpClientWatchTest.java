package tern.rpc.spring.autoconfigure.pool;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpTimeoutException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.http.client.autoconfigure.imperative.ImperativeHttpClientAutoConfiguration;
import org.springframework.boot.http.client.autoconfigure.reactive.ReactiveHttpClientAutoConfiguration;
import org.springframework.boot.restclient.RestTemplateBuilder;
import org.springframework.boot.restclient.autoconfigure.RestClientAutoConfiguration;
import org.springframework.boot.restclient.autoconfigure.RestTemplateAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.webclient.autoconfigure.WebClientAutoConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.http.client.JdkClientHttpRequestFactory;
import org.springframework.http.client.SimpleClientHttpRequestFactory;
import org.springframework.web.client.RestClient;
import org.springframework.web.client.RestTemplate;
import org.springframework.web.reactive.function.client.WebClient;
import tern.rpc.CallLedger;
import tern.rpc.NamedTimes;
import tern.rpc.Phase;
import tern.rpc.pool.OutsideOperations;

/** Checks with every kind of client that each exchange is recorded once, under the name of its host. */
@Timeout(120)
class HttpClientWatchTest {

    private static HttpServer server;

    private final ApplicationContextRunner application = new ApplicationContextRunner()
            .withConfiguration(AutoConfigurations.of(
                    RpcPoolsAutoConfiguration.class,
                    HttpClientAutoConfiguration.class,
                    HttpPoolAutoConfiguration.class,
                    org.springframework.boot.http.client.autoconfigure.HttpClientAutoConfiguration.class,
                    ImperativeHttpClientAutoConfiguration.class,
                    ReactiveHttpClientAutoConfiguration.class,
                    RestClientAutoConfiguration.class,
                    RestTemplateAutoConfiguration.class,
                    WebClientAutoConfiguration.class));

    @Configuration(proxyBeanMethods = false)
    static class OwnClients {

        @Bean
        RestTemplate template() {
            return new RestTemplate();
        }

        @Bean
        RestClient client() {
            return RestClient.create();
        }

        @Bean
        HttpClient jdk() {
            return HttpClient.newHttpClient();
        }
    }

    @BeforeAll
    static void start() throws IOException {
        server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.createContext("/", exchange -> {
            byte[] body = "seven".getBytes(StandardCharsets.UTF_8);
            exchange.sendResponseHeaders(200, body.length);
            exchange.getResponseBody().write(body);
            exchange.close();
        });
        server.createContext("/full", exchange -> {
            exchange.sendResponseHeaders(503, -1);
            exchange.close();
        });
        server.createContext("/moved", exchange -> {
            exchange.getResponseHeaders().add("Location", url());
            exchange.sendResponseHeaders(302, -1);
            exchange.close();
        });
        server.start();
    }

    @AfterAll
    static void stop() {
        server.stop(0);
    }

    private static String url() {
        return "http://127.0.0.1:" + server.getAddress().getPort();
    }

    private static void assertOne(CallLedger call) {
        assertThat(call.count(Phase.HTTP)).isOne();
        assertThat(Calls.names(call, Phase.HTTP))
                .allSatisfy(name -> assertThat(name).isEqualTo("GET " + url().substring("http://".length())));
        assertThat(call.phase()).isEqualTo(Phase.OWN);
    }

    @ParameterizedTest
    @ValueSource(strings = {"jdk", "simple", "reactor", "jetty", "http-components"})
    void exchangeOfBootsRestClientCounts(String factory) {
        application
                .withPropertyValues("spring.http.clients.imperative.factory=" + factory)
                .run(there -> {
                    RestClient client = there.getBean(RestClient.Builder.class).build();
                    CallLedger call = Calls.ledgerOf(
                            () -> assertThat(client.get().uri(url()).retrieve().body(String.class))
                                    .isEqualTo("seven"));

                    assertOne(call);
                });
    }

    /**
     * The client gets its own request factory while the application runs, for example because the application creates
     * one client for each tenant.
     */
    @Test
    void exchangeOfACopyOfBootsBuilderWithItsOwnRequestFactoryCounts() {
        application.run(there -> {
            RestClient client = there.getBean(RestClient.Builder.class)
                    .clone()
                    .baseUrl(url())
                    .apply(builder -> builder.requestFactory(new SimpleClientHttpRequestFactory()))
                    .build();
            CallLedger call = Calls.ledgerOf(
                    () -> assertThat(client.get().retrieve().body(String.class)).isEqualTo("seven"));

            assertOne(call);
        });
    }

    @Test
    void exchangeOfARestTemplateWithItsOwnRequestFactoryCounts() {
        application.run(there -> {
            RestTemplate template = there.getBean(RestTemplateBuilder.class)
                    .requestFactory(SimpleClientHttpRequestFactory::new)
                    .build();
            CallLedger call = Calls.ledgerOf(
                    () -> assertThat(template.getForObject(url(), String.class)).isEqualTo("seven"));

            assertOne(call);
        });
    }

    @ParameterizedTest
    @ValueSource(strings = {"jdk", "reactor"})
    void exchangeOfAWebClientEndsWhenItsAnswerHasBeenRead(String factory) {
        application
                .withPropertyValues("spring.http.clients.reactive.connector=" + factory)
                .run(there -> {
                    WebClient client = there.getBean(WebClient.Builder.class).build();
                    List<NamedTimes.Entry> unfinished = new ArrayList<>();
                    CallLedger call = Calls.ledgerOf(() -> {
                        CallLedger own = CallLedger.current();
                        assertThat(client.get()
                                        .uri(url())
                                        .exchangeToMono(response -> {
                                            unfinished.addAll(own.unfinished());
                                            return response.bodyToMono(String.class);
                                        })
                                        .block())
                                .isEqualTo("seven");
                        return own;
                    });

                    assertThat(unfinished).extracting(NamedTimes.Entry::kind).containsExactly(Phase.HTTP);
                    assertThat(call.unfinished()).isEmpty();
                    assertOne(call);
                });
    }

    @ParameterizedTest
    // The HttpComponents client is not tested here, because it retries a request after a response with status 503.
    @ValueSource(strings = {"jdk", "simple"})
    void exchangeThatFailsOnTheServerHasItsStatusInTheName(String factory) {
        application
                .withPropertyValues("spring.http.clients.imperative.factory=" + factory)
                .run(there -> {
                    RestClient client = there.getBean(RestClient.Builder.class).build();
                    CallLedger call = Calls.ledgerOf(() -> {
                        for (int i = 0; i < 10; i++) {
                            assertThatThrownBy(() -> client.get()
                                            .uri(url() + "/full")
                                            .retrieve()
                                            .toBodilessEntity())
                                    .hasMessageContaining("503");
                        }
                        return null;
                    });

                    assertThat(call.count(Phase.HTTP)).isEqualTo(10);
                    assertThat(Calls.names(call, Phase.HTTP))
                            .contains("GET " + url().substring("http://".length()) + "/full (503)");
                });
    }

    /** Returns the expected name of an exchange that was redirected to another address. */
    private static String redirected() {
        String host = url().substring("http://".length());
        return "GET " + host + "/moved (redirect to " + host + ")";
    }

    private static void assertRedirected(RestClient client) throws Exception {
        CallLedger call = Calls.ledgerOf(
                () -> assertThat(client.get().uri(url() + "/moved").retrieve().body(String.class))
                        .isEqualTo("seven"));

        assertThat(call.count(Phase.HTTP)).isOne();
        assertThat(Calls.names(call, Phase.HTTP)).containsExactly(redirected());
    }

    @Test
    void redirectThatBootsRestClientFollowsIsPartOfTheName() {
        application
                .withPropertyValues("spring.http.clients.imperative.factory=jdk")
                .run(there ->
                        assertRedirected(there.getBean(RestClient.Builder.class).build()));
    }

    @Configuration(proxyBeanMethods = false)
    static class FactoryOfAnOwnClient {

        @Bean
        HttpClient jdk() {
            return HttpClient.newBuilder()
                    .followRedirects(HttpClient.Redirect.NORMAL)
                    .build();
        }

        @Bean
        RestClient client(HttpClient jdk) {
            JdkClientHttpRequestFactory factory = new JdkClientHttpRequestFactory(jdk);
            factory.setReadTimeout(Duration.ofSeconds(60));
            return RestClient.builder().requestFactory(factory).build();
        }
    }

    @Test
    void redirectThatAnOwnClientFollowsIsPartOfTheName() {
        application.withUserConfiguration(FactoryOfAnOwnClient.class).run(there -> {
            HttpClient jdk = there.getBean(HttpClient.class);
            HttpRequest request =
                    HttpRequest.newBuilder(URI.create(url() + "/moved")).build();

            assertRedirected(there.getBean(RestClient.class));
            CallLedger call = Calls.ledgerOf(() -> jdk.send(request, HttpResponse.BodyHandlers.ofString()));
            assertThat(call.count(Phase.HTTP)).isOne();
            assertThat(Calls.names(call, Phase.HTTP)).containsExactly(redirected());
        });
    }

    @Test
    void redirectsOutsideOfCallsAreKnownByTheSameName() {
        OutsideOperations.clear();
        application
                .withPropertyValues("spring.http.clients.imperative.factory=jdk")
                .run(there -> {
                    RestClient client = there.getBean(RestClient.Builder.class).build();

                    client.get().uri(url() + "/moved").retrieve().toBodilessEntity();

                    assertThat(OutsideOperations.of(Phase.HTTP, redirected())).isNotNull();
                });
    }

    @Test
    void requestThatTimesOutIsCancelled() throws Exception {
        CountDownLatch end = new CountDownLatch(1);
        server.createContext("/hung", exchange -> {
            try {
                end.await();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
            exchange.close();
        });
        try {
            application
                    .withPropertyValues(
                            "spring.http.clients.imperative.factory=jdk", "spring.http.clients.read-timeout=50ms")
                    .run(there -> {
                        RestClient client =
                                there.getBean(RestClient.Builder.class).build();
                        CallLedger call = Calls.ledgerOf(() -> {
                            assertThatThrownBy(() -> client.get()
                                            .uri(url() + "/hung")
                                            .retrieve()
                                            .toBodilessEntity())
                                    .hasCauseInstanceOf(HttpTimeoutException.class);
                            return null;
                        });

                        assertThat(Calls.names(call, Phase.HTTP))
                                .containsExactly("GET " + url().substring("http://".length()) + "/hung");
                    });
        } finally {
            end.countDown();
        }
    }

    @Test
    void exchangeEndsIfAFutureThatWasDerivedFromItsAnswerIsCancelled() {
        CountDownLatch end = new CountDownLatch(1);
        server.createContext("/stuck", exchange -> {
            try {
                end.await();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
            exchange.close();
        });
        try {
            HttpRequest request =
                    HttpRequest.newBuilder(URI.create(url() + "/stuck")).build();
            CompletableFuture<HttpResponse<String>> answer = WatchedHttpClient.ofFactory(HttpClient.newHttpClient())
                    .sendAsync(request, HttpResponse.BodyHandlers.ofString());

            answer.thenApply(HttpResponse::body).cancel(true);

            assertThat(answer).failsWithin(Duration.ofSeconds(20));
        } finally {
            end.countDown();
        }
    }

    @Test
    void exchangeOfBootsRestTemplateCounts() {
        application
                .withPropertyValues("spring.http.clients.imperative.factory=jdk")
                .run(there -> {
                    RestTemplate template =
                            there.getBean(RestTemplateBuilder.class).build();

                    assertOne(Calls.ledgerOf(() -> template.getForObject(url(), String.class)));
                });
    }

    @ParameterizedTest
    @ValueSource(strings = {"jdk", "reactor", "jetty"})
    void exchangeOfBootsWebClientCounts(String connector) {
        application
                .withPropertyValues("spring.http.clients.reactive.connector=" + connector)
                .run(there -> {
                    WebClient client = there.getBean(WebClient.Builder.class).build();
                    CallLedger call = Calls.ledgerOf(() -> assertThat(client.get()
                                    .uri(url())
                                    .retrieve()
                                    .bodyToMono(String.class)
                                    .block())
                            .isEqualTo("seven"));

                    assertOne(call);
                });
    }

    @Test
    void clientsThatTheApplicationBuildsCount() {
        application.withUserConfiguration(OwnClients.class).run(there -> {
            RestTemplate template = there.getBean(RestTemplate.class);
            RestClient client = there.getBean(RestClient.class);
            HttpClient jdk = there.getBean(HttpClient.class);
            HttpRequest request = HttpRequest.newBuilder(URI.create(url())).build();

            assertOne(Calls.ledgerOf(() -> template.getForObject(url(), String.class)));
            assertOne(Calls.ledgerOf(() -> client.get().uri(url()).retrieve().toBodilessEntity()));
            assertOne(Calls.ledgerOf(() -> jdk.send(request, HttpResponse.BodyHandlers.ofString())));
            assertOne(Calls.ledgerOf(() ->
                    jdk.sendAsync(request, HttpResponse.BodyHandlers.ofString()).get(60, TimeUnit.SECONDS)));
        });
    }
}
