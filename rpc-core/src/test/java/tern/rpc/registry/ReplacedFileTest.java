package tern.rpc.registry;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Clock;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
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

/** Tests which file a registration replaces, and which properties of the old file the new file keeps. */
@Timeout(60)
class ReplacedFileTest {

    private static final ServiceKey ORDERS = new ServiceKey("com.acme.Orders", "", "");

    @TempDir
    Path directory;

    private Path file;
    private FileRegistry registry;
    private final BlockingQueue<EndpointSnapshot> snapshots = new LinkedBlockingQueue<>();

    @BeforeEach
    void open() {
        file = directory.resolve("providers.json");
        registry = new FileRegistry(RegistryUrl.parse("file://" + file), Duration.ofMillis(5), Clock.systemUTC());
    }

    @AfterEach
    void close() {
        registry.close();
    }

    private EndpointSnapshot next() throws InterruptedException {
        EndpointSnapshot next = snapshots.poll(30, TimeUnit.SECONDS);
        assertThat(next).isNotNull();
        return next;
    }

    private static Registration registration() {
        return new Registration(
                "shop",
                "10.0.0.7",
                1,
                List.of("dubbo"),
                List.of(new Registration.Service(ORDERS, List.of("place"), 50)),
                Map.of(),
                0,
                7);
    }

    @Test
    void registrationKeepsThePermissionsOfTheFile() throws Exception {
        for (String permissions : List.of("rw-------", "rw-rw-r--")) {
            Files.writeString(file, "{\"services\":{}}");
            Files.setPosixFilePermissions(file, PosixFilePermissions.fromString(permissions));

            registry.publish(registration()).seen().get(60, TimeUnit.SECONDS);

            assertThat(Files.readString(file)).contains("10.0.0.7:1\"");
            assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(file)))
                    .isEqualTo(permissions);
        }
    }

    @Test
    void symbolicLinkStaysALink() throws Exception {
        Path real = Files.createDirectory(directory.resolve("real")).resolve("list.json");
        Files.writeString(real, "{}");
        Files.createSymbolicLink(file, real);

        assertRegistersIn(real);
    }

    @Test
    void missingFileIsCreatedWhereTheLinkLeads() throws Exception {
        Path real = Files.createDirectory(directory.resolve("real")).resolve("list.json");
        Files.createSymbolicLink(file, Path.of("real", "list.json"));

        assertRegistersIn(real);
    }

    private void assertRegistersIn(Path real) throws Exception {
        registry.publish(registration()).seen().get(60, TimeUnit.SECONDS);

        assertThat(file).isSymbolicLink();
        assertThat(Files.readString(real)).contains("10.0.0.7:1");
    }

    @Test
    void usersOfALinkAndOfItsTargetShareOneLock() throws Exception {
        Path real = Files.createDirectory(directory.resolve("real")).resolve("list.json");
        Files.writeString(real, "{\"services\":{}}");
        Files.createSymbolicLink(file, real);
        registry.source(new Subscription(ORDERS, "dubbo")).start(snapshots::add);
        assertThat(next().state()).isEqualTo(State.EMPTY);

        try (FileChannel channel = FileChannel.open(
                        real.resolveSibling("list.json.lock"), StandardOpenOption.CREATE, StandardOpenOption.WRITE);
                FileLock lock = channel.lock()) {
            CompletableFuture<ProviderDocument> change = registry.change(before -> before);
            Files.writeString(real, "{\"services\":{\"com.acme.Orders\":[\"10.0.0.2:20880\"]}}");

            assertThat(next().state()).isNotEqualTo(State.EMPTY);
            assertThat(change).isNotDone();
            lock.release();
            assertThat(change.get(30, TimeUnit.SECONDS)).isNotNull();
        }
    }
}
