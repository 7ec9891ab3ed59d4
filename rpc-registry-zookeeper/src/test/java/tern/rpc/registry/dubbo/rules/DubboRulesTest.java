package tern.rpc.registry.dubbo.rules;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import tern.rpc.ServiceKey;
import tern.rpc.endpoint.Attributes;
import tern.rpc.endpoint.Endpoint;
import tern.rpc.endpoint.Instance;
import tern.rpc.endpoint.Rules;

/** Tests rules in the YAML format described in Dubbo's documentation. */
class DubboRulesTest {

    private static final RuleConsumer CONSUMER = new RuleConsumer("web", Set.of("10.9.0.1", "127.0.0.1"));

    private static final ServiceKey ORDERS = new ServiceKey("cap.Orders", "", "");

    private static final Instance ONE = provider("10.0.0.1", 20880, "a", "");
    private static final Instance TWO = provider("10.0.0.2", 20881, "b", "");
    private static final Instance GRAY = provider("10.0.0.3", 20880, "b", "gray");
    private static final List<Instance> ALL = List.of(ONE, TWO, GRAY);

    private static Instance provider(String host, int port, String zone, String tag) {
        Attributes attributes = Attributes.DEFAULT.withZone(zone);
        return new Instance(
                new Endpoint(host, port),
                tag.isEmpty() ? attributes : attributes.withTags(Map.of(Attributes.TAG, tag)));
    }

    private static Rules rules(Rule.Kind kind, String yaml) {
        Rule rule = kind.parse(yaml, ORDERS);
        return of(rule == null ? Map.of() : Map.of(kind.key("cap.Orders::"), rule), CONSUMER);
    }

    private static Rules of(Map<String, Rule> byKey, RuleConsumer consumer) {
        return DubboRules.of(byKey, Map.of(), consumer);
    }

    private static Rules conditions(boolean force, String... conditions) {
        StringBuilder yaml = new StringBuilder("""
                configVersion: v3.0
                scope: service
                force: %s
                runtime: true
                enabled: true
                key: cap.Orders
                conditions:
                """.formatted(force));
        for (String condition : conditions) {
            yaml.append("  - \"").append(condition).append("\"\n");
        }
        return rules(Rule.Kind.CONDITIONS, yaml.toString());
    }

    private static Rules configs(String parameters) {
        return rules(Rule.Kind.CONFIGURATORS, """
                configVersion: v3.0
                scope: service
                key: cap.Orders
                enabled: true
                configs:
                  - addresses: ["0.0.0.0"]
                    side: consumer
                    parameters: {%s}
                """.formatted(parameters));
    }

    // ---- condition tests

    @ParameterizedTest
    @CsvSource(delimiter = '|', nullValues = "none", textBlock = """
            method=get => port=20880                     | get | 10.0.0.1:20880 10.0.0.3:20880
            method=get => port=20880                     | put | 10.0.0.1:20880 10.0.0.2:20881 10.0.0.3:20880
            method = get*,find => address = 10.0.0.1:*   | getAll | 10.0.0.1:20880
            => host != 10.0.0.3                          | get | 10.0.0.1:20880 10.0.0.2:20881
            => zone = a                                  | get | 10.0.0.1:20880
            => zone = b & port = 20880                   | get | 10.0.0.3:20880
            => dubbo.tag = gray                          | get | 10.0.0.3:20880
            application = web => host = 10.0.0.1,10.0.0.2 | get | 10.0.0.1:20880 10.0.0.2:20881
            application = other => host = 10.0.0.1       | get | 10.0.0.1:20880 10.0.0.2:20881 10.0.0.3:20880
            host = 10.9.* => host = 10.0.0.1             | get | 10.0.0.1:20880
            host != 10.9.0.1 => host = 10.0.0.1          | get | 10.0.0.1:20880 10.0.0.2:20881 10.0.0.3:20880
            method=get =>                                | get | none
            => host = 192.168.0.1                        | get | 10.0.0.1:20880 10.0.0.2:20881 10.0.0.3:20880
            true => false                                | get | none
            true => zone = a                             | get | 10.0.0.1:20880
            method=get => false                          | put | 10.0.0.1:20880 10.0.0.2:20881 10.0.0.3:20880
            => host = 10.0.0.1 & host = 10.0.0.2         | get | 10.0.0.1:20880 10.0.0.2:20881
            => host != 10.0.0.1 & host != 10.0.0.2       | get | 10.0.0.3:20880
            => host = 10.0.0.* & host != 10.0.0.1 & zone = b | get | 10.0.0.2:20881 10.0.0.3:20880
            consumer.host = 10.9.0.1 => provider.host = 10.0.0.1 | get | 10.0.0.1:20880
            """)
    void conditionSendsMatchingCallsToMatchingProviders(String condition, String method, String expected) {
        assertThat(conditions(false, condition).route(method, ALL).stream().map(Instance::toString))
                .containsExactlyElementsOf(expected == null ? List.of() : List.of(expected.split(" ")));
    }

    @Test
    void forcedConditionMayExcludeAllProviders() {
        assertThat(conditions(true, "=> host = 192.168.0.1").route("get", ALL)).isEmpty();
    }

    @Test
    void conditionsAreAppliedOneAfterTheOther() {
        assertThat(conditions(false, "=> zone=b", "method=get => port=20880").route("get", ALL))
                .containsExactly(GRAY);
    }

    @Test
    void onlyConditionsOnMethodsDependOnTheMethod() {
        assertThat(conditions(false, "=> zone=b").isByMethod()).isFalse();
        assertThat(conditions(false, "=> zone=b", "method=get => zone=a").isByMethod())
                .isTrue();
    }

    @Test
    void formOfVersion31WithOneDestinationIsRead() {
        Rules rules = rules(Rule.Kind.CONDITIONS, """
                configVersion: v3.1
                scope: service
                force: false
                runtime: true
                enabled: true
                key: cap.Orders
                conditions:
                  - from:
                      match: "method=get"
                    to:
                      - match: "zone=a"
                        weight: 100
                """);

        assertThat(rules.route("get", ALL)).containsExactly(ONE);
        assertThat(rules.route("put", ALL)).isEqualTo(ALL);
    }

    // ---- tag tests

    @Test
    void tagRuleGivesTagsToAddresses() {
        Rules rules = rules(Rule.Kind.TAGS, """
                ---
                force: true
                runtime: true
                enabled: true
                key: governance-tagrouter-provider
                tags:
                  - name: tag1
                    addresses: ["10.0.0.1:20880"]
                  - name: tag2
                    addresses: ["10.0.0.2:*", "10.0.0.3"]
                ...
                """);

        assertThat(rules.tags(ONE)).containsExactly("tag1");
        assertThat(rules.tags(TWO)).containsExactly("tag2");
        assertThat(rules.tags(GRAY)).containsExactly("tag2", "gray");
        assertThat(rules.tags(provider("10.0.0.4", 1, "", ""))).containsExactly("");
        assertThat(rules.isForced("tag1")).isTrue();
        assertThat(rules.isForced("gray")).isFalse();
    }

    // ---- configurator tests

    @Test
    void timeoutIsSetForAllMethodsOrOne() {
        Rules rules = configs("timeout: 6000, get.timeout: '100'");

        assertThat(rules.timeout("put")).isEqualTo(Duration.ofSeconds(6));
        assertThat(rules.timeout("get")).isEqualTo(Duration.ofMillis(100));
        assertThat(Rules.NONE.timeout("get")).isNull();
    }

    @Test
    void timeoutOfOneMethodStaysWhenALaterChangeSetsTheTimeoutOfAllMethods() {
        Rules rules = rules(Rule.Kind.CONFIGURATORS, """
                configs:
                  - {side: consumer, parameters: {get.timeout: 100}}
                  - {side: consumer, parameters: {timeout: 6000}}
                """);

        assertThat(rules.timeout("get")).isEqualTo(Duration.ofMillis(100));
        assertThat(rules.timeout("put")).isEqualTo(Duration.ofSeconds(6));
    }

    @Test
    void ruleOfAnotherScopeReplacesOnlyTheSameParameter() {
        Rules rules = of(
                Map.of(
                        "web.configurators",
                        rule(Rule.Kind.CALLER_CONFIGURATORS, "{side: consumer, parameters: {get.timeout: 100}}"),
                        "cap.Orders::.configurators",
                        rule(Rule.Kind.CONFIGURATORS, "{side: consumer, parameters: {timeout: 6000}}")),
                CONSUMER);

        assertThat(rules.timeout("get")).isEqualTo(Duration.ofMillis(100));
        assertThat(rules.timeoutFrom("get")).isEqualTo("web.configurators");
        assertThat(rules.timeout("put")).isEqualTo(Duration.ofSeconds(6));
        assertThat(rules.timeoutFrom("put")).isEqualTo("cap.Orders::.configurators");
    }

    private static Rule rule(Rule.Kind kind, String config) {
        return Objects.requireNonNull(kind.parse("configs: [" + config + "]", ORDERS));
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', nullValues = "none", textBlock = """
            {force: true,  conditions: ['=> port=1']}     | 10.0.0.3:20880
            {force: false, conditions: ['=> port=1']}     | 10.0.0.1:20880 10.0.0.2:20881 10.0.0.3:20880
            {force: true,  conditions: ['=> port=20880']} | 10.0.0.1:20880 10.0.0.3:20880
            {force: false, conditions: ['=> ']}           | 10.0.0.3:20880
            """)
    void conditionsOfAProvidersApplicationChooseAmongItsProviders(String yaml, String expected) {
        Rule rule = Objects.requireNonNull(Rule.Kind.PROVIDER_CONDITIONS.parse(yaml, ORDERS))
                .within(() -> Set.of(ONE.endpoint(), TWO.endpoint()));
        Rules rules = of(Map.of("shop.condition-router" + DubboRules.OF_PROVIDERS, rule), CONSUMER);

        assertThat(rules.route("get", ALL)).extracting(String::valueOf).containsExactly(expected.split(" "));
    }

    @Test
    void rulesAreReadAgainFromTheirTexts() {
        String yaml = "force: true\nconditions: [\"=> port=20881\"]\n";
        Rule.Kind kind = Rule.Kind.PROVIDER_CONDITIONS;
        Rule ofOne = Objects.requireNonNull(kind.parse(yaml, ORDERS))
                .within(() -> Set.of(ONE.endpoint(), new Endpoint("::1", 20880)));
        String key = kind.key("shop") + DubboRules.OF_PROVIDERS;
        Map<String, DubboRules.Source> sources = Map.of(key, new DubboRules.Source(kind, yaml));
        Rules rules = DubboRules.of(Map.of(key, ofOne), sources, CONSUMER);

        Rules read = DubboRules.of(rules.texts(), ORDERS, CONSUMER);

        assertThat(read).isEqualTo(rules);
        // GRAY stays, because the rule applies to the providers of a different application
        assertThat(read.route("get", ALL)).containsExactly(TWO, GRAY);
    }

    /**
     * The name of the provider's application must have no effect. Of the two tested names, one precedes the caller's
     * name in alphabetical order, and the other follows it.
     */
    @ParameterizedTest
    @ValueSource(strings = {"a-shop", "z-shop"})
    void ruleOfTheCallersApplicationPrecedesTheRuleOfTheProvidersApplication(String shop) {
        String weight = "addresses: ['0.0.0.0'], parameters: {weight: ";
        String ofProviders = Rule.Kind.PROVIDER_CONFIGURATORS.key(shop) + DubboRules.OF_PROVIDERS;
        Rule provider = rule(Rule.Kind.PROVIDER_CONFIGURATORS, "{side: provider, " + weight + "1}}");
        Rule caller = rule(Rule.Kind.CALLER_CONFIGURATORS, "{side: consumer, " + weight + "2}}");
        Rule service = rule(Rule.Kind.CONFIGURATORS, "{side: consumer, " + weight + "3}}");

        Rules both = of(Map.of(ofProviders, provider, "web.configurators", caller), CONSUMER);
        Rules all = of(
                Map.of(ofProviders, provider, "web.configurators", caller, "cap.Orders::.configurators", service),
                CONSUMER);

        assertThat(both.attributes(ONE)).isEqualTo(ONE.attributes().withWeight(2));
        assertThat(all.attributes(ONE)).isEqualTo(ONE.attributes().withWeight(3));
    }

    @ParameterizedTest
    @CsvSource({"random, p2c", "leastactive, p2c", "roundrobin, round-robin", "consistenthash, consistent-hash"})
    void loadBalancingHasTernsName(String dubbo, String tern) {
        assertThat(configs("loadbalance: " + dubbo).loadBalancing()).isEqualTo(tern);
    }

    @Test
    void weightAndDisabledAreSetForProviders() {
        Rules rules = rules(Rule.Kind.CONFIGURATORS, """
                configVersion: v3.0
                scope: service
                key: cap.Orders
                enabled: true
                configs:
                  - side: provider
                    addresses: ["10.0.0.1:20880"]
                    parameters: {weight: 7}
                  - side: consumer
                    providerAddresses: ["10.0.0.2"]
                    parameters: {disabled: true}
                  - side: provider
                    enabled: false
                    addresses: ["0.0.0.0"]
                    parameters: {weight: 1}
                """);

        assertThat(rules.attributes(ONE)).isEqualTo(ONE.attributes().withWeight(7));
        assertThat(rules.attributes(TWO)).isNull();
        assertThat(rules.attributes(GRAY)).isSameAs(GRAY.attributes());
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            addresses: ['10.9.0.1']                                           | true
            addresses: ['10.9.0.2']                                           | false
            applications: [web, shop]                                         | true
            applications: [shop]                                              | false
            match: {application: {oneof: [{exact: web}]}}                     | true
            match: {application: {oneof: [{exact: shop}]}}                    | false
            services: ['*']                                                   | true
            """)
    void configurationMayBeForSomeConsumersOnly(String scope, boolean applies) {
        Rules rules =
                rules(Rule.Kind.CONFIGURATORS, "configs: [{side: consumer, " + scope + ", parameters: {timeout: 5}}]");

        assertThat(rules.timeout("get") != null).isEqualTo(applies);
    }

    // ---- unsupported rules

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            CONFIGURATORS | configs: [{parameters: {retries: 3}}]                         | the parameter 'retries' is not understood
            CONFIGURATORS | configs: [{parameters: {timeout: soon}}]                      | expected a number from 1 to 86400000
            CONFIGURATORS | configs: [{parameters: {weight: -1}}]                         | weight' is -1
            CONFIGURATORS | configs: [{parameters: {loadbalance: mine}}]                  | the loadbalance 'mine' is not understood
            CONFIGURATORS | configs: [{providerAddresses: [a], parameters: {timeout: 5}}] | must apply to all providers
            CONFIGURATORS | configs: [{match: {param: []}, parameters: {timeout: 5}}]     | param' is not understood
            CONFIGURATORS | configs: [timeout]                                            | an element of 'configs' is not an object
            CONFIGURATORS | configs: {timeout: 3}                                         | configs' is not a list
            CONFIGURATORS | {configVersion: v9, configs: []}                              | configVersion v9 is not understood
            CONDITIONS    | conditions: ['arguments[0]=a => zone=a']                      | arguments[0]=a' is not understood
            CONDITIONS    | conditions: ['=> region=$region']                             | region=$region' is not understood
            CONDITIONS    | conditions: ['=> host=$host']                                 | host=$host' is not understood
            CONDITIONS    | conditions: ['host = a']                                      | has no '=>'
            CONDITIONS    | conditions: ['=> host = 10.*.3.*']                            | host = 10.*.3.*' is not understood
            CONFIGURATORS | configs: [{addresses: ['10.0.0.0/33'], parameters: {}}]       | the address '10.0.0.0/33' is not understood
            SCRIPTS       | script: 'function route() {}'                                 | Tern does not apply rules of this kind
            MESH          | 'apiVersion: service.dubbo.apache.org/v1alpha1'               | Tern does not apply rules of this kind
            CONDITIONS    | conditions: [{from: {match: ''}, to: [{match: a}, {match: b}]}] | 2 destinations
            TAGS          | tags: [{name: gray, match: [{key: env}]}]                     | match' is not understood
            TAGS          | tags: [{addresses: [a]}]                                      | a tag has no name
            TAGS          | just a text                                                   | the rule is not an object
            TAGS          | {enabled: maybe, tags: []}                                    | neither true nor false
            TAGS          | '{tags: ['                                                      | it is not YAML
            """)
    void errorNamesTheInvalidPartOfARule(Rule.Kind kind, String yaml, String reason) {
        assertThatThrownBy(() -> kind.parse(yaml, ORDERS))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining(reason);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "!!javax.script.ScriptEngineManager [!!java.net.URLClassLoader [[!!java.net.URL [\"http://127.0.0.1/\"]]]]",
                "tags: !!java.io.File [/tmp]",
                "a: &a [x]\nb: [*a, *a]\ntags: []",
                "tags: []\ntags: []",
                "[[[[[[[[[[[[[[[[[[[[[[[[a]]]]]]]]]]]]]]]]]]]]]]]]"
            })
    void hostileYamlIsRefusedWithoutLoadingAClass(String yaml) {
        assertThatThrownBy(() -> Rule.Kind.TAGS.parse(yaml, ORDERS)).isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void longRulesAreRefused() {
        String addresses = String.join(
                ",", IntStream.range(0, 1_001).mapToObj(i -> "a" + i).toList());
        assertThatThrownBy(() -> Rule.Kind.TAGS.parse("tags: [{name: t, addresses: [" + addresses + "]}]", ORDERS))
                .hasMessage("it has 1001 parts, more than 1000");
        String tags = "{name: t, addresses: [" + "a,".repeat(500) + "b]},".repeat(1);
        assertThatThrownBy(() -> Rule.Kind.TAGS.parse("tags: [" + tags + tags + "]", ORDERS))
                .hasMessage("it has 1002 parts, more than 1000");
        assertThatThrownBy(() -> Rule.Kind.TAGS.parse("# " + "x".repeat(70_000) + "\ntags: []", ORDERS))
                .isInstanceOf(IllegalArgumentException.class);
        String condition = "'=> host=a',";
        assertThatThrownBy(() -> Rule.Kind.CONDITIONS.parse("conditions: [" + condition.repeat(1_001) + "]", ORDERS))
                .hasMessage("it has 1001 parts, more than 1000");
        String values = "a,".repeat(8_000) + "b";
        assertThatThrownBy(() -> Rule.Kind.CONDITIONS.parse("conditions: ['=> host=" + values + "']", ORDERS))
                .hasMessage("it has 8001 values, more than 8000");
    }

    @Test
    void conditionMayHaveThousandsOfValues() {
        String values = "a,".repeat(7_999) + "b";

        assertThat(Rule.Kind.CONDITIONS.parse("conditions: ['=> host=" + values + "']", ORDERS))
                .isNotNull();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "  \n",
                "enabled: false\ntags: [{name: gray, addresses: [a]}]",
                "enabled: false\ntags: [{name: gray, match: [{key: env}]}]\nunknown: 1"
            })
    void emptyOrDisabledRuleIsNone(String yaml) {
        assertThat(rules(Rule.Kind.TAGS, yaml)).isSameAs(Rules.NONE);
    }

    @Test
    void equalTextsAreEqualRules() {
        assertThat(configs("timeout: 5")).isEqualTo(configs("timeout: 5")).isNotEqualTo(configs("timeout: 6"));
        assertThat(configs("timeout: 5")).hasToString("cap.Orders::.configurators");
    }

    // The following tests cover the addresses in rules.

    @Test
    void portsOfConsumersDoNotCount() {
        for (String address : List.of("0.0.0.0:*", "0.0.0.0:20880", "10.9.0.1:20880", "10.9.0.*", "10.9.0.0/16")) {
            Rules rules = rules(
                    Rule.Kind.CONFIGURATORS,
                    "configs: [{side: consumer, addresses: ['" + address + "'], parameters: {timeout: 5}}]");

            assertThat(rules.timeout("get")).as(address).isEqualTo(Duration.ofMillis(5));
        }
    }

    @Test
    void onePortOfAllHostsIsNotAllProviders() {
        Rules rules = rules(
                Rule.Kind.CONFIGURATORS,
                "configs: [{side: provider, addresses: ['0.0.0.0:20880'], parameters: {disabled: true}}]");

        assertThat(ALL)
                .filteredOn(provider -> rules.attributes(provider) == null)
                .containsExactly(ONE, GRAY);
    }

    // ---- tag precedence

    @Test
    void tagWithAddressesBelongsToTheseAddressesOnly() {
        Rules rules = rules(Rule.Kind.TAGS, "tags: [{name: gray, addresses: ['10.0.0.1']}]");

        assertThat(rules.tags(ONE)).containsExactly("gray");
        assertThat(rules.tags(GRAY)).isEmpty();
        assertThat(ALL).filteredOn(rules::takesCallsWithoutTag).containsExactly(TWO);
    }

    @Test
    void tagThatTheRuleDoesNotNameIsNoObstacleForCallsWithoutATag() {
        Rules rules = rules(Rule.Kind.TAGS, "tags: [{name: blue, addresses: ['10.0.0.1']}]");

        assertThat(rules.tags(GRAY)).containsExactly("gray");
        assertThat(ALL).filteredOn(rules::takesCallsWithoutTag).containsExactly(TWO, GRAY);
    }

    @Test
    void tagWithoutAddressesStaysWithTheProvidersThatPublishIt() {
        Rules rules = rules(Rule.Kind.TAGS, "tags: [{name: gray}]");

        assertThat(rules.tags(GRAY)).containsExactly("gray");
        assertThat(ALL).filteredOn(rules::takesCallsWithoutTag).containsExactly(ONE, TWO);
    }

    @Test
    void otherRulesLeaveTheTagsAlone() {
        Rules rules = configs("timeout: 5");

        assertThat(rules.tags(GRAY)).containsExactly("gray");
        assertThat(ALL).filteredOn(rules::takesCallsWithoutTag).containsExactly(ONE, TWO);
    }

    // ---- application rules

    private static Rules ofApplication(Rule.Kind kind, String configs) {
        Rule rule = kind.parse("scope: application\nkey: shop\nconfigs: [" + configs + "]", ORDERS);
        assertThat(rule).isNotNull();
        return of(Map.of(kind.key("shop"), rule.within(() -> Set.of(ONE.endpoint(), GRAY.endpoint()))), CONSUMER);
    }

    @Test
    void ruleOfACallersApplicationAppliesToItsSide() {
        Rules rules = ofApplication(
                Rule.Kind.CALLER_CONFIGURATORS,
                "{side: consumer, parameters: {timeout: 7}}, {side: provider, parameters: {accesslog: true}}");

        assertThat(rules.timeout("get")).isEqualTo(Duration.ofMillis(7));
    }

    @Test
    void ruleOfAProvidersApplicationAppliesToItsProviders() {
        Rules rules = ofApplication(
                Rule.Kind.PROVIDER_CONFIGURATORS,
                "{side: provider, parameters: {weight: 7}}, {side: consumer, parameters: {retries: 3}}");

        assertThat(ALL)
                .extracting(provider -> rules.attributes(provider).weight())
                .containsExactly(7, Attributes.DEFAULT_WEIGHT, 7);
    }

    @Test
    void ruleOfAnApplicationMayBeForSomeServices() {
        for (String services : List.of("['*']", "[cap.Orders]", "[cap.Other, cap.Orders]")) {
            assertThat(ofApplication(
                                    Rule.Kind.CALLER_CONFIGURATORS,
                                    "{services: " + services + ", parameters: {timeout: 7}}")
                            .timeout("get"))
                    .isNotNull();
        }
        assertThat(ofApplication(Rule.Kind.CALLER_CONFIGURATORS, "{services: [cap.Other], parameters: {timeout: 7}}")
                        .timeout("get"))
                .isNull();
    }

    @Test
    void parametersForTheProvidersThemselvesDoNotHideWeightAndDisabled() {
        Rules rules = ofApplication(
                Rule.Kind.PROVIDER_CONFIGURATORS,
                "{side: provider, parameters: {timeout: 7, accesslog: true, threads: 400, weight: 7}},"
                        + " {side: provider, addresses: ['10.0.0.3'], parameters: {loadbalance: x, disabled: true}}");

        assertThat(rules.attributes(ONE).weight()).isEqualTo(7);
        assertThat(rules.attributes(GRAY)).isNull();
        assertThat(rules.timeout("get")).isNull();
        assertThat(rules.loadBalancing()).isEmpty();
    }

    @Test
    void ruleOfTheServiceTakesPrecedenceOverRulesOfApplications() {
        Rule ofService = Rule.Kind.CONFIGURATORS.parse(
                "configs: [{side: provider, parameters: {timeout: 5, disabled: false, weight: 1}}]", ORDERS);
        Rule ofCaller = Rule.Kind.CALLER_CONFIGURATORS.parse(
                "configs: [{parameters: {timeout: 6, disabled: true, weight: 2, loadbalance: roundrobin}}]", ORDERS);
        Rules rules = of(Map.of("zap.configurators", ofCaller, "cap.Orders::.configurators", ofService), CONSUMER);

        assertThat(rules.timeout("get")).isEqualTo(Duration.ofMillis(5));
        assertThat(rules.attributes(ONE).weight()).isEqualTo(1);
        assertThat(rules.loadBalancing()).isEqualTo("round-robin");
        assertThat(rules).hasToString("zap.configurators, cap.Orders::.configurators");
    }

    @Test
    void callsOfAProviderAreLimitedByExecutes() {
        String yaml = """
                configVersion: v3.0
                configs:
                  - side: provider
                    addresses: ["10.0.0.1"]
                    parameters: {executes: 50, place.executes: 5, threads: 9}
                  - side: provider
                    addresses: ["0.0.0.0"]
                    parameters: {find.executes: 7, place.executes: 0}
                  - side: consumer
                    parameters: {timeout: 50}
                """;

        Rule rule = Rule.Kind.PROVIDER_CONFIGURATORS.parse(yaml, ORDERS);

        assertThat(rule).isNotNull();
        assertThat(rule.executes(ONE.endpoint(), "shop")).isEqualTo(Map.of("", 50, "find", 7, "place", 0));
        assertThat(rule.executes(TWO.endpoint(), "shop")).isEqualTo(Map.of("find", 7, "place", 0));
    }

    @Test
    void executesOfAProviderChangesNothingForConsumers() {
        Rules rules = rules(Rule.Kind.CONFIGURATORS, """
                configs:
                  - {side: provider, addresses: [0.0.0.0], parameters: {executes: 5, weight: 7}}
                """);

        assertThat(rules.attributes(ONE)).isEqualTo(ONE.attributes().withWeight(7));
        assertThatThrownBy(() -> rules(Rule.Kind.CONFIGURATORS, "configs: [{parameters: {executes: 5}}]"))
                .hasMessageContaining("the parameter 'executes' is not understood");
    }
}
