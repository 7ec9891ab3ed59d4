package tern.rpc.registry;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import tern.rpc.ServiceKey;
import tern.rpc.endpoint.EndpointSnapshot;
import tern.rpc.endpoint.EndpointSnapshot.State;

@Timeout(60)
class FileRegistryTest {

    private static final ServiceKey ORDERS = new ServiceKey("com.acme.Orders", "", "");

    @TempDir
    Path directory;

    private Path file;
    private FileRegistry registry;
    private final BlockingQueue<EndpointSnapshot> snapshots = new LinkedBlockingQueue<>();

    @BeforeEach
    void open() {
        file = directory.resolve("providers.json");
        registry = registry("file://" + file);
    }

    private static FileRegistry registry(String url) {
        return new FileRegistry(RegistryUrl.parse(url), Duration.ofMillis(5), Clock.systemUTC());
    }

    @AfterEach
    void close() {
        registry.close();
    }

    private void look() {
        registry.source(new Subscription(ORDERS, "dubbo")).start(snapshots::add);
    }

    private EndpointSnapshot next() throws InterruptedException {
        EndpointSnapshot next = snapshots.poll(30, TimeUnit.SECONDS);
        assertThat(next).isNotNull();
        return next;
    }

    private void write(String text) throws Exception {
        Path next = directory.resolve("next");
        Files.writeString(next, text);
        Files.move(next, file, java.nio.file.StandardCopyOption.ATOMIC_MOVE);
    }

    private static Registration registration(int port) {
        return new Registration(
                "shop",
                "10.0.0.7",
                port,
                List.of("dubbo", "tri"),
                List.of(new Registration.Service(ORDERS, List.of("place"), 50)),
                Map.of("zone", "a"),
                0,
                7);
    }

    @Test
    void changesOfTheFileAreFollowed() throws Exception {
        write(
                "{\"services\":{\"com.acme.Orders\":[\"10.0.0.1:20880\",{\"address\":\"[2001:db8::1]:1\",\"weight\":7}]}}");
        look();

        EndpointSnapshot first = next();
        assertThat(first.state()).isEqualTo(State.FRESH);
        assertThat(first.instances()).extracting(String::valueOf).containsExactly("10.0.0.1:20880", "[2001:db8::1]:1");
        assertThat(first.instances().get(1).attributes().weight()).isEqualTo(7);

        write("{\"services\":{}}");
        assertThat(next().state()).isEqualTo(State.EMPTY);
    }

    @Test
    void listOfOtherProtocolsSaysSo() throws Exception {
        write("{\"services\":{\"com.acme.Orders\":[\"ftp://10.0.0.1:20880\"]}}");
        look();

        EndpointSnapshot snapshot = next();
        assertThat(snapshot.state()).isEqualTo(State.EMPTY);
        assertThat(snapshot.why())
                .isEqualTo("its 1 addresses are all of other protocols than dubbo: ftp://10.0.0.1:20880");
    }

    @Test
    void missingFileIsUnknownAndBrokenOneLeavesTheList() throws Exception {
        look();
        EndpointSnapshot unknown = next();
        assertThat(unknown.state()).isEqualTo(State.UNKNOWN);
        assertThat(unknown.why()).contains("it does not exist");

        write("{\"services\":{\"com.acme.Orders\":[\"10.0.0.1:20880\"]}}");
        assertThat(next().state()).isEqualTo(State.FRESH);
        write("{\"services\":{");
        EndpointSnapshot stale = next();
        assertThat(stale.state()).isEqualTo(State.STALE);
        assertThat(stale.instances()).hasSize(1);
        assertThat(stale.why()).contains("not valid JSON at character ");
    }

    @Test
    void propertiesAreReadToo() {
        ProviderFile file = ProviderFile.parse(
                "com.acme.Orders=10.0.0.1:20880, tri://10.0.0.2:20880?weight=5\ng1/com.acme.Orders\\:1.0=10.0.0.3:1\n",
                false);

        assertThat(file.providers(new Subscription(ORDERS, "dubbo")))
                .extracting(String::valueOf)
                .containsExactly("10.0.0.1:20880");
        assertThat(file.providers(new Subscription(ORDERS, "tri")))
                .extracting(String::valueOf)
                .containsExactly("10.0.0.1:20880", "10.0.0.2:20880");
        assertThat(file.providers(new Subscription(new ServiceKey("com.acme.Orders", "g1", "1.0"), "dubbo")))
                .hasSize(1);
        assertThatThrownBy(() -> ProviderFile.parse("com.acme.Orders=here", false))
                .hasMessageContaining("a provider of com.acme.Orders has an address of another form");
    }

    @Test
    void providersRegisterBesideEachOther() throws Exception {
        Publication one = registry.publish(registration(1));
        try (FileRegistry other = registry("file://" + file)) {
            other.publish(registration(2)).seen().get(30, TimeUnit.SECONDS);
            one.seen().get(30, TimeUnit.SECONDS);
            look();
            EndpointSnapshot both = next();
            assertThat(both.instances())
                    .extracting(String::valueOf)
                    .containsExactlyInAnyOrder("10.0.0.7:1", "10.0.0.7:2");
            assertThat(both.instances().get(0).attributes().zone()).isEqualTo("a");

            one.withdraw().get(30, TimeUnit.SECONDS);

            assertThat(next().instances()).extracting(String::valueOf).containsExactly("10.0.0.7:2");
        }
    }

    @Test
    void lostEntryIsRepairedByTheNextVerification() throws Exception {
        Publication publication = registry.publish(registration(1));
        publication.seen().get(30, TimeUnit.SECONDS);
        assertThat(publication.verify().get(30, TimeUnit.SECONDS)).isZero();

        write("{}");

        assertThat(publication.verify().get(30, TimeUnit.SECONDS)).isEqualTo(1);
        assertThat(ProviderFile.parse(Files.readString(file), true).has(registration(1)))
                .isTrue();
    }

    @Test
    void propertiesAreNotWritten() {
        try (FileRegistry properties = registry("file:///x/providers.properties")) {
            assertThatThrownBy(() -> properties.publish(registration(1)))
                    .hasMessageContaining("providers register in a file of JSON");
        }
    }
}
