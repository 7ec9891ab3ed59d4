package tern.rpc.registry;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.charset.StandardCharsets;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
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
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tern.rpc.ServiceKey;
import tern.rpc.endpoint.EndpointSnapshot;
import tern.rpc.endpoint.EndpointSnapshot.State;
import tern.rpc.registry.Publication.Repair;

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
    void lockOfAnotherProcessDelaysOnlyChanges() throws Exception {
        write("{\"services\":{\"com.acme.Orders\":[\"10.0.0.1:20880\"]}}");
        look();
        next();
        Process holder = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-cp",
                        System.getProperty("java.class.path"),
                        LockHolder.class.getName(),
                        file + ".lock")
                .start();
        try {
            assertThat(holder.inputReader().readLine()).isEqualTo("locked: true");

            CompletableFuture<ProviderDocument> change = registry.change(before -> before);
            write("{\"services\":{\"com.acme.Orders\":[\"10.0.0.2:20880\"]}}");

            assertThat(next().instances()).extracting(String::valueOf).containsExactly("10.0.0.2:20880");
            assertThat(change).isNotDone();
            holder.getOutputStream().close();
            assertThat(change.get(30, TimeUnit.SECONDS)).isNotNull();
        } finally {
            holder.destroyForcibly();
        }
    }

    @Test
    void listOfOtherProtocolsSaysSo() throws Exception {
        write("{\"services\":{\"com.acme.Orders\":[\"ftp://10.0.0.1:20880\"]}}");
        look();

        EndpointSnapshot snapshot = next();
        assertThat(snapshot.state()).isEqualTo(State.EMPTY);
        assertThat(snapshot.why())
                .isEqualTo("its 1 addresses all have protocols other than dubbo: ftp://10.0.0.1:20880");
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
        assertThat(ProviderFile.parse("com.acme.Orders=here", false).problems())
                .containsExactly(
                        "entry 1 of \"com.acme.Orders\" is left out: its address is \"here\"; expected host:port or"
                                + " protocol://host:port");
    }

    @Test
    void severalProvidersRegisterInOneFile() throws Exception {
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
        assertThat(publication.verify().get(30, TimeUnit.SECONDS)).isEqualTo(Repair.NONE);

        write("{}");

        assertThat(publication.verify().get(30, TimeUnit.SECONDS)).isEqualTo(Repair.MISSING);
        assertThat(ProviderDocument.parse(Files.readString(file)).has(registration(1)))
                .isTrue();
    }

    @Test
    void badEntryIsLeftOutWithOneWarningAndAllOthersStay() throws Exception {
        try (RegistryLog log = new RegistryLog()) {
            write("{\"services\":{\"com.acme.Orders\":[\"10.0.0.1:20880\",{\"address\":\"[fe80::1%eth0]:20880\"}],"
                    + "\"x.Y\":\"10.0.0.2:1\"}}");
            look();

            assertThat(next().instances()).extracting(String::valueOf).containsExactly("10.0.0.1:20880");
            assertThat(log.warnings())
                    .singleElement()
                    .asString()
                    .startsWith(
                            "file://" + file + " is used only in part: entry 2 of \"com.acme.Orders\" is left out: its"
                                    + " address is \"[fe80::1%eth0]:20880\"")
                    .contains("the value of \"x.Y\" is a string and is left out; expected a list of host:port");
        }
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '`',
            value = {
                "[null]|entry 1 of \"a.B\" is left out: it is null; expected host:port",
                "[7]|entry 1 of \"a.B\" is left out: it is \"7\"; expected host:port",
                "[{\"adress\":\"h:1\"}]|entry 1 of \"a.B\" is left out: it has no \"address\"",
                "[\"h:0\"]|its address is \"h:0\"; expected a port from 1 to 65535",
                "[\"h:70000\"]|its address is \"h:70000\"; expected a port from 1 to 65535",
                "null|the value of \"a.B\" is null and is left out; expected a list of host:port",
                "{}|the value of \"a.B\" is an object and is left out; expected a list of host:port",
                "[{\"address\":\"h:1\",\"weight\":\"abc\"}]|\"weight\" in entry 1 of \"a.B\" is \"abc\", so 100 is"
                        + " used; expected a"
                        + " whole number from 0 to 1000000",
                "[{\"address\":\"h:1\",\"weight\":-1}]|\"weight\" in entry 1 of \"a.B\" is \"-1\", so 100 is used",
                "[{\"address\":\"h:1\",\"weight\":1.5}]|\"weight\" in entry 1 of \"a.B\" is \"1.5\", so 100 is used",
                "[\"h:1?weight=-5\"]|\"weight\" in entry 1 of \"a.B\" is \"-5\", so 100 is used",
                "[{\"address\":\"h:1\",\"weigth\":5}]|\"weigth\" in entry 1 of \"a.B\" is unknown and has no effect;"
                        + " expected one"
                        + " of [address, protocol, weight, zone, tag, startedAt]",
                "[{\"address\":\"h:1\",\"zone\":5}]|\"zone\" in entry 1 of \"a.B\" is \"5\" and has no effect;"
                        + " expected a string",
            })
    void valueThatHasNoMeaningIsNamedWithItsPlace(String providers, String expected) {
        assertThat(ProviderFile.parse("{\"services\":{\"a.B\":" + providers + "}}", true)
                        .problems())
                .singleElement()
                .asString()
                .contains(expected);
    }

    @Test
    void unreadableContentLeavesTheListAndNamesTheReason() throws Exception {
        try (RegistryLog log = new RegistryLog()) {
            String good = "{\"services\":{\"com.acme.Orders\":[\"10.0.0.1:20880\"]}}";
            write(good);
            look();
            assertThat(next().state()).isEqualTo(State.FRESH);

            for (Map.Entry<String, String> bad : List.of(
                    Map.entry("", "it is empty"),
                    Map.entry(" \n", "it is empty"),
                    Map.entry("{\"services\":[]}", "the value of \"services\" is a list; expected an object"),
                    Map.entry("{\"service\":{}}", "it has no member \"services\", but [\"service\"]"))) {
                write(bad.getKey());
                EndpointSnapshot stale = next();
                assertThat(stale.state()).isEqualTo(State.STALE);
                assertThat(stale.why()).contains(bad.getValue());
                assertThat(stale.instances()).hasSize(1);
                write(good);
                assertThat(next().state()).isEqualTo(State.FRESH);
            }
            Path utf16 = directory.resolve("utf16");
            Files.write(utf16, good.getBytes(StandardCharsets.UTF_16));
            Files.move(utf16, file, java.nio.file.StandardCopyOption.ATOMIC_MOVE);
            assertThat(next().why()).contains("it is written in UTF-16; expected UTF-8");

            assertThat(log.warnings()).hasSize(5).allMatch(line -> line.contains("cannot be used: "));
        }
    }

    @Test
    void byteOrderMarkIsAccepted() throws Exception {
        write("\uFEFF{\"services\":{\"com.acme.Orders\":[\"10.0.0.1:20880\"]}}");
        look();
        assertThat(next().instances()).hasSize(1);

        file = directory.resolve("providers.properties");
        write("\uFEFFcom.acme.Orders=10.0.0.1:20880\n");
        try (FileRegistry properties = registry("file://" + file)) {
            properties.source(new Subscription(ORDERS, "dubbo")).start(snapshots::add);
            assertThat(next().instances()).hasSize(1);
        }
    }

    @Test
    void lostPermissionIsNamed() {
        assertThat(FileText.reason(new AccessDeniedException("/x/p.json")))
                .isEqualTo("this process has no permission to use it");
        assertThat(FileText.reason(new FileSystemException("/x/p.json", null, "Read-only file system")))
                .isEqualTo("Read-only file system");
    }

    @Test
    void registrationKeepsUnknownMembers() throws Exception {
        String foreign = "{\"note\":[1,null],\"services\":{\"x.Y\":\"10.0.0.1:1\",\"x.Z\":[],"
                + "\"com.acme.Orders\":[{\"address\":\"10.0.0.8:1\",\"weigth\":1.50},\"here\",null]}}";
        write(foreign);
        Publication publication = registry.publish(registration(1));
        publication.seen().get(30, TimeUnit.SECONDS);
        assertThat(ProviderDocument.parse(Files.readString(file)).has(registration(1)))
                .isTrue();

        publication.withdraw().get(30, TimeUnit.SECONDS);

        assertThat(Files.readString(file)).isEqualTo(foreign);
    }

    @Test
    void serviceWhoseValueIsNotAListIsNotReplaced() throws Exception {
        String written = "{\"services\":{\"com.acme.Orders\":\"10.0.0.1:1\"}}";
        write(written);
        Publication publication = registry.publish(registration(1));

        assertThatThrownBy(() -> publication.verify().get(30, TimeUnit.SECONDS))
                .hasMessageContaining("the value of com.acme.Orders is a string; expected a list. Correct the file");
        assertThat(Files.readString(file)).isEqualTo(written);
    }

    @Test
    void entriesOfOtherProvidersAreNotWrittenAgain() throws Exception {
        Publication one = registry.publish(registration(1));
        Publication two = registry.publish(registration(2));
        one.seen().get(30, TimeUnit.SECONDS);
        two.seen().get(30, TimeUnit.SECONDS);

        assertThat(one.verify().get(30, TimeUnit.SECONDS)).isEqualTo(Repair.NONE);
        assertThat(two.verify().get(30, TimeUnit.SECONDS)).isEqualTo(Repair.NONE);
    }

    @Test
    void anotherProcessWithTheSameAddressIsAConflict() throws Exception {
        Publication one = registry.publish(registration(1));
        one.seen().get(30, TimeUnit.SECONDS);
        try (FileRegistry other = registry("file://" + file)) {
            other.publish(laterProcess(registration(1))).seen().get(30, TimeUnit.SECONDS);

            assertThat(one.verify().get(30, TimeUnit.SECONDS)).isEqualTo(Repair.CONFLICT);
        }
    }

    private static Registration laterProcess(Registration same) {
        return new Registration(
                same.application(),
                same.host(),
                same.port(),
                same.protocols(),
                same.services(),
                same.attributes(),
                same.warmupMillis(),
                same.startedAtMillis() + 1);
    }

    @Test
    void withdrawalKeepsTheEntriesOfAnotherProcessAtTheSameAddress() throws Exception {
        Publication one = registry.publish(registration(1));
        one.seen().get(30, TimeUnit.SECONDS);
        try (FileRegistry other = registry("file://" + file)) {
            other.publish(laterProcess(registration(1))).seen().get(30, TimeUnit.SECONDS);

            one.withdraw().get(30, TimeUnit.SECONDS);

            assertThat(Files.readString(file)).contains("10.0.0.7:1\"");
        }
    }

    @Test
    void fileThatCannotBeWrittenIsAWarningAtOnce() throws Exception {
        try (RegistryLog log = new RegistryLog();
                FileRegistry missing = registry("file://" + directory.resolve("no/p.json"))) {
            Publication publication = missing.publish(registration(1));
            assertThatThrownBy(() -> publication.verify().get(30, TimeUnit.SECONDS))
                    .hasMessageContaining(directory.resolve("no/p.json") + " cannot be written: "
                            + directory.resolve("no") + " is not an existing directory. Create it, or correct"
                            + " rpc.server.registry");
            assertThat(publication.problem()).contains("is not an existing directory");

            write("{broken");
            Publication broken = registry.publish(registration(1));
            assertThatThrownBy(() -> broken.verify().get(30, TimeUnit.SECONDS))
                    .hasMessageContaining(file + " is not changed, because not valid JSON at character");

            assertThat(log.warnings())
                    .hasSize(2)
                    .allMatch(line -> line.startsWith("shop at 10.0.0.7:1 with 1 services could not be registered: "));
        }
    }

    @Test
    void parametersOfAFileAreRefused() {
        assertThatThrownBy(() -> registry("file:///p.json?foo=bar"))
                .hasMessage(
                        "file:///p.json?foo=bar has the unknown parameter foo with the value 'bar'; no parameters are"
                                + " allowed");
    }

    @Test
    void propertiesAreNotWritten() {
        try (FileRegistry properties = registry("file:///x/providers.properties")) {
            assertThatThrownBy(() -> properties.publish(registration(1)))
                    .hasMessageContaining("providers register in a file of JSON");
        }
    }

    @Test
    void providerThatCouldNotBeRemovedIsRemovedLater() throws Exception {
        Publication publication = registry.publish(registration(1));
        publication.seen().get(60, TimeUnit.SECONDS);
        String list = Files.readString(file);
        look();
        assertThat(next().state()).isEqualTo(State.FRESH);

        write("{");
        assertThat(next().state()).isEqualTo(State.STALE);
        assertThatThrownBy(() -> publication.withdraw().get(60, TimeUnit.SECONDS))
                .hasMessageContaining("is not changed");
        write(list);

        EndpointSnapshot last = next();
        assertThat((last.state() == State.FRESH ? next() : last).state()).isEqualTo(State.EMPTY);
    }

    @Test
    void entriesOfAnAddressAreRemovedAlthoughAnotherAddressIsPublished() throws Exception {
        Publication former = registry.publish(registration(1));
        former.seen().get(60, TimeUnit.SECONDS);
        registry.publish(registration(2)).seen().get(60, TimeUnit.SECONDS);

        former.withdraw().get(60, TimeUnit.SECONDS);

        assertThat(Files.readString(file)).contains("10.0.0.7:2\"").doesNotContain("10.0.0.7:1\"");
    }

    @Test
    void withdrawalKeepsTheEntriesOfANewerPublicationOfTheSameAddress() throws Exception {
        Publication former = registry.publish(registration(1));
        former.seen().get(60, TimeUnit.SECONDS);
        registry.publish(registration(1)).seen().get(60, TimeUnit.SECONDS);

        former.withdraw().get(60, TimeUnit.SECONDS);

        assertThat(Files.readString(file)).contains("10.0.0.7:1\"");
    }

    @Test
    void withdrawalKeepsANewerPublicationAlthoughAnotherAddressWasPublishedLast() throws Exception {
        Publication former = registry.publish(registration(1));
        former.seen().get(60, TimeUnit.SECONDS);
        registry.publish(registration(1)).seen().get(60, TimeUnit.SECONDS);
        registry.publish(registration(2)).seen().get(60, TimeUnit.SECONDS);

        former.withdraw().get(60, TimeUnit.SECONDS);

        assertThat(Files.readString(file)).contains("10.0.0.7:1\"", "10.0.0.7:2\"");
    }

    @Test
    void addressThatIsListedTwiceCountsOnce() throws Exception {
        write("{\"services\":{\"com.acme.Orders\":[\"10.0.0.1:1\",\"10.0.0.1:1\","
                + "{\"address\":\"10.0.0.1:1\",\"protocol\":\"dubbo\"}]}}");
        look();

        assertThat(next().instances()).extracting(String::valueOf).containsExactly("10.0.0.1:1");
    }
}
