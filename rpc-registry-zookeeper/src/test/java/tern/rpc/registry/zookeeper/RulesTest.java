package tern.rpc.registry.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.apache.zookeeper.CreateMode;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledForJreRange;
import org.junit.jupiter.api.condition.JRE;
import org.slf4j.LoggerFactory;
import tern.rpc.ServiceKey;
import tern.rpc.endpoint.EndpointSnapshot;
import tern.rpc.endpoint.EndpointSource;
import tern.rpc.endpoint.Rules;
import tern.rpc.registry.Registration;
import tern.rpc.registry.Registry;
import tern.rpc.registry.RuledLimit;
import tern.rpc.registry.Subscription;
import tern.rpc.registry.dubbo.ProcessMetadata;

/** Tests Dubbo's rules in a real ZooKeeper server, with both Tern's and Dubbo's consumers. */
@Timeout(180)
class RulesTest {

    private static final String SERVICE = Greeting.class.getName();
    private static final String CONFIGURATORS = "/dubbo/config/dubbo/" + SERVICE + "::.configurators";
    private static final String CONDITIONS = "/dubbo/config/dubbo/" + SERVICE + "::.condition-router";
    private static final String TAGS = "/dubbo/config/dubbo/one.tag-router";

    private ZooKeeperServer zooKeeper;
    private final List<AutoCloseable> open = new ArrayList<>();
    private final ListAppender<ILoggingEvent> log = new ListAppender<>();

    @BeforeEach
    void start() throws Exception {
        zooKeeper = new ZooKeeperServer();
        log.start();
        loggers().forEach(logger -> logger.addAppender(log));
    }

    @AfterEach
    void stop() throws Exception {
        loggers().forEach(logger -> logger.detachAppender(log));
        for (AutoCloseable each : open) {
            each.close();
        }
        zooKeeper.close();
    }

    private static List<Logger> loggers() {
        return List.of(
                (Logger) LoggerFactory.getLogger(RuleWatch.class), (Logger) LoggerFactory.getLogger(RuleWatches.class));
    }

    private TernProcess tern(String name) {
        TernProcess made = new TernProcess(name, zooKeeper.url(), ZooKeeperRegistry.Form.DEFAULT);
        open.add(made);
        return made;
    }

    private DubboProcess dubbo(String name) {
        DubboProcess made = new DubboProcess(name, zooKeeper.address(), DubboProcess.Form.of("dubbo", "all", "remote"));
        open.add(made);
        return made;
    }

    private Snapshots look() {
        return look(registry());
    }

    private Registry registry() {
        Registry registry = new ZooKeeperRegistry.Factory(ZooKeeperRegistry.Form.DEFAULT, "web", ProcessMetadata.NONE)
                .open(zooKeeper.url());
        open.add(registry);
        return registry;
    }

    private static Snapshots look(Registry registry) {
        Snapshots snapshots = new Snapshots();
        registry.source(new Subscription(new ServiceKey(SERVICE, "", ""), "dubbo"))
                .start(snapshots);
        return snapshots;
    }

    private void rule(String path, String yaml) throws Exception {
        if (zooKeeper.exists(path)) {
            zooKeeper.replace(path, yaml);
        } else {
            zooKeeper.create(path, yaml, CreateMode.PERSISTENT);
        }
    }

    private List<String> warnings() {
        return log.list.stream()
                .filter(event -> event.getLevel() == Level.WARN)
                .map(ILoggingEvent::getFormattedMessage)
                .toList();
    }

    private static Rules rules(Snapshots snapshots) {
        EndpointSnapshot last = snapshots.last();
        return last == null ? Rules.NONE : last.rules();
    }

    @Test
    void rulesAreReadBeforeTheFirstListAndWatched() throws Exception {
        tern("one").provide("", "", 100);
        rule(CONFIGURATORS, "configs: [{parameters: {timeout: 500}}]");
        rule(TAGS, "tags: [{name: gray, addresses: ['127.0.0.1:*']}]");

        Snapshots snapshots = look();

        Await.until("the list is known", () -> !snapshots.addresses().isEmpty());
        assertThat(rules(snapshots)).hasToString("one.tag-router, " + SERVICE + "::.configurators");
        assertThat(rules(snapshots).timeout("greet")).isEqualTo(Duration.ofMillis(500));
        assertThat(rules(snapshots).tags(snapshots.last().instances().get(0))).containsExactly("gray");

        EndpointSource later = registry().source(new Subscription(new ServiceKey(SERVICE, "", ""), "dubbo"));
        assertThat(later.rules(rules(snapshots).texts())).isEqualTo(rules(snapshots));

        rule(CONFIGURATORS, "configs: [{parameters: {timeout: 600}}]");
        Await.until(
                "the change is seen",
                () -> Duration.ofMillis(600).equals(rules(snapshots).timeout("greet")));
        zooKeeper.delete(CONFIGURATORS);
        zooKeeper.delete(TAGS);
        Await.until("the rules are gone", () -> rules(snapshots) == Rules.NONE);
        assertThat(warnings()).isEmpty();
    }

    @Test
    void ruleThatWasNeverUsableIsOffWithOneWarning() throws Exception {
        tern("one").provide("", "", 100);
        rule(CONDITIONS, "conditions: ['=> port=20880'");
        Snapshots snapshots = look();
        Await.until("the list is known", () -> !snapshots.addresses().isEmpty());
        assertThat(rules(snapshots)).isSameAs(Rules.NONE);
        assertThat(warnings())
                .singleElement()
                .asString()
                .contains(CONDITIONS, "it is not YAML", "Calls continue without it");
    }

    @Test
    void unusableRuleIsNamedOnceForAllReferencesOfARegistry() throws Exception {
        tern("one").provide("", "", 100);
        rule("/dubbo/config/dubbo/one.configurators", "configs: [{side: neither}]");
        Registry registry = registry();
        for (int i = 0; i < 3; i++) {
            Snapshots snapshots = look(registry);
            Await.until("the list is known", () -> !snapshots.addresses().isEmpty());
        }

        assertThat(warnings()).singleElement().asString().contains("the side 'neither' is not understood");
    }

    @Test
    void changeThatIsNotUnderstoodLeavesTheLastRuleInUse() throws Exception {
        tern("one").provide("", "", 100);
        rule(CONFIGURATORS, "configs: [{parameters: {timeout: 500}}]");
        Snapshots snapshots = look();
        Await.until("the list is known", () -> !snapshots.addresses().isEmpty());
        Rules before = rules(snapshots);

        rule(CONFIGURATORS, "configs: [{parameters: {retries: 3}}]");
        Await.until("the change is seen", () -> !warnings().isEmpty());
        rule(CONFIGURATORS, "# again\nconfigs: [{parameters: {retries: 3}}]");
        rule(TAGS, "enabled: true\ntags: [{name: gray, addresses: [a]}]\n");
        Await.until("later rules are read", () -> !rules(snapshots).equals(before));
        assertThat(rules(snapshots).timeout("greet")).isEqualTo(Duration.ofMillis(500));
        assertThat(rules(snapshots)).hasToString("one.tag-router, " + SERVICE + "::.configurators");
        assertThat(warnings())
                .singleElement()
                .asString()
                .contains(CONFIGURATORS, "the parameter 'retries' is not understood", "stays in use");

        rule(CONFIGURATORS, "configs: [{parameters: {timeout: 600}}]");
        Await.until(
                "a usable rule is read",
                () -> Duration.ofMillis(600).equals(rules(snapshots).timeout("greet")));
        rule(CONFIGURATORS, "configs: [{parameters: {retries: 3}}]");
        Await.until("the second change is seen", () -> warnings().size() == 2);
        zooKeeper.delete(CONFIGURATORS);
        Await.until("the rule is gone", () -> rules(snapshots).timeout("greet") == null);
        assertThat(snapshots.addresses()).hasSize(1);
    }

    @Test
    void ruleThatIsTooLongIsNotRead() throws Exception {
        tern("one").provide("", "", 100);
        rule(CONFIGURATORS, "#" + "x".repeat(900_000));
        Snapshots snapshots = look();
        Await.until("the list is known", () -> !snapshots.addresses().isEmpty());

        assertThat(warnings()).singleElement().asString().contains("the node has 900001 bytes, more than 65536");

        rule(CONFIGURATORS, "configs: [{parameters: {timeout: 500}}]");
        Await.until("a shorter rule is read", () -> rules(snapshots) != Rules.NONE);
    }

    @Test
    void disabledProviderGetsNoCalls() throws Exception {
        tern("one").provide("", "", 100);
        tern("two").provide("", "", 100);
        Greeting greeting = tern("web").refer("dubbo", Subscription.Level.BOTH, "", "");
        Await.until("both answer", () -> DubboProcess.names(greeting, 20).size() == 2);
        Snapshots snapshots = look();
        Await.until("both are known", () -> snapshots.addresses().size() == 2);

        rule(
                CONFIGURATORS,
                "configs: [{side: provider, addresses: ['"
                        + snapshots.addresses().get(0) + "'], parameters: {disabled: true}}]");
        Await.until("one answers all", () -> DubboProcess.names(greeting, 20).size() == 1);

        zooKeeper.delete(CONFIGURATORS);
        Await.until("both answer again", () -> DubboProcess.names(greeting, 20).size() == 2);
    }

    @Test
    @EnabledForJreRange(max = JRE.JAVA_21) // On later JDKs, Dubbo 3.3.6 finds no JSON library.
    void consumersOfTernAndDubboFollowTheSameCondition() throws Exception {
        dubbo("one").provide(service -> {});
        dubbo("two").provide(service -> {});
        Snapshots snapshots = look();
        Await.until("both are known", () -> snapshots.addresses().size() == 2);
        String address = snapshots.addresses().get(0);

        rule(CONDITIONS, """
                configVersion: v3.0
                scope: service
                force: true
                runtime: true
                enabled: true
                key: %s
                conditions:
                  - "method=greet => port=%s"
                """.formatted(SERVICE, address.substring(address.lastIndexOf(':') + 1)));

        Greeting byTern = tern("web").refer("dubbo", Subscription.Level.BOTH, "", "");
        // Dubbo reads the rule when the consumer's reference is created.
        Greeting byDubbo = dubbo("dubbo-web").refer(reference -> {});
        Await.until("one answers Dubbo", () -> DubboProcess.names(byDubbo, 20).size() == 1);
        Await.until(
                "the same one answers Tern",
                () -> DubboProcess.names(byTern, 20).equals(DubboProcess.names(byDubbo, 20)));
    }

    @Test
    void rulesOfTheCallersApplicationAreFollowed() throws Exception {
        tern("one").provide("", "", 100);
        rule("/dubbo/config/dubbo/web.configurators", "configs: [{side: consumer, parameters: {timeout: 500}}]");
        rule("/dubbo/config/dubbo/web.condition-router", "force: true\nconditions: ['method=greet =>']");

        Snapshots snapshots = look();

        Await.until("the list is known", () -> !snapshots.addresses().isEmpty());
        assertThat(rules(snapshots).timeout("greet")).isEqualTo(Duration.ofMillis(500));
        assertThat(rules(snapshots).route("greet", snapshots.last().instances()))
                .isEmpty();
        assertThat(warnings()).isEmpty();
    }

    @Test
    void ruleOfAProvidersApplicationAppliesToNoOtherApplication() throws Exception {
        tern("one").provide("", "", 100);
        tern("two").provide("", "", 100);
        rule(
                "/dubbo/config/dubbo/one.configurators",
                "configs: [{side: provider, addresses: ['0.0.0.0'], parameters: {disabled: true}}]");

        Snapshots snapshots = look();

        Await.until("both are known", () -> snapshots.addresses().size() == 2);
        Await.until(
                "one of them is disabled",
                () -> snapshots.last().instances().stream()
                                .filter(provider -> rules(snapshots).attributes(provider) == null)
                                .count()
                        == 1);
        assertThat(warnings()).isEmpty();
    }

    @Test
    void conditionsOfAProvidersApplicationChooseAmongItsProviders() throws Exception {
        tern("one").provide("", "", 100);
        tern("two").provide("", "", 100);
        rule("/dubbo/config/dubbo/one.condition-router", "force: true\nconditions: ['method=greet =>']");

        Snapshots snapshots = look();

        Await.until("both are known", () -> snapshots.addresses().size() == 2);
        Await.until(
                "one of them takes the call",
                () -> rules(snapshots)
                                .route("greet", snapshots.last().instances())
                                .size()
                        == 1);
        assertThat(rules(snapshots).route("other", snapshots.last().instances()))
                .hasSize(2);
        assertThat(warnings()).isEmpty();
    }

    @Test
    void inventedApplicationsDoNotDisplaceTheRulesOfTheOthers() throws Exception {
        for (int i = 0; i < 120; i++) {
            zooKeeper.create("/dubbo/" + SERVICE + "/providers/" + entry(i), "", CreateMode.PERSISTENT);
        }
        tern("one").provide("", "", 100); // this provider has an interface-level entry and an application-level entry
        rule(TAGS, "tags: [{name: gray, addresses: ['127.0.0.1:*']}]");

        Snapshots snapshots = look();

        Await.until("the list is known", () -> snapshots.addresses().size() == 121);
        assertThat(rules(snapshots)).hasToString("one.tag-router");
        assertThat(warnings())
                .singleElement()
                .asString()
                .contains("is offered by 121 applications", "more than 100", "provided-by");
    }

    @Test
    void ruleOfAnApplicationBeyondTheLimitIsReadAsSoonAsAnotherHasGone() throws Exception {
        for (int i = 0; i < 101; i++) {
            rule("/dubbo/config/dubbo/a" + i + ".tag-router", "tags: [{name: t" + i + "}]");
            zooKeeper.create("/dubbo/" + SERVICE + "/providers/" + entry(i), "", CreateMode.PERSISTENT);
        }
        Snapshots snapshots = look();
        Await.until("the list is known", () -> snapshots.addresses().size() == 101);
        List<String> known = List.of(rules(snapshots).toString().split(", "));
        assertThat(known).hasSize(100);

        int read = known.contains("a0.tag-router") ? 0 : 1;
        zooKeeper.delete("/dubbo/" + SERVICE + "/providers/" + entry(read));

        Await.until("the rules of all others are known", () -> {
            List<String> now = List.of(rules(snapshots).toString().split(", "));
            return now.size() == 100 && !now.contains("a" + read + ".tag-router");
        });
    }

    private static String entry(int application) {
        String url = "dubbo://10.1.0." + application + ":20880/" + SERVICE + "?application=a" + application
                + "&interface=" + SERVICE;
        return URLEncoder.encode(url, StandardCharsets.UTF_8);
    }

    @Test
    void ruleOfAKindThatIsNotSupportedIsNamedOnce() throws Exception {
        tern("one").provide("", "", 100);
        rule("/dubbo/config/dubbo/one.script-router", "enabled: true\nscript: 'function route() {}'");

        Snapshots snapshots = look();

        Await.until("the list is known", () -> !snapshots.addresses().isEmpty());
        Await.until("the rule is named", () -> !warnings().isEmpty());
        assertThat(warnings())
                .singleElement()
                .asString()
                .contains("/dubbo/config/dubbo/one.script-router", "Tern does not apply rules of this kind");
    }

    private static Registration registration(int port) {
        return new Registration(
                "one",
                "127.0.0.1",
                port,
                List.of("dubbo"),
                List.of(new Registration.Service(new ServiceKey(SERVICE, "", ""), List.of("greet"), 100)),
                Map.of(),
                0,
                0);
    }

    @Test
    void limitsForAnAddressFollowThePublishedAddress() throws Exception {
        rule(CONFIGURATORS, """
                configs:
                  - {side: provider, addresses: ["127.0.0.1:20880"], parameters: {executes: 7}}
                  - {side: provider, addresses: ["127.0.0.1:20881"], parameters: {executes: 8}}
                """);
        Queue<List<RuledLimit>> limits = new ConcurrentLinkedQueue<>();
        Registry registry = registry();
        registry.watchLimits(registration(20880), limits::add);
        List<RuledLimit> before = List.of(new RuledLimit(SERVICE, "", 7, SERVICE + "::.configurators"));
        Await.until("the rule is read", () -> List.of(before).equals(List.copyOf(limits)));

        registry.publish(registration(20881));

        List<RuledLimit> after = List.of(new RuledLimit(SERVICE, "", 8, SERVICE + "::.configurators"));
        Await.until("the new address is used", () -> List.of(before, after).equals(List.copyOf(limits)));
    }

    /**
     * As in Dubbo, if the rule for the application limits a single method, a rule for a service does not replace this
     * limit.
     */
    @Test
    void limitsOfSingleMethodsFollowThoseOfAllMethods() throws Exception {
        rule("/dubbo/config/dubbo/one.configurators", """
                configs: [{side: provider, addresses: [0.0.0.0], parameters: {greet.executes: 2}}]
                """);
        rule(CONFIGURATORS, """
                configs: [{side: provider, addresses: [0.0.0.0], parameters: {executes: 9}}]
                """);
        Queue<List<RuledLimit>> limits = new ConcurrentLinkedQueue<>();

        registry().watchLimits(registration(20880), limits::add);

        Await.until("the rules are read", () -> !limits.isEmpty());
        assertThat(limits)
                .containsExactly(List.of(
                        new RuledLimit(SERVICE, "", 9, SERVICE + "::.configurators"),
                        new RuledLimit(SERVICE, "greet", 2, "one.configurators")));
    }

    @Test
    void limitsOfTheProviderFollowTheRules() throws Exception {
        Queue<List<RuledLimit>> limits = new ConcurrentLinkedQueue<>();
        rule("/dubbo/config/dubbo/one.configurators", """
                configs: [{side: provider, addresses: [0.0.0.0], parameters: {executes: 9}}]
                """);
        registry().watchLimits(registration(20880), limits::add);
        RuledLimit ofApplication = new RuledLimit(SERVICE, "", 9, "one.configurators");
        Await.until(
                "the first rule is read", () -> List.of(List.of(ofApplication)).equals(List.copyOf(limits)));

        rule(CONFIGURATORS, """
                configs: [{side: provider, addresses: ["127.0.0.1:20880"], parameters: {greet.executes: 2}}]
                """);
        Await.until(
                "the second rule is read",
                () -> limits.stream()
                        .anyMatch(
                                List.of(
                                        ofApplication,
                                        new RuledLimit(SERVICE, "greet", 2, SERVICE + "::.configurators"))::equals));

        rule(CONFIGURATORS, "no: [rule");
        zooKeeper.delete("/dubbo/config/dubbo/one.configurators");
        Await.until(
                "a broken rule changes nothing, and a deleted rule ends",
                () -> limits.stream()
                        .anyMatch(List.of(new RuledLimit(SERVICE, "greet", 2, SERVICE + "::.configurators"))::equals));
        Await.until("the broken rule is named", () -> !warnings().isEmpty());
        assertThat(warnings()).hasSize(1);
    }
}
