package tern.rpc.spring.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import org.apache.zookeeper.server.NettyServerCnxnFactory;
import org.apache.zookeeper.server.ServerCnxnFactory;
import org.apache.zookeeper.server.ZooKeeperServer;
import org.apache.zookeeper.server.auth.ProviderRegistry;
import org.apache.zookeeper.server.auth.X509AuthenticationProvider;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.availability.ApplicationAvailability;
import org.springframework.boot.availability.ReadinessState;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import tern.rpc.RpcException;
import tern.rpc.spring.autoconfigure.RegistryTest.Consumer;
import tern.rpc.spring.autoconfigure.RegistryTest.Orders;
import tern.rpc.spring.autoconfigure.RegistryTest.Provider;
import tern.rpc.transport.TestAuthority;

/**
 * Tests applications whose registry is a ZooKeeper server with TLS. The server requires a certificate of its clients,
 * so an application is connected only if it uses both the keys and the trusted certificates of its bundle.
 */
@Timeout(180)
class RegistryTlsTest {

    private static final String X509_PROVIDER = "zookeeper.authProvider.x509";

    private final TestAuthority authority = new TestAuthority("authority");
    private final Map<String, String> settings = new HashMap<>();
    private final List<ConfigurableApplicationContext> running = new ArrayList<>();

    @TempDir
    private Path folder;

    private ServerCnxnFactory zooKeeper;

    @BeforeEach
    void start() throws Exception {
        TestAuthority.Identity server = authority.issue("zookeeper", "127.0.0.1", "localhost");
        write("server.pem", server.keyPem() + server.certificatePem());
        write("authority.crt", authority.certificatePem());
        write("another.crt", new TestAuthority("another").certificatePem());
        TestAuthority.Identity client = authority.issue("client", "localhost");
        write("client.crt", client.certificatePem());
        write("client.key", client.keyPem());
        settings.put(
                "zookeeper.ssl.keyStore.location", folder.resolve("server.pem").toString());
        settings.put(
                "zookeeper.ssl.trustStore.location",
                folder.resolve("authority.pem").toString());
        write("authority.pem", authority.certificatePem());
        settings.put("zookeeper.ssl.clientAuth", "need");
        settings.put(X509_PROVIDER, X509AuthenticationProvider.class.getName());
        settings.put(ServerCnxnFactory.ZOOKEEPER_SERVER_CNXN_FACTORY, NettyServerCnxnFactory.class.getName());
        settings.forEach(System::setProperty);
        // The X.509 authentication provider reads the trusted certificates as soon as it is added.
        ProviderRegistry.addOrUpdateProvider(X509_PROVIDER);
        zooKeeper = ServerCnxnFactory.createFactory();
        zooKeeper.configure(new InetSocketAddress("127.0.0.1", 0), -1, -1, true);
        zooKeeper.startup(new ZooKeeperServer(folder.toFile(), folder.toFile(), 500));
    }

    @AfterEach
    void stop() {
        running.forEach(ConfigurableApplicationContext::close);
        zooKeeper.shutdown();
        settings.keySet().forEach(System::clearProperty);
    }

    private void write(String name, String text) throws IOException {
        Files.writeString(folder.resolve(name), text);
    }

    private String address() {
        return "zookeeper://127.0.0.1:" + zooKeeper.getLocalPort() + "?timeout=1500&ssl.bundle=zk";
    }

    /** Runs an application with the bundle {@code zk}, which contains the client's key. */
    private ConfigurableApplicationContext run(Class<?> type, String trusted, String... properties) {
        List<String> all = new ArrayList<>(Arrays.asList(properties));
        all.add("spring.application.name=shop");
        all.add("rpc.server.port=0");
        all.add("spring.main.banner-mode=off");
        all.add(pem("keystore.certificate", "client.crt"));
        all.add(pem("keystore.private-key", "client.key"));
        all.add(pem("truststore.certificate", trusted));
        ConfigurableApplicationContext context = new SpringApplicationBuilder(type)
                .web(WebApplicationType.NONE)
                .properties(all.toArray(String[]::new))
                .run();
        running.add(context);
        return context;
    }

    private String pem(String property, String file) {
        return "spring.ssl.bundle.pem.zk." + property + "="
                + folder.resolve(file).toUri();
    }

    private static void await(String what, BooleanSupplier happened) {
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(90);
        while (!happened.getAsBoolean()) {
            assertThat(System.nanoTime() - end).as(what).isNegative();
            LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(5));
        }
    }

    private static String answer(ConfigurableApplicationContext consumer) {
        Orders orders = consumer.getBean(Consumer.class).orders;
        try {
            return orders.place("x");
        } catch (RpcException e) {
            return String.valueOf(e.getMessage());
        }
    }

    @Test
    void providerAndConsumerMeetInZooKeeperWithTheKeysAndTrustOfTheBundle() {
        ConfigurableApplicationContext provider = run(
                Provider.class,
                "authority.crt",
                "rpc.server.registry=" + address(),
                "rpc.server.registry.required=true");
        await(
                "the provider is ready",
                () -> provider.getBean(ApplicationAvailability.class).getReadinessState()
                        == ReadinessState.ACCEPTING_TRAFFIC);

        ConfigurableApplicationContext consumer =
                run(Consumer.class, "authority.crt", "rpc.client.registry=" + address());

        await("the provider answers", () -> answer(consumer).equals("placed x"));
    }

    @Test
    void bundleThatDoesNotTrustTheServerIsNamedAndKeepsTheProviderFromBecomingReady() {
        ConfigurableApplicationContext provider = run(
                Provider.class, "another.crt", "rpc.server.registry=" + address(), "rpc.server.registry.required=true");

        await(
                "the reason is named",
                () -> provider.getBean(ServerRegistration.class).problems().values().stream()
                        .anyMatch(problem ->
                                problem.contains("TLS with 127.0.0.1:" + zooKeeper.getLocalPort() + " fails: ")
                                        && problem.contains("certification path")));
        assertThat(provider.getBean(ApplicationAvailability.class).getReadinessState())
                .isEqualTo(ReadinessState.REFUSING_TRAFFIC);
    }

    @Test
    void bundleThatDoesNotTrustTheServerIsNamedInTheErrorsOfCalls() {
        ConfigurableApplicationContext consumer =
                run(Consumer.class, "another.crt", "rpc.client.registry=" + address());

        await("the reason is named", () -> answer(consumer).contains("certification path"));
    }

    @Test
    void unknownBundleStopsTheStart() {
        String unknown = address().replace("=zk", "=zookeeper");

        assertThatThrownBy(() -> run(Provider.class, "authority.crt", "rpc.server.registry=" + unknown))
                .hasStackTraceContaining("ssl.bundle in the address of the registry is 'zookeeper'")
                .hasStackTraceContaining("expected the name of a bundle under spring.ssl.bundle; there is zk");
        assertThatThrownBy(() -> run(Consumer.class, "authority.crt", "rpc.client.registry=" + unknown))
                .hasStackTraceContaining("ssl.bundle in the address of the registry is 'zookeeper'");
    }

    @Test
    void bundleWithAMissingFileStopsTheStart() {
        assertThatThrownBy(() -> run(
                        Provider.class,
                        "missing.crt",
                        "rpc.server.registry=" + address(),
                        // The meters are excluded. Otherwise, they would read the bundle first, and the startup would
                        // fail with Spring Boot's own message.
                        "spring.autoconfigure.exclude=org.springframework.boot.micrometer.metrics.autoconfigure.ssl"
                                + ".SslMetricsAutoConfiguration"))
                .hasStackTraceContaining("bundle 'zk' (ssl.bundle in the address of the registry) cannot be used")
                .hasStackTraceContaining("missing.crt");
    }
}
