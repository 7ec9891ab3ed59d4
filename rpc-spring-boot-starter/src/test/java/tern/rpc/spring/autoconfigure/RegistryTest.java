package tern.rpc.spring.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.retry.RetryOneTime;
import org.apache.curator.test.TestingServer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.boot.SpringBootConfiguration;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.availability.ApplicationAvailability;
import org.springframework.boot.availability.AvailabilityChangeEvent;
import org.springframework.boot.availability.ReadinessState;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.ApplicationListener;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Import;
import tern.rpc.WireName;
import tern.rpc.settings.RpcStartException;
import tern.rpc.spring.RpcReference;
import tern.rpc.spring.RpcService;

/** Tests whole applications whose providers and consumers use a registry. */
@Timeout(180)
class RegistryTest {

    interface Orders {
        String place(String item);
    }

    @SpringBootConfiguration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    static class Provider {

        @RpcService
        static class OrderService implements Orders {
            @Override
            public String place(String item) {
                return "placed " + item;
            }
        }
    }

    @SpringBootConfiguration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    static class Consumer {

        @RpcReference
        Orders orders;
    }

    @WireName("org.apache.dubbo.samples.Demo")
    interface Demo {
        String demo();
    }

    @WireName("grpc.examples.Echo")
    interface Echo {
        String echo();
    }

    @SpringBootConfiguration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    static class Samples {

        @RpcService
        static class DemoService implements Demo {
            @Override
            public String demo() {
                return "demo";
            }
        }

        @RpcService
        static class EchoService implements Echo {
            @Override
            public String echo() {
                return "echo";
            }
        }
    }

    /** Records the threads that report the application's readiness. */
    static final class ReadyThreads implements ApplicationListener<AvailabilityChangeEvent<ReadinessState>> {

        private final Queue<String> names = new ConcurrentLinkedQueue<>();

        @Override
        public void onApplicationEvent(AvailabilityChangeEvent<ReadinessState> event) {
            if (event.getSource() instanceof ServerRegistration
                    && event.getState() == ReadinessState.ACCEPTING_TRAFFIC) {
                names.add(Thread.currentThread().getName());
            }
        }
    }

    @SpringBootConfiguration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    @Import({Provider.OrderService.class, ReadyThreads.class})
    static class Watched {}

    private final List<ConfigurableApplicationContext> running = new ArrayList<>();

    @AfterEach
    void stop() {
        running.forEach(ConfigurableApplicationContext::close);
    }

    private ConfigurableApplicationContext run(Class<?> type, String name, String... properties) {
        List<String> all = new ArrayList<>(Arrays.asList(properties));
        all.add("spring.application.name=" + name);
        all.add("rpc.server.port=0");
        all.add("spring.main.banner-mode=off");
        ConfigurableApplicationContext context = new SpringApplicationBuilder(type)
                .web(WebApplicationType.NONE)
                .properties(all.toArray(String[]::new))
                .run();
        running.add(context);
        return context;
    }

    private static void await(String what, BooleanSupplier happened) {
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(90);
        while (!happened.getAsBoolean()) {
            assertThat(System.nanoTime() - end).as(what).isNegative();
            LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(5));
        }
    }

    private static ReadinessState readiness(ConfigurableApplicationContext context) {
        return context.getBean(ApplicationAvailability.class).getReadinessState();
    }

    private static void awaitReady(ConfigurableApplicationContext provider) {
        await("the provider is ready", () -> readiness(provider) == ReadinessState.ACCEPTING_TRAFFIC);
    }

    private static void awaitAnswer(ConfigurableApplicationContext consumer) {
        Orders orders = consumer.getBean(Consumer.class).orders;
        await("the provider answers", () -> {
            try {
                return orders.place("x").equals("placed x");
            } catch (tern.rpc.RpcException e) {
                return false;
            }
        });
    }

    @Test
    void providerAndConsumerMeetInAFile(@TempDir Path directory) throws Exception {
        Path file = directory.resolve("providers.json");
        ConfigurableApplicationContext provider = run(Provider.class, "shop", "rpc.server.registry=file://" + file);
        awaitReady(provider);
        String port = provider.getEnvironment().getProperty("local.rpc.port");
        assertThat(Files.readString(file)).contains("\"address\":\"127.0.0.1:" + port + "\"");

        awaitAnswer(run(Consumer.class, "web", "rpc.client.registry=file://" + file));
        awaitAnswer(run(Consumer.class, "web2", "rpc.client.services.orders.url=file://" + file));

        provider.close();
        assertThat(Files.readString(file)).isEqualTo("{\"services\":{}}");
    }

    @Test
    @ExtendWith(OutputCaptureExtension.class)
    void addressAtWhichAnotherProcessAnswersIsAWarning(@TempDir Path directory, CapturedOutput output)
            throws Exception {
        String registry = "rpc.server.registry=file://" + directory.resolve("providers.json");
        awaitReady(run(Provider.class, "shop", registry, "rpc.server.advertise.host=127.0.0.1"));
        assertThat(output).doesNotContain("another process accepts connections there");

        try (ServerSocket other = new ServerSocket(0, 50, InetAddress.getLoopbackAddress())) {
            String port = "rpc.server.advertise.port=" + other.getLocalPort();
            awaitReady(run(Provider.class, "shop", registry, "rpc.server.advertise.host=127.0.0.1", port));
        }

        assertThat(output).containsOnlyOnce("another process accepts connections there");
    }

    @Test
    void providerLeavesTheRegistryWhileItRefusesTraffic(@TempDir Path directory) throws Exception {
        Path file = directory.resolve("providers.json");
        ConfigurableApplicationContext provider = run(Provider.class, "shop", "rpc.server.registry=file://" + file);
        awaitReady(provider);

        AvailabilityChangeEvent.publish(provider, ReadinessState.REFUSING_TRAFFIC);

        assertThat(Files.readString(file)).isEqualTo("{\"services\":{}}");
        AvailabilityChangeEvent.publish(provider, ReadinessState.ACCEPTING_TRAFFIC);
        awaitReady(provider);
        assertThat(Files.readString(file)).contains("127.0.0.1");
    }

    /** A new registration restarts the time limit for the wait. */
    @Test
    void endOfTheWaitForAnEarlierRegistrationIsIgnored() {
        ConfigurableApplicationContext provider =
                run(Provider.class, "shop", "rpc.server.registry=zookeeper://127.0.0.1:1");
        ServerRegistration registration = provider.getBean(ServerRegistration.class);
        AvailabilityChangeEvent.publish(provider, ReadinessState.REFUSING_TRAFFIC);
        AvailabilityChangeEvent.publish(provider, ReadinessState.ACCEPTING_TRAFFIC);

        registration.ready(1, false);
        assertThat(readiness(provider)).isEqualTo(ReadinessState.REFUSING_TRAFFIC);

        registration.ready(2, false);
        assertThat(readiness(provider)).isEqualTo(ReadinessState.ACCEPTING_TRAFFIC);
    }

    @Test
    void providerThatIsShuttingDownDoesNotRegisterAgain(@TempDir Path directory) throws Exception {
        Path file = directory.resolve("providers.json");
        ConfigurableApplicationContext provider = run(Provider.class, "shop", "rpc.server.registry=file://" + file);
        awaitReady(provider);
        ServerRegistration registration = provider.getBean(ServerRegistration.class);
        registration.shutDown();

        AvailabilityChangeEvent.publish(provider, ReadinessState.ACCEPTING_TRAFFIC);

        assertThat(registration.problems().values()).containsExactly("not registered");
        assertThat(Files.readString(file)).isEqualTo("{\"services\":{}}");
    }

    @Test
    void readinessWaitsForTheRegistrationInZooKeeper() throws Exception {
        try (TestingServer zooKeeper = new TestingServer(true)) {
            zooKeeper.stop();
            String url = "zookeeper://" + zooKeeper.getConnectString();
            ConfigurableApplicationContext provider =
                    run(Provider.class, "shop", "rpc.server.registry=" + url, "rpc.server.registry.required=true");
            assertThat(readiness(provider)).isEqualTo(ReadinessState.REFUSING_TRAFFIC);
            assertThat(provider.getBean(ServerRegistration.class).problems())
                    .containsExactly(java.util.Map.entry(url, url + " was not reached yet"));

            zooKeeper.restart();

            awaitReady(provider);
            assertThat(provider.getBean(ServerRegistration.class).problems()).containsValue("");
            awaitAnswer(run(
                    Consumer.class,
                    "web",
                    "rpc.client.registries.main=" + url,
                    "rpc.client.services.orders.registry=main",
                    "rpc.client.services.orders.level=application"));
        }
    }

    /**
     * The registry does not contain the list of services. The consumer finds the provider only by calling the
     * provider's metadata service.
     */
    @Test
    void servicesThatAreNotStoredInZooKeeperAreRequestedFromTheProvider() throws Exception {
        try (TestingServer zooKeeper = new TestingServer(true)) {
            String url = "zookeeper://" + zooKeeper.getConnectString();
            awaitReady(run(
                    Provider.class,
                    "shop",
                    "rpc.server.registry=" + url,
                    "rpc.server.registry.metadata-type=local",
                    "rpc.server.registry.level=application"));

            ConfigurableApplicationContext consumer = run(
                    Consumer.class,
                    "web",
                    "rpc.client.registry=" + url,
                    "rpc.client.services.orders.level=application");

            awaitAnswer(consumer);
            try (CuratorFramework client =
                    CuratorFrameworkFactory.newClient(zooKeeper.getConnectString(), new RetryOneTime(1))) {
                client.start();
                assertThat(client.checkExists().forPath("/dubbo/metadata")).isNull();
            }
        }
    }

    @Test
    void consumerStartsWithoutItsRegistryFromTheListOfItsLastRun(@TempDir Path directory) throws Exception {
        Path file = directory.resolve("providers.json");
        awaitReady(run(Provider.class, "shop", "rpc.server.registry=file://" + file));
        String registry = "rpc.client.registry=file://" + directory.resolve("copy.json");
        String cache = "rpc.client.registry-cache=" + directory.resolve("cache");
        Files.copy(file, directory.resolve("copy.json"));
        awaitAnswer(run(Consumer.class, "web", registry, cache));

        Files.delete(directory.resolve("copy.json"));

        awaitAnswer(run(Consumer.class, "web", registry, cache));
    }

    @Test
    void unknownParameterOfARegistryStopsTheStart() {
        for (String url : List.of("zookeeper://127.0.0.1:1?timout=3", "file:///providers.json?timout=3")) {
            for (String property : List.of("rpc.server.registry", "rpc.client.registry")) {
                Class<?> type = property.equals("rpc.server.registry") ? Provider.class : Consumer.class;
                assertThatThrownBy(() -> run(type, "shop", property + "=" + url))
                        .rootCause()
                        .hasMessageContaining("unknown parameter timout with the value '3'");
            }
        }
    }

    @Test
    void nameThatIsAPathOrAListStopsTheStartOfAProviderWithARegistry() {
        for (String name : List.of("a/b", "a,b", "a&b", "..")) {
            assertThatThrownBy(() -> run(Provider.class, name, "rpc.server.registry=file:///providers.json"))
                    .rootCause()
                    .hasMessageContaining("spring.application.name is '" + name + "'; expected a name without '/'");
        }
    }

    @Test
    void advertisedHostWithAScopeStopsTheStart(@TempDir Path directory) {
        assertThatThrownBy(() -> run(
                        Provider.class,
                        "shop",
                        "rpc.server.registry=file://" + directory.resolve("p.json"),
                        "rpc.server.advertise.host=fe80::1%eth0"))
                .rootCause()
                .hasMessageContaining("rpc.server.advertise.host is 'fe80::1%eth0'");
    }

    @Test
    void addressThatIsNoRegistryIsRefusedWithoutRepeatingIt() {
        assertThatThrownBy(() -> run(Provider.class, "shop", "rpc.server.registry=nacos://me:secret@h:1"))
                .rootCause()
                .isInstanceOf(RpcStartException.class)
                .hasMessageContaining("rpc.server.registry")
                .hasMessageNotContaining("secret");
        assertThatThrownBy(() -> run(Consumer.class, "web", "rpc.client.services.orders.registry=unknown"))
                .rootCause()
                .hasMessageContaining("rpc.client.registries");
        assertThatThrownBy(() -> run(Provider.class, "", "rpc.server.registry=file:///providers.json"))
                .rootCause()
                .hasMessageContaining("the application has no name to register under");
    }

    @Test
    void servicesInThePackagesOfDubboAndGrpcAreRegistered(@TempDir Path directory) throws Exception {
        Path file = directory.resolve("providers.json");

        awaitReady(run(Samples.class, "shop", "rpc.server.registry=file://" + file));

        assertThat(Files.readString(file))
                .contains("\"org.apache.dubbo.samples.Demo\"", "\"grpc.examples.Echo\"")
                .doesNotContain("grpc.health");
    }

    @Test
    void providerStartsWhileTheNameOfItsRegistryIsUnknown() {
        ConfigurableApplicationContext provider =
                run(Provider.class, "shop", "rpc.server.registry=zookeeper://registry.invalid:2181");

        assertThat(readiness(provider)).isEqualTo(ReadinessState.REFUSING_TRAFFIC);
        assertThat(provider.getBean(ServerRegistration.class).problems().values())
                .singleElement()
                .asString()
                .contains("no route to the registry at registry.invalid", "its name cannot be resolved");
    }

    @Test
    void eachRegistryGetsAnAddressThatItsConsumersCanReach() {
        assertThatThrownBy(() -> run(
                        Provider.class,
                        "shop",
                        "rpc.server.registry=zookeeper://127.0.0.1:1,zookeeper://192.0.2.1:2181",
                        "rpc.server.address=127.0.0.1"))
                .rootCause()
                .hasMessageContaining("a loopback address that consumers of the registry at 192.0.2.1 cannot reach");
    }

    @Test
    void listenersOfTheReadinessDoNotRunOnTheThreadOfTheRegistry(@TempDir Path directory) {
        ConfigurableApplicationContext provider =
                run(Watched.class, "shop", "rpc.server.registry=file://" + directory.resolve("providers.json"));

        awaitReady(provider);

        assertThat(provider.getBean(ReadyThreads.class).names).allMatch("rpc-registration"::equals);
    }

    @Test
    void referenceToSeveralGroupsStopsTheStart() {
        assertThatThrownBy(() -> run(
                        Consumer.class,
                        "web",
                        "rpc.client.registry=file:///providers.json",
                        "rpc.client.services.orders.group=*"))
                .hasStackTraceContaining("the group '*' of the reference to " + Orders.class.getName());
    }
}
