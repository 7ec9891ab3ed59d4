package tern.rpc.spring.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.aggregator.ArgumentsAccessor;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.context.properties.source.ConfigurationPropertyName;
import tern.rpc.TypingErrors;

/**
 * Tests the suggestions for property names that people guess. A suggested property must have the meaning that the
 * guessed name suggests.
 */
class PropertySuggestionsTest {

    /** Words that people expect as the last element of a property. */
    private static final List<String> GUESSES = List.of(
            ("enabled host port address addresses url urls protocol timeout read-timeout connect-timeout threads"
                            + " max-threads workers queue queue-size max-queue-size retries max-connections"
                            + " max-message-size name type mode level path token secret ssl tls keep-alive zone tag"
                            + " weight version group check idempotent one-way hedging fallback mock interface async"
                            + " compression registry metrics tracing health reflection cors allowed-methods size rate target"
                            + " load-balancer executor virtual-threads shutdown bundle")
                    .split(" "));

    private static final KnownProperties KNOWN = new KnownProperties();
    private static final PropertySuggestions SUGGESTIONS = new PropertySuggestions(KNOWN);

    @ParameterizedTest
    @ValueSource(
            strings = {
                "rpc.server.health.enabled | the switch is rpc.server.health itself: rpc.server.health=false",
                "rpc.server.reflection.enabled | the switch is rpc.server.reflection itself",
                "rpc.server.generic-calls.enabled | the switch is rpc.server.generic-calls itself",
                "rpc.diagnosis.flight-recorder.enabled | the switch is rpc.diagnosis.flight-recorder itself",
                "rpc.server.cors.enabled | rpc.server.cors.allowed-origins",
                "rpc.server.metrics.enabled | MeterRegistry",
                "rpc.server.tracing.enabled | management.tracing",
                "rpc.server.registry.enabled | without rpc.server.registry nothing is registered",
                "rpc.server.compression.enabled | ServerContext.compressResponse",
                "rpc.pools.enabled | rpc.pools.tuned",
                "rpc.console.enabled | management.endpoint.rpc-console.access=none",
                "rpc.client.enabled | there is no switch for clients",
                "rpc.client.services.greeting-service.enabled | there is no switch for a reference",
                "rpc.client.address | rpc.client.url=localhost:20880",
                "rpc.client.addresses | rpc.client.url=localhost:20880",
                "rpc.client.host | rpc.client.url=localhost:20880",
                "rpc.client.port | rpc.client.url=localhost:20880",
                "rpc.client.server | rpc.client.url=localhost:20880",
                "rpc.client.target | rpc.client.url=localhost:20880",
                "rpc.client.call-timeout | rpc.client.timeout",
                "rpc.client.read-timeout | rpc.client.timeout",
                "rpc.client.threads | clients have no worker threads",
                "rpc.client.max-queue-wait | clients have no such setting",
                "rpc.client.hedging | did you mean rpc.client.services.<name>.hedging?",
                "rpc.client.idempotent | did you mean rpc.client.services.<name>.methods.<method>.idempotent?",
                "rpc.client.greeting-service.url | did you mean rpc.client.services.greeting-service.url?",
                "rpc.client.greeting-service.timeout | did you mean rpc.client.services.greeting-service.timeout?",
                "rpc.client.references.greeting-service.url | did you mean rpc.client.services.greeting-service.url?",
                "rpc.client.methods.greet.timeout | did you mean rpc.client.services.<name>.methods.greet.timeout?",
                "rpc.client.registry.address | the value belongs to rpc.client.registry itself",
                "rpc.client.services.x.protocol | rpc.client.services.x.url=tri://localhost:20880",
                "rpc.client.services.x.addresses | rpc.client.services.x.url=localhost:20880",
                "rpc.client.services.x.interface | @RpcReference",
                "rpc.client.services.x.fallback | @RpcFallback",
                "rpc.client.services.x.zone | rpc.client.zone applies to all",
                "rpc.client.services.x.connect-timeout | rpc.client.connect-timeout applies to all",
                "rpc.client.services.x.idempotent | did you mean rpc.client.services.x.methods.<method>.idempotent?",
                "rpc.client.services.x.one-way | did you mean rpc.client.services.x.methods.<method>.one-way?",
                "rpc.client.services.greeting-service.greet.timeout |"
                        + " did you mean rpc.client.services.greeting-service.methods.greet.timeout?",
                "rpc.server.registry.address | the value belongs to rpc.server.registry itself",
                "rpc.server.registry.session | rpc.server.registry=zookeeper://host:2181?session=30000",
                "rpc.client.registries.main.group | rpc.client.registries.main=zookeeper://host:2181?group=",
                "rpc.server.advertise.ip | rpc.server.advertise.host",
                "rpc.server.advertise.address | rpc.server.advertise.host",
                "rpc.server.max-threads | rpc.server.threads",
                "rpc.server.worker-threads | rpc.server.threads",
                "rpc.server.workers | rpc.server.threads",
                "rpc.server.max-queue-size | rpc.server.queue-capacity",
                "rpc.server.queue-size | rpc.server.queue-capacity",
                "rpc.server.bind-address | rpc.server.address",
                "rpc.server.context-path | there is no prefix",
                "rpc.server.virtual-threads | spring.threads.virtual.enabled",
                "rpc.server.max-message-size | rpc.limits.max-message",
                "rpc.server.max-request | did you mean rpc.limits.max-request?",
                "rpc.server.cors.allowed-methods | all methods are allowed",
                "rpc.server.cors.exposed-headers | all headers",
                "rpc.server.methods.greet.max-concurrency |"
                        + " did you mean rpc.server.services.<name>.methods.greet.max-concurrency?",
                "rpc.server.greeting-service.timeout | did you mean rpc.client.services.greeting-service.timeout?",
                "rpc.limits.max-message-size | rpc.limits.max-message",
                "rpc.slo.p99 | rpc.slo.latency",
                "rpc.slo.rate | rpc.slo.qps",
                "rpc.pools.hikari.maximum-pool-size | spring.datasource.hikari",
                "rpc.pools.druid.max-active | spring.datasource.druid.max-active",
                "rpc.pools.druid | spring.datasource.druid.max-active",
                "rpc.pools.lettuce.max-active | spring.data.redis",
                "rpc.pools.executors.mail.core-size | rpc.pools.executors.mail.threads",
                "rpc.server.queue-depth | below rpc.server, these names contain 'queue': max-queue-wait,"
                        + " queue-capacity;",
                "rpc.server.queue-depth | docs/properties.md",
                "rpc.slo.budget | the names below rpc.slo are qps, latency;",
                "rpc.server.client-auth | did you mean rpc.server.ssl.client-auth?",
                "rpc.server.allowed-origins | did you mean rpc.server.cors.allowed-origins?",
                "rpc.server.http.cors.allowed-origins | did you mean rpc.server.cors.allowed-origins?",
                "rpc.client.bundle | did you mean rpc.client.ssl.bundle?",
                "rpc.client.services.x.bundle | did you mean rpc.client.services.x.ssl.bundle?",
                "rpc.client.services.x.name | @RpcReference",
                "rpc.client.headers.x-tenant | ClientFilter",
                "rpc.diagnosis.enabled | rpc.server.ledger=false",
                "rpc.logging.slow-calls | rpc.slo.latency",
                "rpc.client.services.greeting-service.headers | CallOptions",
                "rpc.client.insecure | rpc.client.ssl.bundle",
                "rpc.client.use-plaintext | calls use TLS only if",
                "rpc.client.compression | ServerContext.compressResponse",
                "rpc.client.services.greeting-service.username | rpc.client.services.greeting-service.token",
                "rpc.client.retires | @RpcMethod(idempotent = true)",
                "rpc.client.reed-timeout | the time of a call is rpc.client.timeout",
                "rpc.server.max-threds | rpc.server.threads sets",
                "rpc.client.proxy | not through a proxy",
                "rpc.client.proxy.host | not through a proxy",
                "rpc.client.ssl.trust-all | trust store of the bundle that rpc.client.ssl.bundle names",
                "rpc.client.services.x.ssl.verify-hostname | rpc.client.services.x.ssl.bundle names",
                "rpc.client.circuit-breaker.enabled | docs/cluster.md",
                "rpc.server.https-port | all protocols are served on rpc.server.port",
                "rpc.server.access-log | docs/filters.md",
                "rpc.server.base-packages | @ComponentScan",
                "rpc.server.queue-timeout | rpc.server.max-queue-wait",
                "rpc.client.default.timeout | did you mean rpc.client.timeout?",
                "rpc.client.retry.max-attempts | a call is repeated only if",
                "rpc.client.services.x.retry.max-attempts | a call is repeated only if",
                "rpc.client.tls.bundle | rpc.client.ssl.bundle names a bundle",
                "rpc.server.tls.enabled | rpc.server.ssl.bundle names a bundle",
                "rpc.server.thread-pool.core-size | rpc.server.threads",
                "rpc.server.auth.token | rpc.server.token sets the accepted tokens",
                "rpc.client.load-balancer.policy | rpc.client.load-balancing",
                "rpc.server.threads.max | the value belongs to rpc.server.threads itself",
                "rpc.client.timeout.read | rpc.client.services.<name>.timeout",
                "rpc.client.url.orders | rpc.client.services.<name>.url",
                "rpc.client.url.host | rpc.client.url=localhost:20880",
                "rpc.client.providers.orders | rpc.client.services.<name>.url",
                "rpc.server.port.http | the value belongs to rpc.server.port itself",
                "rpc.client.config.orders.url | did you mean rpc.client.services.orders.url?",
                "rpc.client.services.x.methods.greet.name | the name of the method",
            })
    void guessIsAnsweredByItsMeaning(String row) {
        String[] parts = row.split(" \\| ");

        String advice = about(parts[0]);

        for (String expected :
                parts[1].contains("these names contain") ? parts[1].split("[:,;] ?") : new String[] {parts[1]}) {
            assertThat(advice).contains(expected);
        }
    }

    /**
     * A Dubbo option can have a different meaning under each prefix. Each cell of the table contains the part of the
     * message that names Tern's setting. A minus sign means that Tern has no such setting. In this case, the message
     * refers to the list of all properties. An empty cell means that Tern has a property with this name.
     */
    @ParameterizedTest
    @CsvSource(delimiter = '|', useHeadersInDisplayName = true, textBlock = """
            option      | rpc.client                           | rpc.client.services.x  | rpc.server                   | rpc.client.registry        | rpc.server.registry        | rpc.limits
            group       | rpc.client.services.<name>.group     |                        | @RpcService(group            | rpc.client.registry=zookeeper://host:2181?group= | rpc.server.registry=zookeeper://host:2181?group= | -
            version     | rpc.client.services.<name>.version   |                        | @RpcService(version          | address of a registry      | address of a registry      | -
            check       | rpc.client.services.<name>.check     |                        | -                            | no setting is needed       | no setting is needed       | -
            weight      | rpc.client.url=host:port?weight      | x.url=host:port?weight | @RpcService(weight           | address of a registry      | address of a registry      | -
            tag         | rpc.client.services.<name>.tag       |                        | rpc.server.advertise.tag     | address of a registry      | address of a registry      | -
            connections | rpc.client.services.<name>.connections |                      | rpc.limits.max-connections   | address of a registry      | address of a registry      | rpc.limits.max-connections
            accepts     | -                                    | -                      | rpc.limits.max-connections   | address of a registry      | address of a registry      | rpc.limits.max-connections
            protocol    | rpc.client.url=tri://                | x.url=tri://           | rpc.server.port              | rpc.client.registry=zookeeper:// | rpc.server.registry=zookeeper:// | -
            timeout     |                                      |                        | rpc.client.timeout           | ?timeout=3000              | ?timeout=3000              | rpc.client.timeout
            username    | rpc.client.token                     | rpc.client.services.x.token | -                        | user:password@             | user:password@             | -
            password    | rpc.client.token                     | -                      | rpc.server.token             | user:password@             | user:password@             | -
            retries     | idempotent                           | idempotent             | idempotent                   | address of a registry      | address of a registry      | -
            loadbalance | rpc.client.load-balancing            | rpc.client.load-balancing | rpc.client.load-balancing | address of a registry      | address of a registry      | -
            executes    | -                                    | -                      | rpc.server.max-concurrency   | address of a registry      | address of a registry      | -
            payload     | rpc.limits.max-message               | rpc.limits.max-message | rpc.limits.max-message       | address of a registry      | address of a registry      | rpc.limits.max-message
            """)
    void optionOfDubboIsAnsweredByItsMeaningInItsPlace(ArgumentsAccessor row) {
        List<String> places = List.of(
                "rpc.client",
                "rpc.client.services.x",
                "rpc.server",
                "rpc.client.registry",
                "rpc.server.registry",
                "rpc.limits");
        for (int i = 0; i < places.size(); i++) {
            String name = places.get(i) + "." + row.getString(0);
            String expected = row.getString(i + 1);
            if (expected == null) {
                assertThat(isProperty(name)).as(name).isTrue();
            } else if (expected.equals("-")) {
                assertThat(about(name)).as(name).contains("docs/properties.md lists all properties");
            } else {
                assertThat(about(name)).as(name).contains(expected);
            }
        }
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', nullValues = "-", textBlock = """
            rpc.port                | did you mean rpc.server.port?
            rpc.url                 | did you mean rpc.client.url?
            rpc.timeout             | did you mean rpc.client.timeout?
            rpc.token               | did you mean rpc.server.token or rpc.client.token?
            rpc.ssl.bundle          | did you mean rpc.server.ssl.bundle or rpc.client.ssl.bundle?
            rpc.max-message         | did you mean rpc.limits.max-message?
            rpc.services.orders.url | did you mean rpc.client.services.orders.url?
            rpc.sever.port          | did you mean rpc.server.port?
            rpc.clients.orders.url  | did you mean rpc.client.services.orders.url?
            rpc.rpc.client.url      | did you mean rpc.client.url?
            rpc.server-port         | did you mean rpc.server.port?
            rpc.gateway.url         | -
            rpc.orders              | -
            """)
    void propertyWithoutAPrefixOfTernIsAnsweredWithTheMissingLevel(String name, String advice) {
        assertThat(SUGGESTIONS.aboutOther(ConfigurationPropertyName.of(name))).isEqualTo(advice);
    }

    @Test
    void settingOfARegistryIsNeverASettingOfAService() {
        for (String place : List.of("rpc.client.registry", "rpc.client.registries.main", "rpc.server.registry")) {
            for (String guess : GUESSES) {
                String name = place + "." + guess;
                assertThat(isProperty(name) ? "" : about(name)).as(name).doesNotContain("services", "@Rpc");
            }
        }
    }

    @Test
    void everyPropertyNamedInTheTableOfIntentsExists() {
        Pattern property = Pattern.compile("(?<![\\w-])rpc\\.(?!client\\.services selects)[a-z.<>-]*[a-z>]");
        List<String> unknown = new ArrayList<>();
        for (PropertyIntents.Intent intent : intents()) {
            for (List<String> scope : intent.scopes()) {
                String advice = intent.advice()
                        .replace("{parent}", String.join(".", scope).replace("*", "x"));
                Matcher named = property.matcher(advice.replaceAll("<[a-z]+>", "x"));
                while (named.find()) {
                    String name = named.group();
                    if (!isProperty(name) && !name.equals("rpc.client.services")) {
                        unknown.add(name);
                    }
                }
            }
        }
        assertThat(unknown).isEmpty();
    }

    @Test
    void noIntentIsTheNameOfAProperty() {
        List<String> known = KNOWN.names().stream()
                .filter(name -> PropertyIntents.adviceFor(
                                intents(), List.of(name.replace("*", "x").split("\\.")))
                        != null)
                .toList();

        assertThat(known).isEmpty();
    }

    @Test
    void everyGuessInEveryPlaceIsAnsweredWithAPropertyOfThatMeaning() {
        List<String> wrong = new ArrayList<>();
        for (String place : places()) {
            for (String guess : GUESSES) {
                String name = place + "." + guess;
                String advice = isProperty(name) ? "" : about(name);
                Matcher suggested = Pattern.compile("did you mean (\\S+)\\?").matcher(advice);
                if (suggested.find() && !means(suggested.group(1), guess)) {
                    wrong.add(name + ": " + advice);
                }
                assertThat(advice)
                        .as(name)
                        .doesNotContain("null")
                        .doesNotContain("{")
                        .doesNotContain("*");
            }
        }
        assertThat(wrong).isEmpty();
    }

    /**
     * Returns true if the property exists and its last element differs from the guessed one by at most two typing
     * errors.
     */
    private static boolean means(String suggested, String guess) {
        String leaf = suggested.substring(suggested.lastIndexOf('.') + 1);
        return isProperty(suggested.replaceAll("[<>]", ""))
                && TypingErrors.between(leaf, guess) <= 2
                && (!leaf.equals("enabled") || suggested.equals("rpc.server.enabled"));
    }

    @Test
    void switchOfTheServerIsNeverSuggestedForAnotherSwitch() {
        assertThat(places())
                .filteredOn(place -> !place.equals("rpc.server") && !place.equals("rpc.server.enabled"))
                .allSatisfy(place -> assertThat(about(place + ".enabled")).doesNotContain("rpc.server.enabled"));
    }

    @Test
    void everyMissingLetterIsFound() {
        List<String> missed = new ArrayList<>();
        for (String name : KNOWN.names()) {
            String right = name.replace("*", "x");
            int start = right.lastIndexOf('.') + 1;
            for (int i = start; right.length() - start > 3 && !name.endsWith("*") && i < right.length(); i++) {
                String wrong = right.substring(0, i) + right.substring(i + 1);
                boolean isAnother = wrong.endsWith("-")
                        || wrong.contains(".-")
                        || isProperty(wrong)
                        || PropertyIntents.adviceFor(Arrays.asList(wrong.split("\\."))) != null;
                if (!isAnother && !about(wrong).equals("did you mean " + right + "?")) {
                    missed.add(wrong + ": " + about(wrong));
                }
            }
        }
        assertThat(missed).isEmpty();
    }

    @Test
    void neighbouringLettersInTheWrongOrderAreOneTypingError() {
        assertThat(TypingErrors.between("port", "prot")).isEqualTo(1);
        assertThat(TypingErrors.between("timeout", "tiemout")).isEqualTo(1);
        assertThat(TypingErrors.between("host", "port")).isEqualTo(2);
        assertThat(TypingErrors.between("", "abc")).isEqualTo(3);
        assertThat(TypingErrors.between("allowed-class", "allowed-classes")).isEqualTo(2);
    }

    private static List<PropertyIntents.Intent> intents() {
        return Stream.of(PropertyIntents.ALL, DubboOptions.ALL)
                .flatMap(List::stream)
                .toList();
    }

    private static TreeSet<String> places() {
        TreeSet<String> places = new TreeSet<>();
        for (String name : KNOWN.names()) {
            String path = name.replace("*", "x");
            for (int dot = path.indexOf('.', 4); dot > 0; dot = path.indexOf('.', dot + 1)) {
                places.add(path.substring(0, dot));
            }
            places.add(path);
        }
        Stream.of("rpc.client.orders", "rpc.server.orders", "rpc.client.services.x.greet", "rpc.server.metrics")
                .forEach(places::add);
        return places;
    }

    private static boolean isProperty(String name) {
        return KNOWN.contains(ConfigurationPropertyName.of(name));
    }

    private static String about(String name) {
        return SUGGESTIONS.about(ConfigurationPropertyName.adapt(name, '.'), "false");
    }
}
