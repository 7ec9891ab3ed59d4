package tern.rpc.spring.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static tern.rpc.spring.autoconfigure.Applications.application;
import static tern.rpc.spring.autoconfigure.Applications.provider;

import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.env.YamlPropertySourceLoader;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.core.env.MapPropertySource;
import org.springframework.core.env.PropertySource;
import org.springframework.core.env.StandardEnvironment;
import org.springframework.core.env.SystemEnvironmentPropertySource;
import org.springframework.core.io.ByteArrayResource;
import org.yaml.snakeyaml.error.YAMLException;
import tern.rpc.settings.RpcStartException;
import tern.rpc.transport.Token;

/** Tests that startup fails if Spring would silently replace a value, and that no message contains a secret. */
class PropertyValueCheckTest {

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            rpc.server.token                          | ${ORDERS_TOKEN}
            rpc.server.token                          | secret,${ORDERS_TOKEN}
            rpc.server.token[1]                       | ${ORDERS_TOKEN}
            rpc.server.advertise.zone                 | ${ORDERS_TOKEN}
            rpc.server.port                           | ${ORDERS_TOKEN}
            rpc.client.token                          | secret-${ORDERS_TOKEN}
            rpc.client.url                            | ${ORDERS_TOKEN}:20880
            rpc.client.services.orders.token          | ${other:${ORDERS_TOKEN}}
            rpc.client.services.orders.group          | ${ORDERS_TOKEN}
            rpc.client.registries.east                | ${ORDERS_TOKEN}
            """)
    void placeholderWithoutPropertyStopsTheStart(String property, String value) {
        provider(Greeter.class)
                .withPropertyValues("rpc.server.token[0]=first", property + "=" + value)
                .run(there -> {
                    RpcStartException failure = StartFailures.causeOf(there.getStartupFailure());
                    assertThat(failure)
                            .hasMessage(
                                    property + " contains the placeholder ${ORDERS_TOKEN}, but there is no property or"
                                            + " environment variable ORDERS_TOKEN")
                            .hasMessageNotContaining("secret");
                    assertThat(failure.action())
                            .startsWith("Set ORDERS_TOKEN, or give the placeholder a default value");
                });
    }

    @ParameterizedTest
    @CsvSource({"1, 0", "2, 1"})
    void gapInAListIsExplainedWithoutTheValue(int index, int missing) {
        provider(Greeter.class)
                .withPropertyValues(
                        index == 2 ? "rpc.server.token[0]=first" : "x=y", "rpc.server.token[" + index + "]=secret")
                .run(there -> assertThat((Throwable) StartFailures.causeOf(there.getStartupFailure()))
                        .hasMessage("rpc.server.token[" + index + "] is set, but rpc.server.token[" + missing
                                + "] is not set in the same place"));
    }

    @Test
    void variablesMayNumberTheElementsOfAList() {
        withVariables(Map.of("RPC_SERVER_TOKEN_0", "red", "RPC_SERVER_TOKEN_1", "blue", "RPC_SERVER_PORT", "0"))
                .run(there -> assertThat(there.getBean(ServerSettings.class).tokens())
                        .containsExactly(Token.of("red"), Token.of("blue")));
    }

    @ParameterizedTest
    @CsvSource({
        "5\u00a0s, 'U+00A0 (NO-BREAK SPACE)', Delete the value",
        "5\u200bs, 'U+200B (ZERO WIDTH SPACE)', Delete the value",
        "C:\temp, 'U+0009 (CHARACTER TABULATION)', 'In a .properties file, a backslash'",
        "a\u0001b, 'U+0001 (START OF HEADING)', 'In a .properties file, a backslash'",
        "Z\ufffdrich, 'U+FFFD (REPLACEMENT CHARACTER)', Save the file in UTF-8."
    })
    void invisibleCharacterIsNamedWithoutTheValue(String value, String character, String action) {
        provider(Greeter.class)
                .withInitializer(context -> context.getEnvironment()
                        .getPropertySources()
                        .addFirst(new MapPropertySource("test", Map.of("rpc.client.zone", value))))
                .run(there -> {
                    RpcStartException failure = StartFailures.causeOf(there.getStartupFailure());
                    assertThat(failure)
                            .hasMessage("rpc.client.zone contains the character " + character
                                    + ", which is invisible or not a valid character");
                    assertThat(failure.action()).startsWith(action);
                });
    }

    @Test
    void elementsOfAListMayBeOnSeparateLines() {
        provider(Greeter.class)
                .withInitializer(context -> context.getEnvironment()
                        .getPropertySources()
                        .addFirst(new MapPropertySource("test", Map.of("rpc.server.token", "red,\n  blue\n"))))
                .run(there -> assertThat(there.getBean(ServerSettings.class).tokens())
                        .containsExactly(Token.of("red"), Token.of("blue")));
    }

    @Test
    void exampleWithQuotesInGettingStartedIsReadAndFailsWithoutThem() throws Exception {
        String page = Files.readString(Path.of("..", "docs", "getting-started.md"));
        int start = page.indexOf("```yaml\n", page.indexOf("## Values that YAML needs in quotes")) + 8;
        String example = page.substring(start, page.indexOf("```", start));

        PropertySource<?> read = yaml(example);

        assertThat(read.getProperty("rpc.client.url")).isEqualTo("[::1]:20880");
        assertThat(read.getProperty("rpc.server.allowed-hosts")).isEqualTo("*.shop.example");
        assertThat(read.getProperty("rpc.server.cors.allowed-origins")).isEqualTo("*");
        example.lines()
                .filter(line -> line.contains("\""))
                .forEach(line -> assertThatThrownBy(() -> yaml(example.replace(line, line.replace("\"", ""))))
                        .as(line)
                        .isInstanceOf(YAMLException.class));
    }

    @ParameterizedTest
    @ValueSource(strings = {"${secret.of.orders}", "${missing:${secret.of.orders}}", "${missing:geheim}"})
    void placeholderWithPropertyOrDefaultIsReplaced(String value) {
        provider(Greeter.class)
                .withPropertyValues("secret.of.orders=geheim", "rpc.server.token=" + value)
                .run(there ->
                        assertThat(there.getBean(ServerSettings.class).tokens()).containsExactly(Token.of("geheim")));
    }

    @ParameterizedTest
    @CsvSource({"\\${x}, ${x}", "a${b, a${b", "$5, $5"})
    void tokenMayContainTheCharactersOfAPlaceholder(String value, String token) {
        provider(Greeter.class)
                .withPropertyValues("rpc.server.token=" + value)
                .run(there ->
                        assertThat(there.getBean(ServerSettings.class).tokens()).containsExactly(Token.of(token)));
    }

    @Test
    void portOfTheWebServerInAnAddressIsExplained() {
        provider(Greeter.class)
                .withPropertyValues("rpc.client.url=localhost:${local.server.port}")
                .run(there -> {
                    RpcStartException failure = StartFailures.causeOf(there.getStartupFailure());
                    assertThat(failure)
                            .hasMessageStartingWith("rpc.client.url contains the placeholder ${local.server.port}, the"
                                    + " port of this application's web server");
                    assertThat(failure.action()).contains("set rpc.client.url to local");
                });
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "rpc.client.url=\"localhost:20880\"",
                "rpc.server.token='secret'",
                "rpc.client.services.orders.group=\"a\",\"b\"",
                "rpc.server.registry=\"\"",
            })
    void quotationMarksThatArePartOfAValueStopTheStart(String line) {
        assertRefused(line, " has quotation marks around its value, which are part of the value", "Remove the");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "rpc.server.port=20880 # the usual port",
                "rpc.client.url=localhost:20880 // for tests",
                "rpc.server.token=secret #1",
            })
    void commentThatIsPartOfAValueStopsTheStart(String line) {
        assertRefused(line, " has a comment after its value, which is part of the value", "Move the comment");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "rpc.server.token=$ORDERS_TOKEN",
                "rpc.server.token=$(ORDERS_TOKEN)",
                "rpc.client.token=%ORDERS_TOKEN%",
                "rpc.client.token=@orders.token@",
                "rpc.client.token={{ .Values.token }}",
                "rpc.client.services.orders.token=#{systemEnvironment['TOKEN']}",
                "rpc.client.url=$ORDERS_HOST:20880",
                "rpc.client.url=tri://{{ host }}:20880",
                "rpc.client.services.orders.version=@project.version@",
                "rpc.client.services.orders.group=#{environment.group}",
            })
    void placeholderOfAnotherToolStopsTheStart(String line) {
        assertRefused(
                line,
                " contains a placeholder or an expression in a form that Tern's properties do not support, such as"
                        + " $NAME, %NAME%, @name@, {{ name }} or #{name}",
                "For the value of a property or an environment variable, write ${NAME}.");
    }

    private static void assertRefused(String line, String problem, String action) {
        provider(Greeter.class).withPropertyValues(line).run(there -> {
            RpcStartException failure = StartFailures.causeOf(there.getStartupFailure());
            assertThat(failure).hasMessage(line.substring(0, line.indexOf('=')) + problem);
            assertThat(failure.action()).startsWith(action).doesNotContain("secret");
        });
    }

    @ParameterizedTest
    @ValueSource(strings = {"it's", "'", "a#b", "tri://orders", "x$AB_12", "$a", "%7B%", "a@b@c", "100%OK%"})
    void tokenMayContainTheCharactersOfQuotationMarksCommentsAndPlaceholders(String token) {
        provider(Greeter.class)
                .withPropertyValues("rpc.server.token=" + token)
                .run(there ->
                        assertThat(there.getBean(ServerSettings.class).tokens()).containsExactly(Token.of(token)));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "rpc.client.registries.far=zookeeper://far:2181?ssl=true&ssl.keyStore.password=$ECRET",
                "rpc.client.registries.far=zookeeper://far:2181?group=%E4%BD%A0",
            })
    void addressMayContainTheCharactersOfPlaceholders(String line) {
        provider(Greeter.class)
                .withPropertyValues(line)
                .run(there -> assertThat(there).hasNotFailed());
    }

    @Test
    void overriddenPlaceholderIsNotRead() {
        with(
                        provider(Greeter.class).withPropertyValues("rpc.server.token=ok"),
                        new MapPropertySource(
                                "defaults",
                                Map.of("rpc.server.token[0]", "${ORDERS_TOKEN}", "rpc.server.token[1]", "b")))
                .run(there ->
                        assertThat(there.getBean(ServerSettings.class).tokens()).containsExactly(Token.of("ok")));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "rpc.server.token: 12345",
                "rpc.server.token: [a, 012345]",
                "rpc.client.token: 1e3",
                "rpc.client.services.orders.token: yes"
            })
    void tokenWithoutQuotesInYamlStopsTheStart(String line) throws Exception {
        with(provider(Greeter.class), yaml(line)).run(there -> {
            RpcStartException failure = StartFailures.causeOf(there.getStartupFailure());
            assertThat(failure)
                    .hasMessageContaining("token")
                    .hasMessageContaining("is not a text but a ")
                    .hasMessageNotContaining("12345,");
            assertThat(failure.action()).isEqualTo("Put the token in quotes.");
        });
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            rpc.client.services.orders.version: 1.10             | number  | 1.10 | 1.1
            rpc.client.services.orders.group: on                 | boolean | on   | true
            rpc.client.services.orders.tag: 010                  | number  | 010  | 8
            rpc.client.services.orders.hash-key: No              | boolean | No   | false
            rpc.client.zone: 0x10                                | number  | 0x10 | 16
            rpc.client: {zone: 1_000, timeout: 5s}               | number  | 1_000 | 1000
            rpc.server.advertise.zone: 1e3  # the first one      | number  | 1e3  | 1000.0
            rpc.client.services.orders.provided-by: [shop, 010]  | number  | 010  | 8
            """)
    void textThatYamlChangesStopsTheStart(String line, String kind, String written, String read) throws Exception {
        with(provider(Greeter.class), yaml("spring.application.name: shop\n" + line))
                .run(there -> {
                    RpcStartException failure = StartFailures.causeOf(there.getStartupFailure());
                    assertThat(failure)
                            .hasMessageEndingWith(" is not a text but a " + kind
                                    + ", which differs from the text in the file: YAML reads " + written + " as "
                                    + read);
                    assertThat(failure.action()).isEqualTo("Put the value in quotes: '" + written + "'.");
                });
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            rpc.client.services.orders.version: 2           | 2
            rpc.client.services.orders.version: 1.5         | 1.5
            rpc.client.services.orders.version: "1.10"      | 1.10
            rpc.client.services.orders.version: 1.10.2      | 1.10.2
            rpc.client.services.orders: {version: true}     | true
            """)
    void textThatYamlKeepsIsAccepted(String line, String version) throws Exception {
        with(provider(Greeter.class), yaml(line))
                .run(there -> assertThat(
                                there.getBean(RpcClientProperties.class).services())
                        .extractingByKey("orders")
                        .extracting(RpcClientProperties.Service::version)
                        .isEqualTo(version));
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            rpc.client.timeout: 1:30       | rpc.client.timeout | 1:30    | 90
            rpc.client.heartbeat: 1:30:00  | rpc.client.heartbeat | 1:30:00 | 5400
            rpc.server.threads: 010        | rpc.server.threads | 010     | 8
            rpc.limits: {max-message: 0100} | rpc.limits.max-message | 0100 | 64
            """)
    void numberThatYamlReadsInAnotherBaseStopsTheStart(String line, String property, String written, String read)
            throws Exception {
        with(provider(Greeter.class), yaml(line)).run(there -> {
            RpcStartException failure = StartFailures.causeOf(there.getStartupFailure());
            assertThat(failure)
                    .hasMessage(property + " differs from the text in the file: YAML reads " + written + " as " + read);
            assertThat(failure.action())
                    .isEqualTo(
                            "Write a number without leading zeros and colons. A time needs a unit, such as 90s or 90m.");
        });
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"rpc.client.connect-timeout: 1_000", "rpc.server.threads: 0x10", "rpc.server.io-threads: 0"})
    void numberThatYamlReadsAsItIsMeantIsAccepted(String line) throws Exception {
        with(provider(Greeter.class), yaml(line)).run(there -> assertThat(there).hasNotFailed());
    }

    @Test
    void numberThatMayAlsoBeAKeywordIsAccepted() throws Exception {
        with(provider(Greeter.class), yaml("rpc.server.max-concurrency: 1_000"))
                .run(there -> assertThat(there).hasNotFailed());
    }

    @ParameterizedTest
    @CsvSource({
        "RPC_SERVER_PORT, rpc.server.port, rpc-server",
        "RPC_SERVER_ADVERTISE_PORT, rpc.server.advertise.port, rpc-server-advertise",
    })
    void portThatKubernetesSetsForAServiceStopsTheStart(String variable, String property, String service) {
        withVariables(Map.of(variable, "tcp://10.0.0.5:20880")).run(there -> {
            RpcStartException failure = StartFailures.causeOf(there.getStartupFailure());
            assertThat(failure)
                    .hasMessage(property + " is tcp://10.0.0.5:20880, because " + variable
                            + " comes from a Kubernetes Service named " + service);
            assertThat(failure.action())
                    .isEqualTo("Set enableServiceLinks: false in the specification of the pod, or rename the Service.");
        });
    }

    @Test
    void portThatKubernetesSetsMayBeOverridden() {
        withVariables(Map.of("RPC_SERVER_PORT", "tcp://10.0.0.5:20880"))
                .withPropertyValues("rpc.server.port=0")
                .run(there -> assertThat(there).hasNotFailed());
    }

    private static ApplicationContextRunner withVariables(Map<String, Object> variables) {
        return application(Greeter.class)
                .withInitializer(context -> context.getEnvironment()
                        .getPropertySources()
                        .replace(
                                StandardEnvironment.SYSTEM_ENVIRONMENT_PROPERTY_SOURCE_NAME,
                                new SystemEnvironmentPropertySource(
                                        StandardEnvironment.SYSTEM_ENVIRONMENT_PROPERTY_SOURCE_NAME, variables)));
    }

    @Test
    void quotedNumberInYamlIsAToken() throws Exception {
        with(provider(Greeter.class), yaml("rpc.server.token: ['012345', abc]"))
                .run(there -> assertThat(there.getBean(ServerSettings.class).tokens())
                        .containsExactly(Token.of("012345"), Token.of("abc")));
    }

    static PropertySource<?> yaml(String text) throws Exception {
        List<PropertySource<?>> sources = new YamlPropertySourceLoader()
                .load("application.yaml", new ByteArrayResource(text.getBytes(StandardCharsets.UTF_8)));
        return sources.get(0);
    }

    static ApplicationContextRunner with(ApplicationContextRunner runner, PropertySource<?> source) {
        return runner.withInitializer(
                context -> context.getEnvironment().getPropertySources().addLast(source));
    }
}
