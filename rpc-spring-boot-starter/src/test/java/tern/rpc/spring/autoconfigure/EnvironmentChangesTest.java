package tern.rpc.spring.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.cloud.context.environment.EnvironmentChangeEvent;
import org.springframework.context.ApplicationContext;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.core.env.Environment;
import org.springframework.core.env.MapPropertySource;
import org.springframework.mock.env.MockEnvironment;
import tern.rpc.RpcException;
import tern.rpc.RpcMethod;
import tern.rpc.client.RpcClient;
import tern.rpc.cluster.ClusterReport;
import tern.rpc.registry.RuledLimit;
import tern.rpc.spring.RpcReference;
import tern.rpc.spring.RpcService;

/** Tests changes of timeouts and weights while the application is running. */
class EnvironmentChangesTest {

    interface Stock {
        int left(String item);

        int ordered(String item);

        @RpcMethod(timeout = "700ms")
        int sold(String item);
    }

    static class Shop {

        @RpcReference
        Stock stock;
    }

    private final ApplicationContextRunner runner = Applications.application(Shop.class)
            .withPropertyValues(
                    "rpc.client.services.stock.url=127.0.0.1:1?weight=50,127.0.0.1:2",
                    "rpc.client.services.stock.wait-for-ready=true",
                    "rpc.client.services.stock.methods.ordered.timeout=40ms",
                    "rpc.client.timeout=30ms");

    private static void change(ConfigurableApplicationContext context, Map<String, Object> properties) {
        context.getEnvironment().getPropertySources().remove("changed");
        context.getEnvironment().getPropertySources().addFirst(new MapPropertySource("changed", properties));
        context.publishEvent(new EnvironmentChangeEvent(context, properties.keySet()));
    }

    private static List<Integer> weights(ApplicationContext context) {
        return context.getBean(RpcClient.class).references().get(0).cluster().providers().stream()
                .map(ClusterReport.Provider::attributes)
                .map(attributes -> attributes.weight())
                .toList();
    }

    private static Stock stock(ApplicationContext context) {
        return context.getBean(Shop.class).stock;
    }

    @Test
    void changedTimeoutsAreInForceAtOnce() {
        runner.run(context -> {
            ConfigurableApplicationContext running = context.getSourceApplicationContext();
            assertThatThrownBy(() -> stock(context).left("x")).hasMessageContaining("30 ms (rpc.client.timeout)");

            change(running, Map.of("rpc.client.timeout", "20ms"));

            assertThatThrownBy(() -> stock(context).left("x"))
                    .isInstanceOf(RpcException.class)
                    .hasMessageContaining("20 ms (changed properties rpc.client…)");
            assertThatThrownBy(() -> stock(context).ordered("x"))
                    .hasMessageContaining("40 ms (rpc.client.services.stock.methods.ordered.timeout)");
            assertThatThrownBy(() -> stock(context).sold("x")).hasMessageContaining("700 ms (@RpcMethod");

            change(running, Map.of("rpc.client.services.stock.methods.ordered.timeout", "10ms"));

            assertThatThrownBy(() -> stock(context).left("x")).hasMessageContaining("30 ms (rpc.client.timeout)");
            assertThatThrownBy(() -> stock(context).ordered("x"))
                    .hasMessageContaining("10 ms (changed properties rpc.client…)");
        });
    }

    @Test
    void changedWeightsOfAddressesAreInForceAtOnce() {
        runner.run(context -> {
            ConfigurableApplicationContext running = context.getSourceApplicationContext();
            assertThat(weights(context)).containsExactly(50, 100);

            change(running, Map.of("rpc.client.services.stock.url", "127.0.0.1:1?weight=50,127.0.0.1:2?weight=7"));
            assertThat(weights(context)).containsExactly(50, 7);

            change(running, Map.of());
            assertThat(weights(context)).containsExactly(50, 100);
        });
    }

    @Test
    void wrongValuesChangeNothing() {
        runner.run(context -> {
            ConfigurableApplicationContext running = context.getSourceApplicationContext();

            change(running, Map.of("rpc.client.timeout", "0s"));
            change(running, Map.of("rpc.client.services.stock.url", "not an address"));

            assertThat(weights(context)).containsExactly(50, 100);
            assertThatThrownBy(() -> stock(context).left("x")).hasMessageContaining("30 ms (rpc.client.timeout)");
        });
    }

    @Test
    void serviceWithoutChangeablePropertiesKeepsItsRegistry(@TempDir Path directory) throws IOException {
        Path file = Files.writeString(directory.resolve("providers.json"), "{\"services\":{}}");
        Applications.application(Shop.class)
                .withPropertyValues(
                        "rpc.client.services.stock.registry=file://" + file,
                        "rpc.client.services.stock.wait-for-ready=true",
                        "rpc.client.timeout=30ms")
                .run(context -> {
                    assertThatThrownBy(() -> stock(context).left("x"))
                            .hasMessageContaining("30 ms (rpc.client.timeout)");

                    change(context.getSourceApplicationContext(), Map.of("rpc.client.timeout", "20ms"));

                    assertThatThrownBy(() -> stock(context).left("x"))
                            .hasMessageContaining("20 ms (changed properties rpc.client…)");
                });
    }

    @Test
    void changedPropertyMayHaveTheNameOfTheServiceInAnotherForm(@TempDir Path directory) throws IOException {
        Path file = Files.writeString(directory.resolve("providers.json"), "{\"services\":{}}");
        Applications.application(Shop.class)
                .withPropertyValues(
                        "rpc.client.services.stock.registry=file://" + file,
                        "rpc.client.services.stock.wait-for-ready=true",
                        "rpc.client.services.stock.timeout=30ms")
                .run(context -> {
                    change(context.getSourceApplicationContext(), Map.of("rpc.client.services.s-tock.timeout", "20ms"));

                    assertThatThrownBy(() -> stock(context).left("x"))
                            .hasMessageContaining("20 ms (changed properties rpc.client…)");
                });
    }

    @Test
    void referenceThatIsCreatedAfterAChangeHasTheChangedSettings() {
        Applications.application()
                .withPropertyValues(
                        "rpc.client.services.stock.url=127.0.0.1:1",
                        "rpc.client.services.stock.wait-for-ready=true",
                        "rpc.client.timeout=30ms")
                .run(context -> {
                    change(context.getSourceApplicationContext(), Map.of("rpc.client.timeout", "20ms"));

                    Shop shop = context.getAutowireCapableBeanFactory().createBean(Shop.class);

                    assertThatThrownBy(() -> shop.stock.left("x"))
                            .hasMessageContaining("20 ms (changed properties rpc.client…)");
                });
    }

    /**
     * A provider that delays the answers of one method until the test releases them. The other methods answer with the
     * provider's port.
     */
    @RpcService
    static class PortStock implements Stock {

        private final Semaphore holding = new Semaphore(0);
        private final CountDownLatch release = new CountDownLatch(1);

        @Autowired
        private Environment environment;

        @Override
        public int left(String item) {
            holding.release();
            try {
                assertThat(release.await(30, TimeUnit.SECONDS)).isTrue();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
            return 0;
        }

        @Override
        public int ordered(String item) {
            return Integer.parseInt(environment.getProperty("local.rpc.port"));
        }

        @Override
        public int sold(String item) {
            return 0;
        }
    }

    private static Set<Integer> ports(ApplicationContext context) {
        return IntStream.range(0, 20)
                .mapToObj(call -> stock(context).ordered("x"))
                .collect(Collectors.toSet());
    }

    @Test
    @Timeout(60)
    void changedLoadBalancingIsInForceAtOnce() {
        ApplicationContextRunner provider = Applications.provider(PortStock.class);
        provider.run(one -> provider.run(two -> Applications.application(Shop.class)
                .withPropertyValues(
                        "rpc.client.load-balancing=round-robin",
                        "rpc.client.url=" + Applications.addressOf(one) + "," + Applications.addressOf(two))
                .run(context -> {
                    ConfigurableApplicationContext running = context.getSourceApplicationContext();
                    while (ports(context).size() < 2) {
                        // The test waits until the client has connected to the second provider, which happens in the
                        // background.
                        Thread.onSpinWait();
                    }

                    change(running, Map.of("rpc.client.load-balancing", "consistent-hash"));
                    assertThat(ports(context)).hasSize(1);
                    change(running, Map.of("rpc.client.services.stock.load-balancing", "no-such-policy"));
                    assertThat(ports(context)).hasSize(1);
                    change(running, Map.of());
                    assertThat(ports(context)).hasSize(2);
                })));
    }

    private final ApplicationContextRunner server = Applications.provider(PortStock.class, Shop.class)
            .withPropertyValues("rpc.client.services.stock.url=local");

    private static CompletableFuture<Integer> hold(ApplicationContext context) throws InterruptedException {
        // The call uses a new thread, because the common pool might have only one thread, and a call without an answer
        // would block it.
        CompletableFuture<Integer> call =
                CompletableFuture.supplyAsync(() -> stock(context).left("x"), task -> new Thread(task).start());
        assertThat(context.getBean(PortStock.class).holding.tryAcquire(30, TimeUnit.SECONDS))
                .isTrue();
        return call;
    }

    @Test
    void changedLimitOfAMethodIsInForceAtOnce() {
        server.run(context -> {
            ConfigurableApplicationContext running = context.getSourceApplicationContext();
            change(running, Map.of("rpc.server.services.stock.methods.left.max-concurrency", "1"));
            CompletableFuture<Integer> first = hold(context);
            assertThatThrownBy(() -> stock(context).left("x"))
                    .hasMessageContaining("1 of 1 are running")
                    .hasMessageContaining("methods.left.max-concurrency");

            change(running, Map.of("rpc.server.services.stock.methods.left.max-concurrency", "none"));
            assertThatThrownBy(() -> stock(context).left("x")).hasMessageContaining("1 of 1 are running");
            change(running, Map.of());
            CompletableFuture<Integer> second = hold(context);

            context.getBean(PortStock.class).release.countDown();
            assertThat(first.get(30, TimeUnit.SECONDS)).isZero();
            assertThat(second.get(30, TimeUnit.SECONDS)).isZero();
        });
    }

    @Test
    void changedLimitOfTheServerIsInForceAtOnce() {
        server.run(context -> {
            ConfigurableApplicationContext running = context.getSourceApplicationContext();
            CompletableFuture<Integer> held = hold(context);

            change(running, Map.of("rpc.server.max-concurrency", "1"));
            assertThatThrownBy(() -> stock(context).ordered("x")).hasMessageContaining("the limit is 1 (fixed");
            change(running, Map.of());
            assertThat(stock(context).ordered("x")).isPositive();

            context.getBean(PortStock.class).release.countDown();
            assertThat(held.get(30, TimeUnit.SECONDS)).isZero();
        });
    }

    @Test
    void changedWaitForAWorkerIsInForceAtOnce() {
        server.withPropertyValues("rpc.server.threads=1", "rpc.server.queue-capacity=9")
                .run(context -> {
                    ConfigurableApplicationContext running = context.getSourceApplicationContext();
                    CompletableFuture<Integer> held = hold(context);

                    change(running, Map.of("rpc.server.max-queue-wait", "1ms"));
                    assertThatThrownBy(() -> stock(context).ordered("x"))
                            .hasMessageContaining("no worker was free within 1 ms");
                    change(running, Map.of("rpc.server.max-queue-wait", "0ms"));
                    assertThatThrownBy(() -> stock(context).ordered("x"))
                            .hasMessageContaining("no worker was free within 1 ms");
                    change(running, Map.of());
                    assertThatThrownBy(() -> stock(context).ordered("x"))
                            .hasMessageContaining("no worker was free within 50 ms");

                    context.getBean(PortStock.class).release.countDown();
                    assertThat(held.get(30, TimeUnit.SECONDS)).isZero();
                });
    }

    @Test
    void limitOfARuleWinsOverThePropertyAndIsNamed() {
        server.withPropertyValues("rpc.server.services.stock.methods.left.max-concurrency=9")
                .run(context -> {
                    RunningLimits limits = context.getBean(RunningLimits.class);
                    limits.rule(
                            "registry", List.of(new RuledLimit(Stock.class.getName(), "", 1, "shop.configurators")));
                    CompletableFuture<Integer> held = hold(context);
                    assertThatThrownBy(() -> stock(context).left("x"))
                            .hasMessageContaining("1 of 1 are running (fixed, set by the rule shop.configurators)");

                    limits.rule("registry", List.of());
                    CompletableFuture<Integer> second = hold(context);

                    context.getBean(PortStock.class).release.countDown();
                    assertThat(held.get(30, TimeUnit.SECONDS)).isZero();
                    assertThat(second.get(30, TimeUnit.SECONDS)).isZero();
                });
    }

    @Test
    void defaultsAfterAChangeAreTheDefaultsAtStartup() {
        MockEnvironment empty = new MockEnvironment();
        Binder binder = Binder.get(empty);
        RpcServerProperties atServer = binder.bindOrCreate("rpc.server", RpcServerProperties.class);
        RpcClientProperties atClient = binder.bindOrCreate("rpc.client", RpcClientProperties.class);

        assertThat(ChangeableLimits.in(empty))
                .isEqualTo(
                        new ChangeableLimits(atServer.maxConcurrency(), atServer.maxQueueWait(), atServer.services()));
        assertThat(ChangeableSettings.in(empty))
                .isEqualTo(
                        new ChangeableSettings(atClient.url(), atClient.timeout(), atClient.loadBalancing(), Map.of()));
    }

    @Test
    void zeroInARuleLiftsOtherLimitsOfTheMethod() {
        server.withPropertyValues("rpc.server.services.stock.methods.left.max-concurrency=1")
                .run(context -> {
                    String service = Stock.class.getName();
                    context.getBean(RunningLimits.class)
                            .rule(
                                    "registry",
                                    List.of(
                                            new RuledLimit(service, "", 1, "shop.configurators"),
                                            new RuledLimit(service, "left", 0, "stock.configurators")));

                    CompletableFuture<Integer> held = hold(context);
                    CompletableFuture<Integer> second = hold(context);

                    context.getBean(PortStock.class).release.countDown();
                    assertThat(held.get(30, TimeUnit.SECONDS)).isZero();
                    assertThat(second.get(30, TimeUnit.SECONDS)).isZero();
                });
    }

    @Test
    @ExtendWith(OutputCaptureExtension.class)
    void propertyThatCannotChangeAtRunTimeIsNamedOnce(CapturedOutput output) {
        runner.run(context -> {
            ConfigurableApplicationContext running = context.getSourceApplicationContext();
            Map<String, Object> changed = Map.of(
                    "rpc.server.port", "1",
                    "rpc.client.services.stock.tag", "gray",
                    "rpc.client.services.stock.url", "127.0.0.1:7",
                    "rpc.client.timeout", "20ms",
                    "shop.name", "x");

            change(running, changed);
            change(running, changed);

            String restart = " has changed, but its new value takes effect only after a restart";
            assertThat(output)
                    .containsOnlyOnce("rpc.server.port" + restart)
                    .containsOnlyOnce("rpc.client.services.stock.tag" + restart)
                    .containsOnlyOnce("The addresses of " + Stock.class.getName() + " have changed")
                    .doesNotContain("rpc.client.timeout" + restart)
                    .doesNotContain("rpc.client.services.stock.url" + restart)
                    .doesNotContain("shop.name");
        });
    }
}
