package tern.rpc.spring.autoconfigure.pool;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static tern.rpc.spring.autoconfigure.pool.PoolApplications.pool;
import static tern.rpc.spring.autoconfigure.pool.PoolApplications.setting;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import org.apache.hc.client5.http.impl.classic.HttpClientBuilder;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.slf4j.LoggerFactory;
import org.springframework.boot.http.client.HttpClientSettings;
import org.springframework.boot.http.client.HttpComponentsClientHttpRequestFactoryBuilder;
import org.springframework.boot.http.client.autoconfigure.ClientHttpRequestFactoryBuilderCustomizer;
import org.springframework.boot.http.client.autoconfigure.HttpClientAutoConfiguration;
import org.springframework.boot.http.client.autoconfigure.imperative.ImperativeHttpClientAutoConfiguration;
import org.springframework.boot.restclient.autoconfigure.RestClientAutoConfiguration;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.web.client.ResourceAccessException;
import org.springframework.web.client.RestClient;
import tern.rpc.CallLedger;
import tern.rpc.Phase;
import tern.rpc.pool.PoolSnapshot;

/** Tests the tuned Apache client behind RestClient. The server responds only when the test releases it. */
class HttpPoolTest {

    private final ExecutorService threads = Executors.newCachedThreadPool();
    private final CountDownLatch arrived = new CountDownLatch(1);
    private final CountDownLatch answer = new CountDownLatch(1);
    private HttpServer server;

    @BeforeEach
    void start() throws IOException {
        server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.setExecutor(threads);
        server.createContext("/", exchange -> {
            exchange.sendResponseHeaders(204, -1);
            exchange.close();
        });
        server.createContext("/slow", exchange -> {
            arrived.countDown();
            try {
                answer.await();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
            exchange.sendResponseHeaders(204, -1);
            exchange.close();
        });
        server.start();
    }

    @AfterEach
    void stop() {
        answer.countDown();
        server.stop(0);
        threads.shutdown();
    }

    private static ApplicationContextRunner application() {
        return PoolApplications.with(
                HttpPoolAutoConfiguration.class,
                HttpClientAutoConfiguration.class,
                ImperativeHttpClientAutoConfiguration.class,
                RestClientAutoConfiguration.class);
    }

    private String url(String path) {
        return "http://127.0.0.1:" + server.getAddress().getPort() + path;
    }

    private static RestClient client(org.springframework.context.ApplicationContext there) {
        return there.getBean(RestClient.Builder.class).build();
    }

    @Test
    void valuesComeFromTheTarget() {
        application().run(there -> {
            client(there);

            PoolSnapshot pool = pool(there, "http");

            assertThat(setting(pool, "rpc.pools.http.max-total")).isEqualTo("200 (TUNED)");
            assertThat(setting(pool, "rpc.pools.http.max-per-host")).isEqualTo("64 (TUNED)");
            assertThat(setting(pool, "rpc.pools.http.max-wait")).isEqualTo("1s (TUNED)");
            assertThat(there.getBean(HttpClientSettings.class).connectTimeout()).isEqualTo(Duration.ofSeconds(1));
            assertThat(there.getBean(HttpClientSettings.class).readTimeout()).isEqualTo(Duration.ofSeconds(5));
        });
    }

    @Test
    void totalAloneAlsoAppliesToOneHost() {
        application().withPropertyValues("rpc.pools.http.max-total=300").run(there -> {
            client(there);

            assertThat(pool(there, "http").maxPerHost()).isEqualTo(300);
            assertThat(pool(there, "http").effectiveMax()).isEqualTo(300);
        });
    }

    @Test
    void limitPerHostThatTheUserWantsIsShownAsTheEffectiveOne() {
        application()
                .withPropertyValues("rpc.pools.http.max-total=300", "rpc.pools.http.max-per-host=8")
                .run(there -> {
                    client(there);

                    assertThat(pool(there, "http").max()).isEqualTo(300);
                    assertThat(pool(there, "http").effectiveMax()).isEqualTo(8);
                });
    }

    @Test
    void usersTimeoutsStay() {
        application().withPropertyValues("spring.http.clients.read-timeout=7s").run(there -> {
            HttpClientSettings settings = there.getBean(HttpClientSettings.class);

            assertThat(settings.readTimeout()).isEqualTo(Duration.ofSeconds(7));
            assertThat(settings.connectTimeout()).isEqualTo(Duration.ofSeconds(1));
        });
    }

    @Test
    void timeoutThatTheApplicationDoesNotSetIsLogged() {
        Logger log = (Logger) LoggerFactory.getLogger(TunedTimeouts.class);
        Level before = log.getLevel();
        ListAppender<ILoggingEvent> lines = new ListAppender<>();
        lines.start();
        log.setLevel(Level.INFO);
        log.addAppender(lines);
        try {
            application()
                    .withPropertyValues("spring.http.clients.connect-timeout=2s")
                    .run(there ->
                            assertThat(there.getBean(HttpClientSettings.class)).isNotNull());
        } finally {
            log.detachAppender(lines);
            log.setLevel(before);
        }
        assertThat(lines.list)
                .extracting(ILoggingEvent::getFormattedMessage)
                .containsExactly(
                        "HTTP clients of Spring Boot: Tern sets spring.http.clients.read-timeout=5s, because the"
                                + " application does not; rpc.pools.tuned=false keeps the library's values");
    }

    @Configuration(proxyBeanMethods = false)
    static class OwnSettings {
        @Bean
        HttpClientSettings own() {
            return HttpClientSettings.defaults();
        }

        @Bean
        ClientHttpRequestFactoryBuilderCustomizer<HttpComponentsClientHttpRequestFactoryBuilder> smaller() {
            return builder -> builder.withConnectionManagerCustomizer(pool -> pool.setMaxConnPerRoute(3));
        }
    }

    @Test
    void applicationsOwnSettingsAndCustomizersWin() {
        application().withUserConfiguration(OwnSettings.class).run(there -> {
            client(there);

            assertThat(there.getBean(HttpClientSettings.class).readTimeout()).isNull();
            assertThat(pool(there, "http").maxPerHost()).isEqualTo(3);
        });
    }

    @Test
    void withoutTuningTheLibrarysValuesHold() {
        application().withPropertyValues("rpc.pools.tuned=false").run(there -> {
            client(there);

            assertThat(there.getBean(HttpClientSettings.class).readTimeout()).isNull();
            assertThat(setting(pool(there, "http"), "rpc.pools.http.max-total")).isEqualTo("25 (LIBRARY)");
            assertThat(setting(pool(there, "http"), "rpc.pools.http.max-per-host"))
                    .isEqualTo("5 (LIBRARY)");
            assertThat(setting(pool(there, "http"), "rpc.pools.http.max-wait")).isEqualTo("180s (LIBRARY)");
        });
    }

    @ParameterizedTest
    @CsvSource({
        "max-total=7, 7 (USER), 7 (LIBRARY), 180s (LIBRARY)",
        "max-per-host=3, 25 (LIBRARY), 3 (USER), 180s (LIBRARY)",
        "max-per-host=40, 40 (LIBRARY), 40 (USER), 180s (LIBRARY)",
        "max-wait=2s, 25 (LIBRARY), 5 (LIBRARY), 2s (USER)",
    })
    void withoutTuningTheApplicationsOwnSettingsHold(String property, String total, String perHost, String wait) {
        application()
                .withPropertyValues("rpc.pools.tuned=false", "rpc.pools.http." + property)
                .run(there -> {
                    client(there);

                    PoolSnapshot pool = pool(there, "http");
                    assertThat(setting(pool, "rpc.pools.http.max-total")).isEqualTo(total);
                    assertThat(setting(pool, "rpc.pools.http.max-per-host")).isEqualTo(perHost);
                    assertThat(setting(pool, "rpc.pools.http.max-wait")).isEqualTo(wait);
                });
    }

    @Test
    void withoutApacheNothingHappens() {
        application()
                .withClassLoader(new FilteredClassLoader(HttpClientBuilder.class))
                .run(there -> assertThat(there).hasNotFailed().doesNotHaveBean("rpcHttpPoolCustomizer"));
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "max-total=0                    | rpc.pools.http.max-total is 0; expected 1 to 10000",
                "max-per-host=0                 | rpc.pools.http.max-per-host is 0; expected 1 to 10000",
                "max-wait=0ms                   | rpc.pools.http.max-wait is 0s; expected more than 0",
            })
    void wrongValuesStopTheStart(String property, String message) {
        application()
                .withPropertyValues("rpc.pools.http." + property)
                .run(there -> assertThat(there).getFailure().rootCause().hasMessageContaining(message));
    }

    @Test
    void limitPerHostAboveTheTotalStopsTheStart() {
        application()
                .withPropertyValues("rpc.pools.http.max-total=8", "rpc.pools.http.max-per-host=9")
                .run(there -> assertThat(there)
                        .getFailure()
                        .rootCause()
                        .hasMessageContaining("rpc.pools.http.max-per-host is 9; expected 1 to 8"));
    }

    @Test
    void exchangeAndItsConnectionCountInTheLedger() {
        application().run(there -> {
            RestClient http = client(there);

            CallLedger ledger =
                    Serving.ledgerOf(() -> http.get().uri(url("/")).retrieve().toBodilessEntity());

            assertThat(ledger.count(Phase.HTTP)).isEqualTo(1);
            assertThat(ledger.count(Phase.HTTP_CONNECTION)).isEqualTo(1);
            assertThat(ledger.phase()).isEqualTo(Phase.OWN);
            assertThat(pool(there, "http").taken()).isEqualTo(1);
            assertThat(pool(there, "http").hosts()).isEqualTo(1);
            assertThat(pool(there, "http").held()).isPositive();
        });
    }

    @Test
    void waitForTheOneConnectionOfAHostIsBoundedAndCounted() {
        application()
                .withPropertyValues("rpc.pools.http.max-per-host=1", "rpc.pools.http.max-wait=500ms")
                .run(there -> {
                    RestClient http = client(there);
                    FutureTask<Object> first = new FutureTask<>(
                            () -> http.get().uri(url("/slow")).retrieve().toBodilessEntity());
                    threads.execute(first);
                    assertThat(arrived.await(30, TimeUnit.SECONDS)).isTrue();

                    CallLedger ledger = Serving.ledgerOf(() -> {
                        assertThatThrownBy(() ->
                                        http.get().uri(url("/")).retrieve().toBodilessEntity())
                                .isInstanceOf(ResourceAccessException.class)
                                .hasStackTraceContaining("ConnectionRequestTimeoutException");
                        return null;
                    });

                    assertThat(ledger.count(Phase.HTTP_CONNECTION)).isEqualTo(1);
                    assertThat(ledger.count(Phase.HTTP)).isZero();
                    assertThat(pool(there, "http").refused()).isEqualTo(1);
                    assertThat(pool(there, "http").active()).isEqualTo(1);
                    answer.countDown();
                    first.get(30, TimeUnit.SECONDS);
                });
    }
}
