package tern.rpc.registry;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.RandomAccessFile;
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

/**
 * Tests registries with unexpected files, for example if the path of the registry or its lock file is a device, a pipe
 * or a link.
 */
@Timeout(60)
class OddFilesTest {

    private static final ServiceKey ORDERS = new ServiceKey("com.acme.Orders", "", "");
    private static final Path DEVICE = Path.of("/dev/null");
    private static final String GOOD = "{\"services\":{\"com.acme.Orders\":[\"10.0.0.1:20880\"]}}";

    @TempDir
    Path directory;

    private Path file;
    private FileRegistry registry;
    private final BlockingQueue<EndpointSnapshot> snapshots = new LinkedBlockingQueue<>();

    @BeforeEach
    void open() throws Exception {
        file = directory.resolve("providers.json");
        Files.writeString(file, GOOD);
        registry = new FileRegistry(RegistryUrl.parse("file://" + file), Duration.ofMillis(5), Clock.systemUTC());
    }

    @AfterEach
    void close() {
        registry.close();
    }

    private void look() throws Exception {
        registry.source(new Subscription(ORDERS, "dubbo")).start(snapshots::add);
        assertThat(next().state()).isEqualTo(State.FRESH);
    }

    private EndpointSnapshot next() throws InterruptedException {
        EndpointSnapshot next = snapshots.poll(30, TimeUnit.SECONDS);
        assertThat(next).isNotNull();
        return next;
    }

    private Publication publish() {
        return registry.publish(new Registration(
                "shop",
                "10.0.0.7",
                1,
                List.of("dubbo"),
                List.of(new Registration.Service(ORDERS, List.of("place"), 50)),
                Map.of(),
                0,
                1));
    }

    /** Reading some devices, or a pipe without a writer, never ends. */
    @Test
    void deviceIsNotReadAndLeavesTheList() throws Exception {
        assumeTrue(Files.exists(DEVICE));
        look();

        Path link = Files.createSymbolicLink(directory.resolve("link"), DEVICE);
        Files.move(link, file, java.nio.file.StandardCopyOption.ATOMIC_MOVE);

        EndpointSnapshot stale = next();
        assertThat(stale.state()).isEqualTo(State.STALE);
        assertThat(stale.why()).contains("it is a pipe, a socket or a device; expected a file");
        assertThat(stale.instances()).hasSize(1);
    }

    @Test
    void fileThatIsTooLongAndKeepsGrowingIsNamedOnce() throws Exception {
        FileState state = FileState.UNKNOWN.next(file, true);

        try (RandomAccessFile growing = new RandomAccessFile(file.toFile(), "rw")) {
            growing.setLength(ProviderFile.MAX_BYTES + 1);
            FileState first = state.next(file, true);
            growing.setLength(ProviderFile.MAX_BYTES + 2);
            FileState second = first.next(file, true);

            assertThat(first.problem()).isEqualTo("it has more than 16777216 bytes");
            assertThat(second.problem()).isEqualTo(first.problem());
        }
    }

    /** Opening a pipe without a reader would block the thread that also reads the list. */
    @Test
    void lockFileThatIsNoFileIsNotOpened() throws Exception {
        assumeTrue(Files.exists(DEVICE));
        Path lock = Files.createSymbolicLink(directory.resolve("providers.json.lock"), DEVICE);

        Publication publication = publish();

        assertThatThrownBy(() -> publication.verify().get(30, TimeUnit.SECONDS))
                .hasMessageContaining(file + " is not changed, because " + lock + " is not a regular file");
        assertThat(Files.readString(file)).isEqualTo(GOOD);
    }

    @Test
    void linkInPlaceOfTheUnfinishedFileIsNotFollowed() throws Exception {
        Path other = Files.writeString(directory.resolve("other"), "untouched");
        Files.createSymbolicLink(directory.resolve("providers.json.next"), other);

        publish().verify().get(30, TimeUnit.SECONDS);

        assertThat(Files.readString(other)).isEqualTo("untouched");
        assertThat(Files.isSymbolicLink(file)).isFalse();
        assertThat(Files.readString(file)).contains("10.0.0.7:1");
    }

    @Test
    void reasonContainsNoLineBreakOfTheFile() {
        ProviderFile content = ProviderFile.parse(
                "{\"services\":{\"com.acme.Orders\":[{\"address\":\"h:1\",\"protocol\":\"a\\r\\nERROR forged\"}]}}",
                true);

        assertThat(content.whyNobody(new Subscription(ORDERS, "dubbo")))
                .contains("a\\r\\nERROR forged://h:1")
                .doesNotContain("\n", "\r");
    }

    /** Without a limit, each log line about the provider would contain the whole name. */
    @Test
    void hostNameThatIsTooLongIsLeftOut() {
        ProviderFile content = ProviderFile.parse(
                "{\"services\":{\"com.acme.Orders\":[\"" + "h".repeat(255) + ":1\",\"" + "h".repeat(256) + ":1\"]}}",
                true);

        assertThat(content.providers(new Subscription(ORDERS, "dubbo"))).hasSize(1);
        assertThat(content.problems())
                .singleElement()
                .asString()
                .contains("entry 2 of \"com.acme.Orders\" is left out: its address is")
                .hasSizeLessThan(300);
    }
}
