package tern.rpc.registry.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Clock;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.apache.zookeeper.CreateMode;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import tern.rpc.ServiceKey;
import tern.rpc.endpoint.EndpointSnapshot.State;
import tern.rpc.registry.Publication;
import tern.rpc.registry.Publication.Repair;
import tern.rpc.registry.Registration;
import tern.rpc.registry.Registry;
import tern.rpc.registry.RegistryUrl;
import tern.rpc.registry.Subscription;
import tern.rpc.registry.Subscription.Level;
import tern.rpc.registry.dubbo.ApplicationMetadata;
import tern.rpc.registry.dubbo.ProcessEntry;
import tern.rpc.registry.dubbo.ProviderUrl;

/** Tests registrations and provider lists with an embedded ZooKeeper. */
@Timeout(120)
class ZooKeeperRegistryTest {

    private static final ServiceKey GREETING = new ServiceKey("cap.Greeting", "", "");
    private static final String PROVIDERS = "/dubbo/cap.Greeting/providers";
    private static final String PROCESSES = "/services/shop";

    private ZooKeeperServer zooKeeper;
    private final List<Registry> open = new ArrayList<>();

    @BeforeEach
    void start() throws Exception {
        zooKeeper = new ZooKeeperServer();
    }

    @AfterEach
    void stop() throws Exception {
        open.forEach(Registry::close);
        zooKeeper.close();
    }

    private Registry registry(ZooKeeperRegistry.Form form) {
        return registry(zooKeeper.url(), form);
    }

    private Registry registry(RegistryUrl url, ZooKeeperRegistry.Form form) {
        Registry made = new ZooKeeperRegistry.Factory(form).open(url);
        open.add(made);
        return made;
    }

    private Registry registry() {
        return registry(ZooKeeperRegistry.Form.DEFAULT);
    }

    private static Registration registration(int port) {
        return new Registration(
                "shop",
                "10.0.0.7",
                port,
                List.of("dubbo", "tri"),
                List.of(new Registration.Service(GREETING, List.of("greet"), 50)),
                Map.of("zone", "a"),
                0,
                1_795_372_294_221L);
    }

    private Publication publish(Registry registry, int port) throws Exception {
        Publication publication = registry.publish(registration(port));
        publication.seen().get(60, TimeUnit.SECONDS);
        return publication;
    }

    private Snapshots look(Registry registry, Subscription subscription) {
        Snapshots snapshots = new Snapshots();
        registry.source(subscription).start(snapshots);
        return snapshots;
    }

    @Test
    void providerIsRegisteredAtBothLevelsWithMetadataAndMapping() throws Exception {
        Publication publication = publish(registry(), 20880);

        assertThat(publication.problem()).isEmpty();
        assertThat(zooKeeper.children(PROVIDERS))
                .singleElement()
                .satisfies(name -> assertThat(ProviderUrl.parseNode(name).toString())
                        .startsWith("dubbo://10.0.0.7:20880/cap.Greeting?")
                        .contains("ext.protocol=tri"));
        assertThat(zooKeeper.children(PROCESSES)).containsExactly("10.0.0.7:20880");
        ProcessEntry process = ProcessEntry.parse(zooKeeper.data(PROCESSES + "/10.0.0.7:20880"));
        ApplicationMetadata metadata =
                ApplicationMetadata.parse(zooKeeper.data("/dubbo/metadata/shop/" + process.revision()));
        assertThat(metadata.services()).containsOnlyKeys("cap.Greeting:dubbo", "cap.Greeting:tri");
        assertThat(zooKeeper.data("/dubbo/mapping/cap.Greeting")).isEqualTo("shop");
        assertThat(zooKeeper.stat(PROCESSES + "/10.0.0.7:20880").getEphemeralOwner())
                .isNotZero();
        assertThat(zooKeeper.stat("/dubbo/metadata/shop/" + process.revision()).getEphemeralOwner())
                .isZero();
    }

    @Test
    void levelOfInterfacesAloneWritesNothingElse() throws Exception {
        publish(registry(new ZooKeeperRegistry.Form(Level.INTERFACE, true)), 20880);

        assertThat(zooKeeper.children(PROVIDERS))
                .extracting(name -> ProviderUrl.parseNode(name).protocol())
                .containsExactlyInAnyOrder("dubbo", "tri");
        assertThat(zooKeeper.exists("/services")).isFalse();
        assertThat(zooKeeper.exists("/dubbo/mapping")).isFalse();
    }

    @Test
    void withdrawnProviderLeavesOnlyPersistentNodes() throws Exception {
        Publication publication = publish(registry(), 20880);

        publication.withdraw().get(60, TimeUnit.SECONDS);

        assertThat(zooKeeper.children(PROVIDERS)).isEmpty();
        assertThat(zooKeeper.children(PROCESSES)).isEmpty();
        assertThat(zooKeeper.data("/dubbo/mapping/cap.Greeting")).isEqualTo("shop");
    }

    @Test
    void mappingOfOthersIsKept() throws Exception {
        zooKeeper.create("/dubbo/mapping/cap.Greeting", "dead-app,other", CreateMode.PERSISTENT);

        publish(registry(), 20880);

        assertThat(zooKeeper.data("/dubbo/mapping/cap.Greeting")).isEqualTo("dead-app,other,shop");
    }

    @Test
    void nodeOfAFormerSessionIsReplaced() throws Exception {
        zooKeeper.create(PROCESSES + "/10.0.0.7:20880", "of the former process", CreateMode.EPHEMERAL);

        publish(registry(), 20880);

        assertThat(zooKeeper.stat(PROCESSES + "/10.0.0.7:20880").getEphemeralOwner())
                .isNotEqualTo(zooKeeper.session());
        assertThat(ProcessEntry.parse(zooKeeper.data(PROCESSES + "/10.0.0.7:20880")))
                .isNotNull();
    }

    @Test
    void deletedNodeIsRepairedByTheNextVerification() throws Exception {
        Publication publication = publish(registry(), 20880);
        zooKeeper.delete(PROCESSES + "/10.0.0.7:20880");

        assertThat(publication.verify().get(60, TimeUnit.SECONDS)).isEqualTo(Repair.MISSING);
        assertThat(zooKeeper.children(PROCESSES)).containsExactly("10.0.0.7:20880");
        assertThat(publication.verify().get(60, TimeUnit.SECONDS)).isEqualTo(Repair.NONE);
    }

    @Test
    void deletedTreeIsWrittenAgainByTheNextVerification() throws Exception {
        Publication publication = publish(registry(), 20880);

        for (List<String> parts : List.of(
                List.of("/dubbo/cap.Greeting"),
                List.of("/dubbo/metadata"),
                List.of("/dubbo/mapping"),
                List.of("/dubbo", "/services"))) {
            for (String part : parts) {
                zooKeeper.deleteTree(part);
            }

            assertThat(publication.verify().get(60, TimeUnit.SECONDS).missing()).isPositive();

            assertThat(publication.problem()).isEmpty();
            assertThat(zooKeeper.children(PROVIDERS)).hasSize(1);
            assertThat(zooKeeper.children(PROCESSES)).containsExactly("10.0.0.7:20880");
            assertThat(zooKeeper.children("/dubbo/metadata/shop")).hasSize(1);
            assertThat(zooKeeper.data("/dubbo/mapping/cap.Greeting")).isEqualTo("shop");
            assertThat(publication.verify().get(60, TimeUnit.SECONDS)).isEqualTo(Repair.NONE);
        }
    }

    @Test
    void failedVerificationIsAProblemUntilOneSucceeds() throws Exception {
        Publication publication = publish(registry(), 20880);
        String entry = PROVIDERS + "/" + zooKeeper.children(PROVIDERS).get(0);
        zooKeeper.delete(entry);
        zooKeeper.protect(PROVIDERS);

        assertThatThrownBy(() -> publication.verify().get(60, TimeUnit.SECONDS)).hasMessageContaining("NoAuth");
        assertThat(publication.problem()).contains("not verified", PROVIDERS);

        zooKeeper.unprotect(PROVIDERS);
        assertThat(publication.verify().get(60, TimeUnit.SECONDS)).isEqualTo(Repair.MISSING);
        assertThat(publication.problem()).isEmpty();
    }

    @Test
    void verificationDuringAnOutageIsAProblemUntilTheRegistryReturns() throws Exception {
        Publication publication = publish(registry(), 20880);

        zooKeeper.stop();
        Await.until("a verification fails", () -> {
            publication.verify().exceptionally(failure -> null).get(60, TimeUnit.SECONDS);
            return !publication.problem().isEmpty();
        });

        zooKeeper.restart();
        Await.until(
                "the provider is registered again", () -> publication.problem().isEmpty());
    }

    @Test
    void missingPermissionNamesUserAndPassword() throws Exception {
        publish(
                registry(
                        RegistryUrl.parse("zookeeper://me:right@" + zooKeeper.address()),
                        ZooKeeperRegistry.Form.DEFAULT),
                1);

        Publication wrong = registry(
                        RegistryUrl.parse("zookeeper://me:wrong@" + zooKeeper.address()),
                        ZooKeeperRegistry.Form.DEFAULT)
                .publish(registration(2));
        Publication none = registry().publish(registration(3));

        Await.until(
                "the reasons are named",
                () -> wrong.problem().contains("NoAuth") && none.problem().contains("NoAuth"));
        assertThat(wrong.problem())
                .contains("the user or the password is wrong", "Check the user and the password in rpc.server.registry")
                .doesNotContain("wrong@");
        assertThat(none.problem()).contains("the registry requires a user and a password");
    }

    @Test
    void anotherProcessWithTheSameAddressIsAConflict() throws Exception {
        Publication one = publish(registry(), 20880);
        publish(registry(), 20880);

        assertThat(one.verify().get(60, TimeUnit.SECONDS)).isEqualTo(new Repair(0, 2));
    }

    @Test
    void expiredSessionLeavesTheProviderRegisteredInTheNextOne() throws Exception {
        publish(registry(), 20880);
        long first = zooKeeper.stat(PROCESSES + "/10.0.0.7:20880").getEphemeralOwner();

        zooKeeper.expire(first);

        Await.until("the entry belongs to another session", () -> {
            var stat = zooKeeper.stat(PROCESSES + "/10.0.0.7:20880");
            return stat != null && stat.getEphemeralOwner() != first;
        });
        Await.until("both levels are there", () -> zooKeeper.children(PROVIDERS).size() == 1);
    }

    @Test
    void providerAtBothLevelsCountsOnce() throws Exception {
        publish(registry(), 20880);

        Snapshots snapshots = look(registry(), new Subscription(GREETING, "dubbo"));

        snapshots.awaitAddresses("10.0.0.7:20880");
        assertThat(snapshots.last().state()).isEqualTo(State.FRESH);
        assertThat(snapshots.last().instances().get(0).attributes().weight()).isEqualTo(50);
        assertThat(snapshots.last().instances().get(0).attributes().zone()).isEqualTo("a");
        assertThat(snapshots.last().instances().get(0).attributes().startedAtMillis())
                .isEqualTo(1_795_372_294_221L);
    }

    @Test
    void eachLevelAloneFindsTheProviderOverBothProtocols() throws Exception {
        publish(registry(), 20880);

        for (Level level : Level.values()) {
            for (String protocol : List.of("dubbo", "tri")) {
                look(registry(), new Subscription(GREETING, protocol, List.of(), level))
                        .awaitAddresses("10.0.0.7:20880");
            }
        }
        look(registry(), new Subscription(GREETING, "tri", List.of("shop"), Level.APPLICATION))
                .awaitAddresses("10.0.0.7:20880");
    }

    @Test
    void otherGroupVersionOrProtocolIsNotFound() throws Exception {
        publish(registry(), 20880);

        for (Subscription other : List.of(
                new Subscription(new ServiceKey("cap.Greeting", "g", ""), "dubbo"),
                new Subscription(new ServiceKey("cap.Greeting", "", "1.0"), "dubbo"),
                new Subscription(GREETING, "http"))) {
            Snapshots snapshots = look(registry(), other);
            snapshots.awaitState(State.EMPTY);
            assertThat(snapshots.last().why()).contains("the registry has only cap.Greeting over dubbo");
        }
    }

    @Test
    void emptyListNamesItsReason() throws Exception {
        zooKeeper.create(
                PROVIDERS + "/dubbo%3A%2F%2F10.0.0.5%3A1%2Fcap.Greeting%3Fdisabled%3Dtrue", "", CreateMode.PERSISTENT);
        zooKeeper.create("/dubbo/mapping/cap.Greeting", "shop", CreateMode.PERSISTENT);
        String process = new ProcessEntry(
                        "shop",
                        "10.0.0.6:1",
                        "10.0.0.6",
                        1,
                        Map.of(ProcessEntry.REVISION, "lost", ProcessEntry.STORAGE, ProcessEntry.REMOTE))
                .json(1);
        zooKeeper.create(PROCESSES + "/10.0.0.6:1", process, CreateMode.PERSISTENT);

        Snapshots both = look(registry(), new Subscription(GREETING, "dubbo"));
        Snapshots unmapped = look(
                registry(),
                new Subscription(new ServiceKey("cap.Lost", "", ""), "dubbo", List.of(), Level.APPLICATION));

        both.awaitState(State.EMPTY);
        assertThat(both.last().why())
                .isEqualTo("some of its entries are disabled; the services of some of its processes are not known");
        unmapped.awaitState(State.EMPTY);
        assertThat(unmapped.last().why()).contains("names no application", "provided-by");
    }

    @Test
    void changesAreSeenAtBothLevels() throws Exception {
        Snapshots snapshots = look(registry(), new Subscription(GREETING, "dubbo"));
        snapshots.awaitState(State.EMPTY);

        Publication second = publish(registry(), 20881);
        snapshots.awaitAddresses("10.0.0.7:20881");
        publish(registry(), 20880);
        snapshots.awaitAddresses("10.0.0.7:20880", "10.0.0.7:20881");
        second.withdraw().get(60, TimeUnit.SECONDS);
        snapshots.awaitAddresses("10.0.0.7:20880");

        zooKeeper.create(
                PROVIDERS + "/dubbo%3A%2F%2F127.0.0.1%3A20890%2Fcap.Greeting%3Finterface%3Dcap.Greeting",
                "",
                CreateMode.EPHEMERAL);
        snapshots.awaitAddresses("10.0.0.7:20880", "127.0.0.1:20890");
    }

    @Test
    void revisionThatChangesInPlaceIsFollowed() throws Exception {
        zooKeeper.create("/dubbo/mapping/cap.Greeting", "shop", CreateMode.PERSISTENT);
        metadata("r1", 7001);
        metadata("r2", 7002);
        zooKeeper.create(PROCESSES + "/10.0.0.9:1", process("r1"), CreateMode.EPHEMERAL);
        Snapshots snapshots = look(registry(), new Subscription(GREETING, "dubbo"));
        snapshots.awaitAddresses("10.0.0.9:7001");

        zooKeeper.replace(PROCESSES + "/10.0.0.9:1", process("r2"));

        snapshots.awaitAddresses("10.0.0.9:7002");
    }

    private void metadata(String revision, int port) throws Exception {
        zooKeeper.create(
                "/dubbo/metadata/shop/" + revision,
                "{\"app\":\"shop\",\"revision\":\"" + revision + "\",\"services\":{\"cap.Greeting:dubbo\":"
                        + "{\"name\":\"cap.Greeting\",\"params\":{},\"path\":\"cap.Greeting\",\"port\":" + port
                        + ",\"protocol\":\"dubbo\"}}}",
                CreateMode.PERSISTENT);
    }

    private static String process(String revision) {
        return new ProcessEntry(
                        "shop",
                        "10.0.0.9:1",
                        "10.0.0.9",
                        1,
                        Map.of(ProcessEntry.REVISION, revision, ProcessEntry.STORAGE, ProcessEntry.REMOTE))
                .json(1);
    }

    @Test
    void hostileEntriesAreLeftOutAndTheOthersStay() throws Exception {
        zooKeeper.create("/dubbo/mapping/cap.Greeting", "dead-app,shop,spring", CreateMode.PERSISTENT);
        zooKeeper.create(PROCESSES + "/big", "x".repeat(500_000), CreateMode.PERSISTENT);
        zooKeeper.create(PROCESSES + "/broken", "{\"payload\":", CreateMode.PERSISTENT);
        zooKeeper.create(PROCESSES + "/binary", "\u0000\u0001", CreateMode.PERSISTENT);
        zooKeeper.create(
                "/services/spring/a", "{\"name\":\"spring\",\"payload\":{\"metadata\":{}}}", CreateMode.PERSISTENT);
        zooKeeper.create(PROVIDERS + "/a%0Ab%ZZ", "", CreateMode.PERSISTENT);
        zooKeeper.create(PROVIDERS + "/dubbo%3A%2F%2F%0A%2Fcap.Greeting", "", CreateMode.PERSISTENT);
        publish(registry(), 20880);

        look(registry(), new Subscription(GREETING, "dubbo")).awaitAddresses("10.0.0.7:20880");
    }

    @Test
    void metadataThatAppearsLaterIsFoundByALaterAttempt() throws Exception {
        zooKeeper.create("/dubbo/mapping/cap.Greeting", "shop", CreateMode.PERSISTENT);
        zooKeeper.create(PROCESSES + "/10.0.0.9:1", process("r1"), CreateMode.EPHEMERAL);
        Snapshots snapshots = look(registry(), new Subscription(GREETING, "dubbo"));
        snapshots.awaitState(State.EMPTY);

        metadata("r1", 7001);

        snapshots.awaitAddresses("10.0.0.9:7001");
    }

    @Test
    void registryThatIsDownAtTheStartIsUsedOnceItIsUp() throws Exception {
        zooKeeper.stop();
        Snapshots snapshots = look(registry(), new Subscription(GREETING, "dubbo"));
        Registry publishing = registry();
        Publication publication = publishing.publish(registration(20880));
        snapshots.awaitState(State.UNKNOWN);
        Await.until("the reason is named", () -> publication.problem().contains("does not answer"));

        zooKeeper.restart();

        snapshots.awaitAddresses("10.0.0.7:20880");
        publication.seen().get(60, TimeUnit.SECONDS);
    }

    @Test
    void listStaysWhileTheRegistryIsDownAndIsStale() throws Exception {
        publish(registry(), 20880);
        Snapshots snapshots = look(registry(), new Subscription(GREETING, "dubbo"));
        snapshots.awaitAddresses("10.0.0.7:20880");

        zooKeeper.stop();

        snapshots.awaitState(State.STALE);
        assertThat(snapshots.addresses()).containsExactly("10.0.0.7:20880");
        zooKeeper.restart();
        snapshots.awaitState(State.FRESH);
    }

    @Test
    void credentialsGuardTheEntriesAsAtDubbo() throws Exception {
        RegistryUrl secured = RegistryUrl.parse("zookeeper://me:secret@" + zooKeeper.address());
        Registry registry = registry(secured, ZooKeeperRegistry.Form.DEFAULT);
        publish(registry, 20880);

        look(registry(secured, ZooKeeperRegistry.Form.DEFAULT), new Subscription(GREETING, "dubbo"))
                .awaitAddresses("10.0.0.7:20880");

        assertThat(org.assertj.core.api.Assertions.catchThrowable(() -> zooKeeper.data(PROCESSES + "/10.0.0.7:20880")))
                .isInstanceOf(org.apache.zookeeper.KeeperException.NoAuthException.class);
        assertThat(registry.url().toString()).doesNotContain("secret").doesNotContain("me:");
    }

    @Test
    void sourceReportsNothingBeforeItsFirstList() throws Exception {
        Snapshots snapshots = look(registry(), new Subscription(GREETING, "dubbo"));

        snapshots.awaitState(State.EMPTY);

        assertThat(snapshots.count()).isEqualTo(1);
    }

    @Test
    void providerWithdrawnDuringAnOutageIsRemovedAfterwards() throws Exception {
        Publication publication = publish(registry(), 20880);

        zooKeeper.stop();
        assertThatThrownBy(() -> publication.withdraw().get(60, TimeUnit.SECONDS))
                .hasMessageContaining("ConnectionLoss");
        zooKeeper.restart();

        Await.until(
                "no entry is left",
                () -> zooKeeper.children(PROVIDERS).isEmpty()
                        && zooKeeper.children(PROCESSES).isEmpty());
    }

    @Test
    void newSessionRemovesTheEntriesOfAnEarlierOne() throws Exception {
        ZooKeeperRegistry.Factory factory = new ZooKeeperRegistry.Factory(ZooKeeperRegistry.Form.DEFAULT);
        Session session = new Session(ZooKeeperSettings.of(zooKeeper.url(), factory.bundles()));
        Registry registry = new ZooKeeperRegistry(zooKeeper.url(), factory, Clock.systemUTC(), session);
        open.add(registry);
        ZooKeeperPublication publication = (ZooKeeperPublication) publish(registry, 20880);
        CompletableFuture<Void> alone = new CompletableFuture<>();
        session.execute(() -> {
            // The session's listener is removed, because the test itself calls publication.connected() in place of the
            // session.
            session.remove(publication);
            alone.complete(null);
        });
        alone.get(60, TimeUnit.SECONDS);
        zooKeeper.stop();
        assertThatThrownBy(() -> publication.withdraw().get(60, TimeUnit.SECONDS))
                .hasMessageContaining("ConnectionLoss");
        zooKeeper.restart();
        String process = PROCESSES + "/10.0.0.7:20880";
        zooKeeper.delete(process);
        zooKeeper.create(process, "another process", CreateMode.EPHEMERAL);

        Await.until("no entry of this process is left", () -> {
            session.execute(() -> publication.connected(true));
            return zooKeeper.children(PROVIDERS).isEmpty();
        });
        assertThat(zooKeeper.data(process)).isEqualTo("another process");
    }

    @Test
    void laterPublicationKeepsTheEntriesThatAnEarlierOneCouldNotRemove() throws Exception {
        Registry registry = registry();
        Publication first = publish(registry, 20880);
        zooKeeper.stop();
        assertThatThrownBy(() -> first.withdraw().get(60, TimeUnit.SECONDS)).hasMessageContaining("ConnectionLoss");
        Publication second = registry.publish(registration(20880));
        zooKeeper.restart();

        second.seen().get(60, TimeUnit.SECONDS);

        assertThat(second.verify().get(60, TimeUnit.SECONDS)).isEqualTo(Repair.NONE);
        assertThat(zooKeeper.children(PROVIDERS)).hasSize(1);
        assertThat(zooKeeper.children(PROCESSES)).hasSize(1);
    }

    @Test
    void entriesAreWrittenAlsoIfTheMappingCannotBe() throws Exception {
        zooKeeper.create("/dubbo/mapping/cap.Greeting", "other,".repeat(20_000), CreateMode.PERSISTENT);

        Publication publication = registry().publish(registration(20880));

        Await.until(
                "both levels are there",
                () -> zooKeeper.children(PROVIDERS).size() == 1
                        && zooKeeper.children(PROCESSES).size() == 1);
        Await.until("the reason is named", () -> publication.problem().contains("bytes, more than"));
        assertThat(publication.problem()).startsWith("published only in part: ");
        publication.seen().get(60, TimeUnit.SECONDS);
    }

    @Test
    void entriesOfInterfacesAreWrittenAlsoIfTheMetadataCannotBe() throws Exception {
        zooKeeper.create("/dubbo/metadata/shop", "", CreateMode.PERSISTENT);
        zooKeeper.protect("/dubbo/metadata/shop");

        Publication publication = registry().publish(registration(20880));

        Await.until(
                "the interface is there", () -> zooKeeper.children(PROVIDERS).size() == 1);
        Await.until("the reason is named", () -> publication.problem().contains("NoAuth"));
        assertThat(zooKeeper.children(PROCESSES)).isEmpty();
    }
}
