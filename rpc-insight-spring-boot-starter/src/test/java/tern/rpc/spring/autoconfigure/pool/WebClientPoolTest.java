package tern.rpc.spring.autoconfigure.pool;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.InstanceOfAssertFactories.STRING;

import com.sun.net.httpserver.HttpServer;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.function.Predicate;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.http.client.autoconfigure.reactive.ReactiveHttpClientAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.webclient.autoconfigure.WebClientAutoConfiguration;
import org.springframework.context.ApplicationContext;
import org.springframework.http.client.reactive.ReactorClientHttpConnector;
import org.springframework.web.reactive.function.client.WebClient;
import org.springframework.web.reactive.function.client.WebClientRequestException;
import reactor.netty.http.client.HttpClient;
import reactor.netty.resources.ConnectionProvider;
import tern.rpc.CallLedger;
import tern.rpc.Phase;
import tern.rpc.pool.PoolSnapshot;
import tern.rpc.pool.PoolSource;

/** Tests the pool of a WebClient for which the application has created a connection provider with one connection. */
@Timeout(60)
class WebClientPoolTest {

    private final ApplicationContextRunner application = new ApplicationContextRunner()
            .withConfiguration(AutoConfigurations.of(
                    RpcPoolsAutoConfiguration.class,
                    HttpClientAutoConfiguration.class,
                    org.springframework.boot.http.client.autoconfigure.HttpClientAutoConfiguration.class,
                    ReactiveHttpClientAutoConfiguration.class,
                    WebClientAutoConfiguration.class));

    private final ConnectionProvider provider = ConnectionProvider.builder("carriers")
            .maxConnections(1)
            .pendingAcquireMaxCount(1)
            .build();
    private final CountDownLatch answer = new CountDownLatch(1);
    private final ExecutorService threads = Executors.newCachedThreadPool();
    private final List<CompletableFuture<CallLedger>> calls = new ArrayList<>();
    private HttpServer server;
    private String host;

    @BeforeEach
    void start() throws Exception {
        server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.setExecutor(threads);
        server.createContext("/", exchange -> {
            try {
                answer.await();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
            byte[] body = "seven".getBytes(StandardCharsets.UTF_8);
            exchange.sendResponseHeaders(200, body.length);
            exchange.getResponseBody().write(body);
            exchange.close();
        });
        server.start();
        host = "127.0.0.1:" + server.getAddress().getPort();
    }

    @AfterEach
    void stop() {
        answer.countDown();
        server.stop(0);
        threads.shutdown();
        provider.dispose();
    }

    private WebClient client(ApplicationContext there) {
        return there.getBean(WebClient.Builder.class)
                .clientConnector(new ReactorClientHttpConnector(HttpClient.create(provider)))
                .build();
    }

    private static String get(WebClient client, String address) {
        return client.get()
                .uri("http://" + address)
                .retrieve()
                .bodyToMono(String.class)
                .block();
    }

    private CompletableFuture<CallLedger> called(WebClient client) {
        CompletableFuture<CallLedger> call = CompletableFuture.supplyAsync(
                () -> {
                    try {
                        return Calls.ledgerOf(() -> get(client, host));
                    } catch (Exception e) {
                        throw new IllegalStateException(e);
                    }
                },
                threads);
        calls.add(call);
        return call;
    }

    /** Waits until the pool's state matches, and returns this state. */
    private PoolSnapshot until(ApplicationContext there, Predicate<PoolSnapshot> wanted) {
        while (!Thread.currentThread().isInterrupted()) {
            calls.stream().filter(CompletableFuture::isCompletedExceptionally).forEach(CompletableFuture::join);
            Map<String, PoolSource> pools = there.getBeansOfType(PoolSource.class);
            PoolSource pool = pools.get("rpcPool.http-carriers " + host);
            PoolSnapshot now = pool == null ? null : pool.snapshot();
            if (now != null && wanted.test(now)) {
                return now;
            }
            Thread.onSpinWait();
        }
        throw new IllegalStateException("no such state of the pool");
    }

    @Test
    void callThatWaitsForTheOnlyConnectionWaitsForThePoolAndNotForThePeer() {
        application.run(there -> {
            WebClient client = client(there);
            CompletableFuture<CallLedger> first = called(client);
            until(there, now -> now.active() == 1);
            CompletableFuture<CallLedger> second = called(client);

            PoolSnapshot full = until(there, now -> now.waiting() == 1);
            answer.countDown();

            assertThat(full.effectiveMax()).isOne();
            assertThat(full.active()).isOne();
            assertThat(full.held()).isPositive();
            assertThat(Calls.names(second.join(), Phase.HTTP_CONNECTION)).containsExactly("http-carriers " + host);
            assertThat(second.join().count(Phase.HTTP)).isOne();
            assertThat(first.join().count(Phase.HTTP)).isOne();
            assertThat(until(there, now -> now.active() == 0).taken()).isEqualTo(2);
        });
    }

    private CallLedger failed(WebClient client, String address) throws Exception {
        return Calls.ledgerOf(
                () -> assertThatThrownBy(() -> get(client, address)).isInstanceOf(WebClientRequestException.class));
    }

    @Test
    void callBeyondTheMaximumNumberOfWaitingCallsFailsAtThePool() {
        application.run(there -> {
            WebClient client = client(there);
            called(client);
            until(there, now -> now.active() == 1);
            called(client);
            until(there, now -> now.waiting() == 1);

            CallLedger third = failed(client, host);
            answer.countDown();

            assertThat(Calls.names(third, Phase.HTTP_CONNECTION)).containsExactly("http-carriers " + host);
            assertThat(third.count(Phase.HTTP)).isZero();
            assertThat(until(there, now -> now.taken() == 2).refused()).isOne();
        });
    }

    @Test
    void refusedConnectionIsAFailureOfThePeerAndNoWaitForThePool() throws Exception {
        String closed;
        try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            closed = "127.0.0.1:" + socket.getLocalPort();
        }

        application.run(there -> {
            CallLedger call = failed(client(there), closed);

            assertThat(Calls.names(call, Phase.HTTP)).singleElement(STRING).startsWith("GET " + closed + " (");
            assertThat(call.count(Phase.HTTP_CONNECTION)).isZero();
        });
    }
}
