package tern.rpc.registry.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import org.apache.zookeeper.CreateMode;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.slf4j.LoggerFactory;
import tern.rpc.ServiceKey;
import tern.rpc.endpoint.EndpointSnapshot;
import tern.rpc.registry.Registry;
import tern.rpc.registry.Subscription;
import tern.rpc.registry.dubbo.ProcessEntry;

/** Tests a consumer whose registry contains one valid provider and arbitrary invalid entries. */
@Timeout(180)
class HostileRegistryTest {

    private static final String GOOD = "10.0.0.9:7001";
    private static final int MEGABYTE = 1024 * 1024;

    private final ListAppender<ILoggingEvent> log = new ListAppender<>();
    private ZooKeeperServer zooKeeper;
    private Registry registry;

    @BeforeEach
    void start() throws Exception {
        zooKeeper = new ZooKeeperServer();
        registry = new ZooKeeperRegistry.Factory(ZooKeeperRegistry.Form.DEFAULT).open(zooKeeper.url());
        log.start();
        logger().addAppender(log);
        write("/dubbo/mapping/cap.Greeting", "shop");
        write("/dubbo/metadata/shop/good", metadata(""));
        write("/services/shop/10.0.0.9:7001", process("10.0.0.9", 7001, "good"));
    }

    @AfterEach
    void stop() throws Exception {
        logger().detachAppender(log);
        registry.close();
        zooKeeper.close();
    }

    private static Logger logger() {
        return (Logger) LoggerFactory.getLogger("tern.rpc.registry");
    }

    private void write(String path, String data) throws Exception {
        zooKeeper.create(path, data, CreateMode.PERSISTENT);
    }

    /**
     * Returns metadata in JSON.
     *
     * @param first additional members for each object, each followed by a comma
     */
    private static String metadata(String first) {
        return "{" + first + "\"app\":\"shop\",\"revision\":\"good\",\"services\":{\"cap.Greeting:dubbo\":{" + first
                + "\"name\":\"cap.Greeting\",\"params\":{},\"path\":\"cap.Greeting\",\"protocol\":\"dubbo\"}}}";
    }

    private static String process(String host, int port, String revision) {
        return new ProcessEntry(
                        "shop",
                        host + ":" + port,
                        host,
                        port,
                        Map.of(ProcessEntry.REVISION, revision, ProcessEntry.STORAGE, ProcessEntry.REMOTE))
                .json(1);
    }

    private Snapshots look() {
        Snapshots snapshots = new Snapshots();
        registry.source(new Subscription(new ServiceKey("cap.Greeting", "", ""), "dubbo"))
                .start(snapshots);
        return snapshots;
    }

    private List<String> warnings() {
        return log.list.stream()
                .filter(event -> event.getLevel().isGreaterOrEqual(Level.WARN))
                .map(ILoggingEvent::getFormattedMessage)
                .toList();
    }

    @Test
    void nodesOfTenMegabytesAreNamedButNotRead() throws Exception {
        String big = "x".repeat(10 * MEGABYTE);
        write("/services/shop/10.0.0.8:7001", big);
        write("/dubbo/metadata/shop/big", big);
        write("/services/shop/10.0.0.7:7001", process("10.0.0.7", 7001, "big"));
        write("/dubbo/config/dubbo/cap.Greeting::.configurators", big);

        look().awaitAddresses(GOOD);

        Await.until("each is named", () -> warnings().size() == 3);
        assertThat(warnings())
                .allSatisfy(warning -> assertThat(warning)
                        .contains("the node has 10485760 bytes, more than")
                        .hasSizeLessThan(500));
    }

    @Test
    void mappingOfTenMegabytesIsIgnored() throws Exception {
        zooKeeper.replace("/dubbo/mapping/cap.Greeting", "shop," + "x,".repeat(5 * MEGABYTE));
        write(
                "/dubbo/cap.Greeting/providers/dubbo%3A%2F%2F10.0.0.9%3A7001%2Fcap.Greeting%3Finterface%3Dcap.Greeting",
                "");

        look().awaitAddresses(GOOD);

        assertThat(warnings()).singleElement().asString().contains("/dubbo/mapping/cap.Greeting", "is ignored");
    }

    @Test
    void mappingThatBecomesTooLongLeavesTheApplicationsInUse() throws Exception {
        Snapshots snapshots = look();
        snapshots.awaitAddresses(GOOD);

        zooKeeper.replace("/dubbo/mapping/cap.Greeting", "shop," + "x,".repeat(MEGABYTE));
        Await.until("the mapping is named", () -> !warnings().isEmpty());
        write("/services/shop/10.0.0.8:7001", process("10.0.0.8", 7001, "good"));

        snapshots.awaitAddresses("10.0.0.8:7001", GOOD);
        assertThat(snapshots.all()).extracting(EndpointSnapshot::state).doesNotContain(EndpointSnapshot.State.EMPTY);
        assertThat(warnings())
                .singleElement()
                .asString()
                .contains("/dubbo/mapping/cap.Greeting", "that were read before stay in use");
    }

    /** Each entry is short enough, but all entries together would fill a consumer's memory. */
    @Test
    void entriesThatAreTooLongTogetherAreLeftOutUntilThereIsRoom() throws Exception {
        String tag = "x".repeat(60_000);
        int number = 16 * MEGABYTE / tag.length() + 1;
        for (int i = 0; i < number; i++) {
            zooKeeper.createLater("/services/shop/h" + i + ":7001", tagged("h" + i, i + tag));
        }
        Await.until("all are written", () -> zooKeeper.stat("/services/shop").getNumChildren() == number + 1);

        Snapshots snapshots = look();
        Await.until("the others are known", () -> snapshots.addresses().size() > number / 2);
        assertThat(snapshots.addresses()).hasSizeLessThan(number + 1).contains(GOOD);
        assertThat(warnings()).singleElement().asString().contains("left out", "more than 16777216 characters");
        for (int i = 0; i < 10; i++) {
            zooKeeper.delete("/services/shop/h" + i + ":7001");
        }

        Await.until("all are known", () -> snapshots.addresses().size() == number + 1 - 10);
    }

    private static String tagged(String host, String tag) {
        return new ProcessEntry(
                        "shop",
                        host + ":7001",
                        host,
                        7001,
                        Map.of(
                                ProcessEntry.REVISION,
                                "good",
                                ProcessEntry.STORAGE,
                                ProcessEntry.REMOTE,
                                "dubbo.tag",
                                tag))
                .json(1);
    }

    @Test
    void unreadableNodesAreNamedAndLeftOut() throws Exception {
        write("/services/shop/10.0.0.8:7001", process("10.0.0.8", 7001, "good"));
        zooKeeper.hide("/services/shop/10.0.0.8:7001");
        write("/dubbo/config/dubbo/cap.Greeting::.configurators", "configs: [{parameters: {timeout: 500}}]");
        zooKeeper.hide("/dubbo/config/dubbo/cap.Greeting::.configurators");
        write("/dubbo/cap.Greeting/providers/10.0.0.7", "");
        zooKeeper.hide("/dubbo/cap.Greeting/providers");

        look().awaitAddresses(GOOD);

        Await.until("each is named", () -> warnings().size() == 3);
        assertThat(warnings())
                .allSatisfy(warning -> assertThat(warning).contains("access control list", "requires a user"))
                .anySatisfy(warning -> assertThat(warning).contains("/services/shop", "left out, 10.0.0.8:7001"))
                .anySatisfy(warning -> assertThat(warning).contains("cap.Greeting::.configurators"))
                .anySatisfy(warning -> assertThat(warning).contains("/dubbo/cap.Greeting/providers", "listed"));
    }

    @Test
    void unreadableMappingIsNamedAndIgnoredUntilItCanBeRead() throws Exception {
        zooKeeper.hide("/dubbo/mapping/cap.Greeting");
        write(
                "/dubbo/cap.Greeting/providers/dubbo%3A%2F%2F10.0.0.5%3A7001%2Fcap.Greeting%3Finterface%3Dcap.Greeting",
                "");

        Snapshots snapshots = look();
        snapshots.awaitAddresses("10.0.0.5:7001");
        assertThat(warnings())
                .singleElement()
                .asString()
                .contains("/dubbo/mapping/cap.Greeting", "is ignored", "access control list");

        zooKeeper.unprotect("/dubbo/mapping/cap.Greeting");
        snapshots.awaitAddresses("10.0.0.5:7001", GOOD);
        assertThat(warnings()).hasSize(1);
    }

    @Test
    void lineBreaksNeverReachTheLog() throws Exception {
        String lines = "a%0D%0AWARN%20forged%E2%80%A8b%1B%5B31m";
        zooKeeper.replace("/dubbo/mapping/cap.Greeting", "shop,a\r\nWARN forged");
        write("/dubbo/cap.Greeting/providers/" + lines, "");
        write("/dubbo/cap.Greeting/providers/dubbo%3A%2F%2F10.0.0.5%3A1%2F" + lines, "");
        write("/services/shop/10.0.0.8:7001", process("10.0.0.8\nWARN forged", 7001, "good"));
        write("/services/shop/10.0.0.7:7001", process("10.0.0.7", 7001, "line\nWARN forged"));
        write("/dubbo/config/dubbo/cap.Greeting::.condition-router", "conditions: [\"a\\r\\nWARN forged\"]");

        look().awaitAddresses(GOOD);

        Await.until("the rule is named", () -> warnings().stream().anyMatch(text -> text.contains("condition-router")));
        assertThat(warnings())
                .isNotEmpty()
                .allSatisfy(warning -> assertThat(warning.chars().filter(c -> Character.isISOControl(c) || c == 0x2028))
                        .isEmpty());
    }

    @Test
    void classNamesInMetadataAreNeverResolved() throws Exception {
        String gadget = "\"@class\":\"" + Trap.class.getName() + "\",\"@type\":\"" + Trap.class.getName() + "\",";
        write("/dubbo/metadata/shop/gadget", metadata(gadget));
        write(
                "/services/shop/10.0.0.8:7001",
                process("10.0.0.8", 7001, "gadget")
                        .replace("org.apache.dubbo.registry.zookeeper.ZookeeperInstance", Trap.class.getName()));

        look().awaitAddresses("10.0.0.8:7001", GOOD);

        assertThat(Boolean.getBoolean(Trap.class.getName())).isFalse();
    }

    /** A class whose static initializer sets a system property. */
    private static final class Trap {
        static {
            System.setProperty("tern.rpc.registry.zookeeper.HostileRegistryTest$Trap", "true");
        }
    }

    @Test
    void entriesOfSpringCloudInTheSameFolderAreNoProviders() throws Exception {
        write(
                "/services/shop/6d5f0b5e-59f5-4d67-a9ef-3c0b2b6c1f11",
                "{\"name\":\"shop\",\"id\":\"6d5f0b5e-59f5-4d67-a9ef-3c0b2b6c1f11\",\"address\":\"10.0.0.6\","
                        + "\"port\":8080,\"sslPort\":null,\"payload\":{\"@class\":"
                        + "\"org.springframework.cloud.zookeeper.discovery.ZookeeperInstance\",\"id\":\"shop\","
                        + "\"name\":\"shop\",\"metadata\":{\"instance_status\":\"UP\"}},"
                        + "\"registrationTimeUTC\":1795372294326,\"serviceType\":\"DYNAMIC\",\"uriSpec\":"
                        + "{\"parts\":[{\"value\":\"scheme\",\"variable\":true}]}}");
        write("/services/shop/child/of/another/tool", "{}");

        look().awaitAddresses(GOOD);
    }

    /**
     * The default number is smaller than 100,000, because writing 100,000 providers takes about half a minute. A system
     * property can increase the number.
     */
    @Test
    void manyProvidersOfOneServiceAreKnownAndCounted() throws Exception {
        int number = Integer.getInteger("tern.registry.instances", 3_000);
        for (int i = 0; i < number; i++) {
            zooKeeper.createLater("/services/shop/h" + i + ":7001", process("h" + i, 7001, "good"));
        }
        Await.until("all are written", () -> zooKeeper.stat("/services/shop").getNumChildren() == number + 1);

        Snapshots snapshots = look();

        Await.until(
                "all are known",
                () -> snapshots.last() != null && snapshots.last().instances().size() == Math.min(number + 1, 100_000));
        assertThat(warnings()).hasSize(number + 1 > 100_000 ? 1 : 0);
    }

    @Test
    void mappingOfAThousandApplicationsIsCutAndNamedOnce() throws Exception {
        StringBuilder names = new StringBuilder("shop");
        for (int i = 1; i < 1_000; i++) {
            names.append(",app").append(i);
        }
        zooKeeper.replace("/dubbo/mapping/cap.Greeting", names.toString());

        Snapshots snapshots = look();
        snapshots.awaitAddresses(GOOD);
        zooKeeper.replace("/dubbo/mapping/cap.Greeting", names + ",last");
        write("/services/shop/10.0.0.8:7001", process("10.0.0.8", 7001, "good"));
        snapshots.awaitAddresses("10.0.0.8:7001", GOOD);

        assertThat(warnings()).singleElement().asString().contains("names too many applications");
    }

    @Test
    void emptyBrokenAndLaterContentIsNamedOrUsed() throws Exception {
        write("/services/shop/10.0.0.1:7001", "");
        write("/dubbo/metadata/shop/empty", "");
        write("/services/shop/10.0.0.2:7001", process("10.0.0.2", 7001, "empty"));
        write("/dubbo/metadata/shop/broken", "{\"app\":\"shop\",\"services\":{\"cap");
        write("/services/shop/10.0.0.3:7001", process("10.0.0.3", 7001, "broken"));
        write("/dubbo/metadata/shop/later", metadata("\"schema\":{\"version\":[4,null,1.5e3]},"));
        write("/services/shop/10.0.0.4:7001", process("10.0.0.4", 7001, "later"));
        write("/dubbo/metadata/shop/renamed", metadata("").replace("\"good\"", "\"another\""));
        write("/services/shop/10.0.0.5:7001", process("10.0.0.5", 7001, "renamed"));

        look().awaitAddresses("10.0.0.4:7001", "10.0.0.5:7001", GOOD);

        Await.until("each is named", () -> warnings().size() == 3);
        assertThat(warnings())
                .anySatisfy(warning -> assertThat(warning).contains("has an entry that is left out, 10.0.0.1:7001"))
                .anySatisfy(warning -> assertThat(warning).contains("in revision empty cannot be read"))
                .anySatisfy(warning -> assertThat(warning).contains("in revision broken cannot be read"));
    }

    /** Each text makes the YAML parser or a regular expression fail in an unusual way, or run for a very long time. */
    @ParameterizedTest
    @ValueSource(
            strings = {
                "enabled: !!float \"\"",
                "force: !!int \"\"",
                "priority: !!timestamp \"x\"",
                "key: !!binary \"%%%\"",
                "conditions: [\"=> host =LONG !\"]",
                "conditions: [\"=> host = aLONG,b\"]"
            })
    void rulesThatBreakTheirParserAreNamedAndBlockNoList(String yaml) throws Exception {
        String text = yaml.replace("aLONG", "a,".repeat(20_000)).replace("LONG", " ".repeat(50_000));
        write("/dubbo/config/dubbo/cap.Greeting::.condition-router", text);

        look().awaitAddresses(GOOD);

        assertThat(warnings())
                .singleElement()
                .asString()
                .contains("condition-router", "Calls continue without it")
                .hasSizeLessThan(500);
    }

    @Test
    void manyRevisionsWithoutServicesAreNamedOnlyAFewTimes() throws Exception {
        for (int i = 0; i < 200; i++) {
            write("/services/shop/10.0.1." + i + ":7001", process("10.0.1." + i, 7001, "missing-" + i));
        }

        Snapshots snapshots = look();
        snapshots.awaitAddresses(GOOD);
        write("/services/shop/10.0.0.8:7001", process("10.0.0.8", 7001, "good"));
        snapshots.awaitAddresses("10.0.0.8:7001", GOOD);

        Await.until("some are named", () -> warnings().size() >= 10);
        assertThat(warnings())
                .hasSizeLessThan(15)
                .allSatisfy(warning -> assertThat(warning).contains("in revision missing-"));
    }

    @Test
    void invalidEncodingIsNamedInOneLineWithoutAToken() throws Exception {
        write("/dubbo/cap.Greeting/providers/dubbo%3A%2F%2F10.0.0.5%3A1%2Fa%3Ftoken%3D%\u2028s3cret", "");

        look().awaitAddresses(GOOD);

        assertThat(warnings())
                .singleElement()
                .asString()
                .contains("a name that is not URL-encoded")
                .doesNotContain("\u2028", "s3");
    }

    @Test
    void oddAddressesAndNumbersAreNamedOrUsed() throws Exception {
        String[] urls = {
            "dubbo://10.0.0.1/cap.Greeting?interface=cap.Greeting",
            "dubbo://10.0.0.2:0/cap.Greeting?interface=cap.Greeting&timestamp=1",
            "dubbo://10.0.0.3:65536/cap.Greeting?interface=cap.Greeting",
            "dubbo://10.0.0.4:7001/cap.Greeting?interface=cap.Greeting&weight=99999999999&timestamp=-7",
            "dubbo://10.0.0.5:7001/cap.Greeting?weight=1&weight=2&interface=cap.Greeting&interface=cap.Greeting",
            "dubbo://[2001:db8::6]:7001/cap.Greeting?interface=cap.Greeting&weight=-3",
            "carrier-pigeon://10.0.0.7:7001/cap.Greeting?interface=cap.Greeting",
            "empty://0.0.0.0/cap.Greeting?category=providers"
        };
        for (String url : urls) {
            write("/dubbo/cap.Greeting/providers/" + URLEncoder.encode(url, StandardCharsets.UTF_8), "");
        }

        Snapshots snapshots = look();

        snapshots.awaitAddresses("10.0.0.4:7001", "10.0.0.5:7001", GOOD, "[2001:db8::6]:7001");
        assertThat(snapshots.last().instances())
                .extracting(instance -> instance.attributes().weight())
                .containsExactly(1_000_000, 2, 100, 100);
        assertThat(snapshots.last().instances())
                .allSatisfy(instance ->
                        assertThat(instance.attributes().startedAtMillis()).isZero());
        assertThat(warnings()).singleElement().asString().contains("/dubbo/cap.Greeting/providers", "port");
    }

    @Test
    void deadNamesInTheMappingAreNoFault() throws Exception {
        zooKeeper.replace("/dubbo/mapping/cap.Greeting", "dead,shop,never-there");

        look().awaitAddresses(GOOD);

        assertThat(warnings()).isEmpty();
    }

    @Test
    void clocksAnHourApartChangeNoAddressAndNoWeight() throws Exception {
        long hour = 3_600_000;
        for (long shift : new long[] {-hour, hour}) {
            write(
                    "/dubbo/cap.Greeting/providers/dubbo%3A%2F%2F10.0.0." + (shift < 0 ? 1 : 2)
                            + "%3A7001%2Fcap.Greeting%3Finterface%3Dcap.Greeting%26weight%3D70%26warmup%3D600000%26timestamp%3D"
                            + (System.currentTimeMillis() + shift),
                    "");
        }

        Snapshots snapshots = look();

        snapshots.awaitAddresses("10.0.0.1:7001", "10.0.0.2:7001", GOOD);
        assertThat(snapshots.last().instances())
                .extracting(instance -> instance.attributes().weight())
                .containsExactly(70, 70, 100);
    }
}
