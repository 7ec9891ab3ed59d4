package tern.rpc.spring.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static tern.rpc.spring.autoconfigure.Applications.provider;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.context.properties.source.ConfigurationPropertyName;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

/** Tests the messages for a value that is set for a group of properties, and for list indexes in place of names. */
@ExtendWith(OutputCaptureExtension.class)
class PropertyGroupsTest {

    private static final String GROUP = "is a group of properties and has no value itself; ";

    private static final PropertySuggestions SUGGESTIONS = new PropertySuggestions(new KnownProperties());

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
        rpc.server                           | 20880                  | did you mean rpc.server.port?
        rpc.server                           | false                  | did you mean rpc.server.enabled?
        rpc.server                           | 0.0.0.0                | the names below rpc.server are enabled, address, port,
        rpc.server.cors                      | *                      | did you mean rpc.server.cors.allowed-origins?
        rpc.server.cors                      | https://shop.example   | did you mean rpc.server.cors.allowed-origins?
        rpc.server.cors                      | true                   | the names below rpc.server.cors are allowed-origins,
        rpc.server.ssl                       | web                    | rpc.server.ssl.bundle names a bundle
        rpc.server.advertise                 | orders.example         | did you mean rpc.server.advertise.host?
        rpc.client                           | local                  | did you mean rpc.client.url?
        rpc.client                           | tri://orders:20880     | did you mean rpc.client.url?
        rpc.client                           | 500ms                  | did you mean rpc.client.timeout?
        rpc.client.ssl                       | true                   | rpc.client.ssl.bundle names a bundle
        rpc.client.registries                | zookeeper://a:2181     | as in rpc.client.registries.<name>
        rpc.client.services                  | orders:20880           | as in rpc.client.services.<name>.url
        rpc.client.services.orders           | localhost:20880        | did you mean rpc.client.services.orders.url?
        rpc.client.services.orders           | tri://o:1?weight=50    | did you mean rpc.client.services.orders.url?
        rpc.client.services.orders           | [::1]:20880            | did you mean rpc.client.services.orders.url?
        rpc.client.services.orders           | 5s                     | did you mean rpc.client.services.orders.timeout?
        rpc.client.services.orders           | true                   | the names below rpc.client.services.orders are url, group
        rpc.client.services.orders.ssl       | web                    | did you mean rpc.client.services.orders.ssl.bundle?
        rpc.client.services.orders.methods   | place                  | as in rpc.client.services.orders.methods.<method>.timeout
        rpc.client.services.o.methods.place  | 1s                     | did you mean rpc.client.services.o.methods.place.timeout?
        rpc.client.services.timeout          | 1s                     | mean rpc.client.timeout or rpc.client.services.<name>.timeout?
        rpc.client.services.group            | blue                   | did you mean rpc.client.services.<name>.group?
        rpc.limits                           | 16MB                   | did you mean rpc.limits.max-message?
        rpc.slo                              | 100ms                  | did you mean rpc.slo.latency?
        rpc.slo                              | 100                    | the names below rpc.slo are qps, latency
        rpc.client                           | timeout:5s             | a space follows the colon: write 'timeout: 5s'
        rpc.client.services.orders           | url:localhost:20880    | write 'url: localhost:20880'
        rpc.pools                            | false                  | did you mean rpc.pools.tuned?
        rpc.pools.http                       | 50                     | did you mean rpc.pools.http.max-total?
        rpc.pools.jedis                      | redis://host:6379      | did you mean rpc.pools.jedis.url?
        rpc.pools.executors                  | 8                      | as in rpc.pools.executors.<name>.threads
        rpc.pools.executors.mail             | 8                      | did you mean rpc.pools.executors.mail.threads?
        """)
    void valueOfAGroupIsAnsweredWithTheProperty(String name, String value, String advice) {
        assertThat(problem(name, value)).startsWith(GROUP).contains(advice);
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
        rpc.client.services[0].url               | write a name instead of the number, as in rpc.client.services.<name>.url
        rpc.client.services[1].url[0]            | write a name instead of the number, as in rpc.client.services.<name>.url
        rpc.client.services[0].name              | write a name instead of the number, as in rpc.client.services.<name>.url
        rpc.client.services[0]                   | write a name instead of the number, as in rpc.client.services.<name>.url
        rpc.client.services.o.methods[0].timeout | as in rpc.client.services.o.methods.<method>.timeout
        rpc.client.registries[0]                 | as in rpc.client.registries.<name>
        rpc.pools.executors[0].threads           | as in rpc.pools.executors.<name>.threads
        rpc.server[0].port                       | leave out the number, as in rpc.server.port
        """)
    void listInPlaceOfNamesIsAnsweredWithAName(String name, String advice) {
        assertThat(problem(name, "x")).contains(" is not a list; ").endsWith(advice);
    }

    @ParameterizedTest
    @ValueSource(strings = {"rpc.server.token[0]", "rpc.server.registry", "rpc.client.services.orders.url[1]"})
    void propertyIsNoGroup(String name) {
        assertThat(new KnownProperties().contains(ConfigurationPropertyName.of(name)))
                .isTrue();
        assertThat(problem(name, "x")).startsWith("does not exist; ");
    }

    @Test
    void valueOfAGroupStopsTheStart() throws Exception {
        with("""
            rpc:
              server: 20880
            """)
                .run(there -> assertThat(StartFailures.causeOf(there.getStartupFailure()))
                        .hasMessageMatching("property rpc.server \\(set in .*2:11\\) " + GROUP
                                + "did you mean rpc.server.port\\?"));
    }

    @Test
    void emptyPrefixIsIgnoredAndAnEmptyGroupIsExplained() throws Exception {
        with("""
            rpc:
              server:
            """).run(there -> assertThat(there).hasNotFailed());
        with("""
            rpc:
              client:
                services:
            """)
                .run(there -> assertThat(StartFailures.causeOf(there.getStartupFailure()))
                        .hasMessageContaining("rpc.client.services")
                        .hasMessageContaining("is a group of properties, but no property is below it"));
    }

    @ParameterizedTest
    @ValueSource(strings = {"rpc.client.services: {}", "rpc: {client: {services: {}, url: local}, limits: {}}"})
    void emptyMapOfYamlIsAccepted(String yaml) throws Exception {
        with(yaml).run(there -> assertThat(there).hasNotFailed());
    }

    @Test
    void valueOfTheCommonPrefixCausesAWarning(CapturedOutput output) {
        provider(Greeter.class)
                .withPropertyValues("rpc=20880")
                .run(there -> assertThat(there).hasNotFailed());

        assertThat(output).contains("Some properties below rpc. are not Tern's").containsPattern("The others: rpc\\b");
    }

    private static ApplicationContextRunner with(String yaml) throws Exception {
        return PropertyValueCheckTest.with(provider(Greeter.class), PropertyValueCheckTest.yaml(yaml));
    }

    private static String problem(String name, String value) {
        return SUGGESTIONS.problem(ConfigurationPropertyName.of(name), value);
    }
}
