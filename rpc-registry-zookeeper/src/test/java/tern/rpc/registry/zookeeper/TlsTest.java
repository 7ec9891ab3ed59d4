package tern.rpc.registry.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.apache.zookeeper.CreateMode;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import tern.rpc.ServiceKey;
import tern.rpc.registry.Registry;
import tern.rpc.registry.RegistryUrl;
import tern.rpc.registry.Subscription;
import tern.rpc.registry.dubbo.ProcessMetadata;
import tern.rpc.transport.TestAuthority;
import tern.rpc.transport.Tls;

/** Tests registries whose ZooKeeper server offers a TLS port. */
@Timeout(180)
class TlsTest {

    private static final String PROVIDER = "/dubbo/cap.Greeting/providers/"
            + "dubbo%3A%2F%2F10.0.0.9%3A7001%2Fcap.Greeting%3Finterface%3Dcap.Greeting";

    private final TestAuthority authority = new TestAuthority("authority");
    private final List<Registry> open = new ArrayList<>();
    private final Map<String, String> settings = new java.util.HashMap<>();

    @TempDir
    private Path directory;

    private ZooKeeperServer zooKeeper;
    private int tlsPort;

    @BeforeEach
    void start() throws Exception {
        TestAuthority.Identity identity = authority.issue("zookeeper", "127.0.0.1", "localhost");
        settings.put(
                "zookeeper.ssl.keyStore.location", pem("server.pem", identity.keyPem() + identity.certificatePem()));
        settings.put("zookeeper.ssl.trustStore.location", pem("trust.pem", authority.certificatePem()));
        settings.put("zookeeper.ssl.clientAuth", "need");
        settings.forEach(System::setProperty);
        zooKeeper = new ZooKeeperServer();
        zooKeeper.create(PROVIDER, "", CreateMode.PERSISTENT);
        tlsPort = zooKeeper.openTlsPort();
    }

    @AfterEach
    void stop() throws Exception {
        open.forEach(Registry::close);
        zooKeeper.close();
        settings.keySet().forEach(System::clearProperty);
    }

    private String pem(String name, String text) throws Exception {
        Path file = directory.resolve(name);
        Files.write(file, text.getBytes(StandardCharsets.US_ASCII));
        return file.toString();
    }

    private Tls own(TestAuthority trusted) {
        return Tls.named("bundle 'zk'")
                .withKeys(authority.issue("client", "localhost").keys())
                .withTrust(trusted.trust());
    }

    private Snapshots look(String url, Supplier<Tls> bundle) {
        Registry registry = new ZooKeeperRegistry.Factory(
                        ZooKeeperRegistry.Form.DEFAULT, "", ProcessMetadata.NONE, name -> bundle)
                .open(RegistryUrl.parse(url));
        open.add(registry);
        Snapshots snapshots = new Snapshots();
        registry.source(new Subscription(
                        new ServiceKey("cap.Greeting", "", ""), "dubbo", List.of(), Subscription.Level.INTERFACE))
                .start(snapshots);
        return snapshots;
    }

    private String tlsAddress() {
        return "zookeeper://127.0.0.1:" + tlsPort + "?timeout=1500";
    }

    private static void awaitReason(Snapshots snapshots, String part) {
        Await.until(
                "the reason is named",
                () -> snapshots.last() != null && snapshots.last().why().contains(part));
    }

    @Test
    void bundleGivesKeysAndTrustedCertificates() {
        Tls tls = own(authority);

        look(tlsAddress() + "&ssl.bundle=zk", () -> tls).awaitAddresses("10.0.0.9:7001");
    }

    @Test
    void filesInTheAddressGiveKeysAndTrustedCertificates() throws Exception {
        TestAuthority.Identity client = authority.issue("client", "localhost");
        String keys = pem("client.pem", client.keyPem() + client.certificatePem());

        look(
                        tlsAddress() + "&ssl=true&ssl.keyStore.location=" + keys + "&ssl.trustStore.location="
                                + pem("other.pem", authority.certificatePem()),
                        () -> null)
                .awaitAddresses("10.0.0.9:7001");
    }

    @Test
    void serverOfAnUnknownAuthorityIsNamedAndNotUsed() {
        Tls tls = own(new TestAuthority("another"));

        Snapshots snapshots = look(tlsAddress() + "&ssl.bundle=zk", () -> tls);

        awaitReason(snapshots, "TLS with 127.0.0.1:" + tlsPort + " fails: ");
        assertThat(snapshots.last().why()).contains("certification path");
        assertThat(snapshots.last().instances()).isEmpty();
    }

    @Test
    void certificateForAnotherHostIsNamedAndNotUsed() throws Exception {
        TestAuthority.Identity identity = authority.issue("zookeeper", "zookeeper.example.com");
        pem("server.pem", identity.keyPem() + identity.certificatePem());
        Tls tls = own(authority);

        awaitReason(
                look(tlsAddress() + "&ssl.bundle=zk", () -> tls), "No subject alternative names matching IP address");
    }

    @Test
    void plainTextToAPortForTlsIsNamed() {
        awaitReason(
                look(tlsAddress(), () -> null),
                "127.0.0.1:" + tlsPort + " answers only in TLS; add ssl=true or ssl.bundle=");
    }

    @Test
    void tlsToAPortForPlainTextIsNamed() {
        Tls tls = own(authority);

        awaitReason(
                look("zookeeper://" + zooKeeper.address() + "?timeout=1500&ssl.bundle=zk", () -> tls),
                zooKeeper.address() + " does not answer in TLS; use its secureClientPort");
    }

    @Test
    void missingFileStopsTheStart() {
        assertThatThrownBy(() -> look(tlsAddress() + "&ssl=true&ssl.trustStore.location=/no/such/file.p12", () -> null))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("TLS settings that cannot be used")
                .hasMessageContaining("/no/such/file.p12");
    }

    @Test
    void keysOfABundleAreKeptInFilesOfTheOwnerUntilTheRegistryIsClosed() throws Exception {
        AtomicReference<Tls> tls = new AtomicReference<>(own(authority));
        TlsStores stores = new TlsStores(tls::get);
        org.apache.zookeeper.client.ZKClientConfig config = new org.apache.zookeeper.client.ZKClientConfig();
        stores.applyTo(config);
        Path keys = Path.of(config.getProperty("zookeeper.ssl.keyStore.location"));
        byte[] first = Files.readAllBytes(keys);

        assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(keys.getParent())))
                .isEqualTo("rwx------");

        tls.set(own(authority));
        stores.refresh();
        assertThat(Files.readAllBytes(keys)).isNotEqualTo(first);

        stores.close();
        try (Stream<Path> files = Stream.of(keys, keys.getParent())) {
            assertThat(files).noneMatch(Files::exists);
        }
    }
}
