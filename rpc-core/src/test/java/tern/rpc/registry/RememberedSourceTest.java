package tern.rpc.registry;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.Executor;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tern.rpc.ServiceKey;
import tern.rpc.endpoint.Attributes;
import tern.rpc.endpoint.Endpoint;
import tern.rpc.endpoint.EndpointSnapshot;
import tern.rpc.endpoint.EndpointSnapshot.State;
import tern.rpc.endpoint.EndpointSource;
import tern.rpc.endpoint.Instance;
import tern.rpc.endpoint.Rules;

class RememberedSourceTest {

    private static final Subscription ORDERS = new Subscription(new ServiceKey("com.acme.Orders", "", ""), "dubbo");
    private static final RegistryUrl URL = RegistryUrl.parse("zookeeper://me:secret@10.0.0.9:2181");
    private static final Instance ONE = new Instance(
            new Endpoint("10.0.0.1", 20880),
            Attributes.ofWeight(7).withZone("a").withStartedAt(5));

    @TempDir
    Path directory;

    /** A source whose snapshots the test sets. */
    private static final class FakeSource implements EndpointSource {
        Consumer<EndpointSnapshot> listener = snapshot -> {};

        @Override
        public void start(Consumer<EndpointSnapshot> told) {
            listener = told;
        }

        @Override
        public Rules rules(List<String> texts) {
            return new NamedRules(texts);
        }
    }

    private record NamedRules(List<String> texts) implements Rules {
        @Override
        public String toString() {
            return "named rules";
        }
    }

    private final FakeSource source = new FakeSource();
    private final List<EndpointSnapshot> told = new ArrayList<>();

    private void start() {
        start(Runnable::run);
    }

    private void start(Executor writer) {
        RememberedSource.of(source, URL, ORDERS, directory.resolve("cache"), writer)
                .start(told::add);
    }

    private Path file() throws Exception {
        try (Stream<Path> files = Files.list(directory.resolve("cache"))) {
            List<Path> all = files.toList();
            assertThat(all).hasSize(1);
            return all.get(0);
        }
    }

    private EndpointSnapshot last() {
        return told.get(told.size() - 1);
    }

    private void hear(Instance... instances) {
        source.listener.accept(EndpointSnapshot.heard(List.of(instances), Instant.EPOCH));
    }

    private void hearNothing() {
        source.listener.accept(EndpointSnapshot.unknown(Instant.EPOCH, "the registry does not answer"));
    }

    @Test
    void lastGoodListIsUsedUntilTheRegistryIsHeard() {
        start();
        hear(ONE);
        hear();

        start();
        hearNothing();

        assertThat(last().state()).isEqualTo(State.STALE);
        assertThat(last().instances()).containsExactly(ONE);
        assertThat(last().why()).startsWith("the registry does not answer; the list is the one of ");
        hear();
        assertThat(last().state()).isEqualTo(State.EMPTY);
    }

    @Test
    void rulesOfTheLastGoodListAreUsedToo() {
        start();
        EndpointSnapshot heard = EndpointSnapshot.heard(List.of(ONE), Instant.EPOCH);
        source.listener.accept(heard);
        source.listener.accept(heard.withRules(new NamedRules(List.of("tags: [\"a\"]\n", "timeout: 5"))));

        start();
        hearNothing();

        assertThat(last().instances()).containsExactly(ONE);
        assertThat(last().rules()).isEqualTo(new NamedRules(List.of("tags: [\"a\"]\n", "timeout: 5")));
    }

    @Test
    void fileBelongsToItsOwnerAndHasNoSecret() throws Exception {
        start();
        hear(ONE);

        assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(file())))
                .isEqualTo("rw-------");
        assertThat(file().getFileName().toString() + Files.readString(file()))
                .doesNotContain("secret")
                .doesNotContain("10.0.0.9");
    }

    /** Several processes may use the same directory. */
    @Test
    void fileThatAnotherProcessIsWritingIsNoObstacle() throws Exception {
        start();
        hear(ONE);
        Files.createDirectories(
                file().resolveSibling(file().getFileName() + ".next").resolve("another"));
        Instance two = new Instance(new Endpoint("10.0.0.2", 20880), Attributes.DEFAULT);
        hear(two);

        start();
        hearNothing();

        assertThat(last().instances()).containsExactly(two);
    }

    @Test
    void brokenOrForeignFileIsIgnored() throws Exception {
        start();
        hear(ONE);
        for (String content : List.of("{", "", "{\"services\":{\"com.acme.Other\":[\"h:1\"]}}", "\u0000")) {
            Files.writeString(file(), content);

            start();
            hearNothing();

            assertThat(last().state()).isEqualTo(State.UNKNOWN);
        }
    }

    @Test
    void brokenFileIsOneWarningHoweverOftenItIsRead() throws Exception {
        start();
        hear(ONE);
        Files.writeString(file(), "{");
        RememberedSource again = again();
        try (RegistryLog log = new RegistryLog()) {
            for (int call = 0; call < 5; call++) {
                again.refresh();
            }

            assertThat(log.warnings()).singleElement().asString().contains("The remembered list in ", " is ignored: ");
        }
    }

    @Test
    void diskThatDoesNotAnswerDelaysNoList() throws Exception {
        Queue<Runnable> waiting = new ArrayDeque<>();
        start(waiting::add);
        Instance two = new Instance(new Endpoint("10.0.0.2", 20880), Attributes.DEFAULT);

        hear(ONE);
        hear(ONE, two);
        hear(two);
        assertThat(told)
                .extracting(EndpointSnapshot::instances)
                .containsExactly(List.of(ONE), List.of(ONE, two), List.of(two));
        assertThat(directory.resolve("cache")).doesNotExist();
        assertThat(waiting).hasSize(1);

        waiting.remove().run();
        assertThat(Files.readString(file())).contains("10.0.0.2").doesNotContain("10.0.0.1");
        hear(two);
        assertThat(waiting).isEmpty();
        hear(ONE);
        waiting.remove().run();
        assertThat(Files.readString(file())).contains("10.0.0.1").doesNotContain("10.0.0.2");
    }

    @Test
    void nothingIsRememberedWithoutAFile() {
        start();
        hearNothing();

        assertThat(last().state()).isEqualTo(State.UNKNOWN);
    }

    private RememberedSource again() {
        RememberedSource again = RememberedSource.of(source, URL, ORDERS, directory.resolve("cache"), Runnable::run);
        again.start(told::add);
        return again;
    }

    @Test
    void storedListIsUsedIfTheRegistryDoesNotAnswerInTime() {
        start();
        hear(ONE);
        told.clear();
        RememberedSource again = again();
        source.listener.accept(EndpointSnapshot.unknown(Instant.EPOCH, ""));
        assertThat(told).extracting(EndpointSnapshot::state).containsExactly(State.UNKNOWN);

        again.refresh();
        again.refresh();
        assertThat(told).hasSize(2);
        assertThat(last().state()).isEqualTo(State.STALE);
        assertThat(last().instances()).containsExactly(ONE);
        assertThat(last().why()).contains("has not answered yet; the list is the one of ");

        hear();
        again.refresh();
        assertThat(last().state()).isEqualTo(State.EMPTY);
    }

    @Test
    void refreshesQueueOneReadOfTheFileAtATime() {
        Queue<Runnable> waiting = new ArrayDeque<>();
        RememberedSource remembered =
                RememberedSource.of(source, URL, ORDERS, directory.resolve("cache"), waiting::add);
        remembered.start(told::add);

        remembered.refresh();
        remembered.refresh();
        assertThat(waiting).hasSize(1);

        waiting.remove().run();
        remembered.refresh();
        assertThat(waiting).hasSize(1);
    }

    @Test
    void storedListIsNotUsedAfterTheRegistryHasAnswered() {
        start();
        hear(ONE);
        RememberedSource again = again();
        hear();

        again.refresh();

        assertThat(last().state()).isEqualTo(State.EMPTY);
    }

    @Test
    void providersOfTheStoredListAreReportedBeforeAnEmptyFirstList() {
        start();
        hear(ONE);
        told.clear();

        start();
        hear();
        hear();

        assertThat(told).extracting(EndpointSnapshot::state).containsExactly(State.STALE, State.EMPTY, State.EMPTY);
        assertThat(told.get(0).instances()).containsExactly(ONE);
        assertThat(told.get(0).why()).contains(" lists no provider; the list is the one of ");
    }

    @Test
    void unfinishedFilesOfCrashedProcessesAreRemoved() throws Exception {
        Path cache = Files.createDirectories(directory.resolve("cache"));
        String name = "com.acme.Orders-0123456789abcdef.json";
        Path crashed = old(cache.resolve(name + "123.next"));
        Path ofAnotherProgram = old(cache.resolve("notes.next"));
        Path beingWritten = Files.createFile(cache.resolve(name + "456.next"));

        start();
        hear(ONE);

        assertThat(crashed).doesNotExist();
        assertThat(ofAnotherProgram).exists();
        assertThat(beingWritten).exists();
    }

    private static Path old(Path file) throws Exception {
        FileTime yesterday = FileTime.from(Instant.now().minus(Duration.ofDays(1)));
        return Files.setLastModifiedTime(Files.createFile(file), yesterday);
    }
}
