package tern.rpc.spring.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static tern.rpc.spring.autoconfigure.Applications.application;
import static tern.rpc.spring.autoconfigure.Applications.provider;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import java.util.List;
import java.util.Locale;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.slf4j.LoggerFactory;
import org.springframework.boot.context.properties.source.ConfigurationPropertySources;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.boot.test.util.TestPropertyValues;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.env.StandardEnvironment;
import tern.rpc.client.RpcClient;
import tern.rpc.serialization.json.JsonCodec;
import tern.rpc.settings.RpcStartException;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.jsontype.BasicPolymorphicTypeValidator;

/** Tests the report about settings of the application's JsonMapper that do not apply to RPC. */
@ExtendWith(OutputCaptureExtension.class)
class FixedJsonSettingsTest {

    private static final Logger LOG = (Logger) LoggerFactory.getLogger(FixedJsonSettings.class);
    private static final String LINE = "its JSON has one format";

    @BeforeEach
    void logInfo() {
        LOG.setLevel(Level.INFO);
    }

    @AfterEach
    void logAsBefore() {
        LOG.setLevel(null);
    }

    private static List<String> ignored(String... properties) {
        StandardEnvironment environment = new StandardEnvironment();
        TestPropertyValues.of(properties).applyTo(environment);
        ConfigurationPropertySources.attach(environment);
        return FixedJsonSettings.ignored(environment);
    }

    @Test
    void everySwitchWithAnotherValueIsNamedInAnySpelling() {
        FixedJsonSettings.SWITCHES.forEach((name, fixed) -> {
            String property = "spring.jackson." + name;
            String constant = property.substring(0, property.lastIndexOf('.') + 1)
                    + name.substring(name.lastIndexOf('.') + 1)
                            .replace('-', '_')
                            .toUpperCase(Locale.ROOT);

            assertThat(ignored(property + "=" + !fixed)).containsExactly(property);
            assertThat(ignored(constant + "=" + !fixed)).containsExactly(property);
            assertThat(ignored(property + "=" + fixed)).isEmpty();
        });
        assertThat(ignored("spring.jackson.date-format=dd.MM.yyyy")).containsExactly("spring.jackson.date-format");
        assertThat(ignored("spring.jackson.property-naming-strategy=SNAKE_CASE", "spring.jackson.locale=de"))
                .isEmpty();
    }

    @Test
    void serverNamesThemOnceAndAnApplicationWithoutServerDoesNot(CapturedOutput output) {
        String property = "spring.jackson.serialization.indent-output=true";
        application().withPropertyValues(property).run(here -> assertThat(here).hasNotFailed());
        assertThat(output).doesNotContain(LINE);

        provider(Greeter.class)
                .withPropertyValues(property)
                .run(there -> assertThat(there).hasNotFailed());

        assertThat(output).containsOnlyOnce("RPC does not use spring.jackson.serialization.indent-output: " + LINE);
    }

    @Test
    void mapperWithDefaultTypingIsExplainedAtTheStartOfBothSides() {
        assertExplained(StartFailures.causeOf(failureOf(Greeter.class)));
        assertExplained(StartFailures.causeOf(failureOf(ClientUser.class)));
    }

    private static Throwable failureOf(Class<?> side) {
        Throwable[] failure = new Throwable[1];
        provider(TypedMapper.class, side)
                .withPropertyValues("rpc.client.url=127.0.0.1:1")
                .run(here -> failure[0] = here.getStartupFailure());
        return failure[0];
    }

    private static void assertExplained(RpcStartException failure) {
        assertThat(failure).hasMessageContaining("the JsonMapper has default typing active");
        assertThat(failure.action()).contains("@Bean JsonCodec");
    }

    @Test
    void jsonCodecOfTheApplicationReplacesTheMapperWithDefaultTyping() {
        provider(TypedMapper.class, OwnCodec.class, Greeter.class)
                .run(there -> assertThat(there).hasNotFailed());
    }

    static class ClientUser {
        ClientUser(RpcClient client) {}
    }

    @Configuration(proxyBeanMethods = false)
    static class TypedMapper {
        @Bean
        JsonMapper mapper() {
            return JsonMapper.builder()
                    .activateDefaultTyping(BasicPolymorphicTypeValidator.builder()
                            .allowIfBaseType(Object.class)
                            .build())
                    .build();
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class OwnCodec {
        @Bean
        JsonCodec rpcJson() {
            return new JsonCodec(JsonMapper.builder().build());
        }
    }
}
