package tern.rpc.spring.autoconfigure.pool;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpServer;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.Executors;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Lazy;
import org.springframework.scheduling.concurrent.ThreadPoolTaskExecutor;
import shop.Finder;
import shop.Prices;
import tern.rpc.CallLedger;
import tern.rpc.Phase;
import tern.rpc.pool.PoolSource;

/** Checks that executors and HTTP clients in the fields of the application's objects are measured like beans. */
@Timeout(120)
class HeldObjectsTest {

    private static final AtomicInteger DECORATED = new AtomicInteger();

    private final ApplicationContextRunner application = new ApplicationContextRunner()
            .withConfiguration(
                    AutoConfigurations.of(RpcPoolsAutoConfiguration.class, HttpClientAutoConfiguration.class))
            .withUserConfiguration(Shop.class);

    @Configuration(proxyBeanMethods = false)
    static class Shop {

        @Bean(destroyMethod = "close")
        Prices prices(@Qualifier("given") Executor given, @Lazy ThreadPoolTaskExecutor lazy) {
            return new Prices(given, lazy);
        }

        @Bean
        @Lazy
        ThreadPoolTaskExecutor lazy() {
            ThreadPoolTaskExecutor executor = new ThreadPoolTaskExecutor();
            executor.setTaskDecorator(task -> () -> {
                DECORATED.incrementAndGet();
                task.run();
            });
            return executor;
        }

        @Bean
        ThreadPoolExecutor given() {
            return (ThreadPoolExecutor) Executors.newFixedThreadPool(1);
        }
    }

    private static void statement() {
        CallLedger ledger = CallLedger.current();
        ledger.leave(ledger.enter(Phase.SQL));
    }

    @ParameterizedTest
    @ValueSource(strings = {"loaders", "single", "shared", "given", "own", "lazy"})
    void taskCountsForTheCallThatSubmitsIt(String field) {
        application.run(there -> {
            Executor executor = there.getBean(Prices.class).executor(field);

            CallLedger call = Calls.ledgerOf(() -> CompletableFuture.runAsync(HeldObjectsTest::statement, executor)
                    .get(60, TimeUnit.SECONDS));
            while (!call.parts().isEmpty()) {
                Thread.onSpinWait(); // The future completes shortly before the end of the task, so the test waits.
            }

            assertThat(call.count(Phase.SQL)).isOne();
            assertThat(call.count(Phase.EXECUTOR)).isOne();
        });
    }

    @Test
    void executorHasOnePoolWithTheNameOfItsField() {
        application.run(there -> {
            Prices prices = there.getBean(Prices.class);
            ObjectProvider<PoolSource> pools = there.getBeanProvider(PoolSource.class);

            assertThat(pools.stream().map(pool -> pool.snapshot().name()))
                    .containsExactlyInAnyOrder(
                            "common-pool",
                            "given",
                            "lazy",
                            "Prices.loaders",
                            "Prices.Helper.single",
                            "Prices.Own.executor");
            assertThat(Calls.pool(there, "Prices.loaders").max()).isEqualTo(2);
            String thread = prices.load(() -> Thread.currentThread().getName()).get(60, TimeUnit.SECONDS);
            assertThat(Calls.pool(there, "Prices.loaders").thread()).isEqualTo(thread);
            assertThat(prices.executor("shared")).isSameAs(prices.executor("loaders"));
            assertThat(prices.executor("given")).isSameAs(there.getBean("given"));
        });
    }

    @Configuration(proxyBeanMethods = false)
    static class Search {

        @Bean
        Finder.Alerts alerts() {
            return new Finder.Alerts();
        }

        @Bean(destroyMethod = "close")
        Finder finder(Finder.Alerts alerts) {
            return new Finder(alerts);
        }
    }

    @Test
    void executorIsNamedAfterTheClassThatCreatedItAndNotAfterAnEarlierBeanThatUsesIt() {
        new ApplicationContextRunner()
                .withConfiguration(AutoConfigurations.of(RpcPoolsAutoConfiguration.class))
                .withUserConfiguration(Search.class)
                .run(there -> {
                    ObjectProvider<PoolSource> pools = there.getBeanProvider(PoolSource.class);

                    assertThat(pools.stream().map(pool -> pool.snapshot().name()))
                            .containsExactlyInAnyOrder("common-pool", "Finder.finders");
                    assertThat(there.getBean(Finder.Alerts.class).executor())
                            .isSameAs(there.getBean(Finder.class).executor());
                });
    }

    @Test
    void lazyExecutorKeepsTheDecoratorOfTheApplication() {
        application.run(there -> {
            int before = DECORATED.get();

            CompletableFuture.runAsync(
                            HeldObjectsTest::statement,
                            there.getBean(Prices.class).executor("lazy"))
                    .get(60, TimeUnit.SECONDS);

            assertThat(DECORATED.get()).isEqualTo(before + 1);
        });
    }

    @Test
    void propertyLeavesFieldsAsTheyAre() {
        application
                .withPropertyValues("rpc.pools.fields=no")
                .run(there -> assertThat(there.getBean(Prices.class).executor("loaders"))
                        .isExactlyInstanceOf(ThreadPoolExecutor.class));
    }

    @Test
    void exchangeOfEachClientHasTheNameOfItsPeer() throws Exception {
        HttpServer server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.createContext("/", exchange -> {
            exchange.sendResponseHeaders(200, -1);
            exchange.close();
        });
        server.start();
        URI address = URI.create("http://127.0.0.1:" + server.getAddress().getPort());
        try {
            application.run(there -> {
                Prices prices = there.getBean(Prices.class);

                List<CallLedger> calls = List.of(
                        Calls.ledgerOf(() -> prices.template().getForObject(address, String.class)),
                        Calls.ledgerOf(() ->
                                prices.rest().get().uri(address).retrieve().toBodilessEntity()),
                        Calls.ledgerOf(() -> prices.reactive()
                                .get()
                                .uri(address)
                                .retrieve()
                                .toBodilessEntity()
                                .block()),
                        Calls.ledgerOf(() -> prices.jdk()
                                .send(
                                        HttpRequest.newBuilder(address).build(),
                                        HttpResponse.BodyHandlers.discarding())));

                assertThat(calls).allSatisfy(call -> {
                    assertThat(call.count(Phase.HTTP)).isOne();
                    assertThat(Calls.names(call, Phase.HTTP)).containsExactly("GET " + address.getAuthority());
                });
            });
        } finally {
            server.stop(0);
        }
    }
}
