package tern.rpc.spring.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static tern.rpc.spring.autoconfigure.Applications.application;
import static tern.rpc.spring.autoconfigure.Applications.provider;

import java.net.InetAddress;
import java.net.ServerSocket;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.context.PropertyPlaceholderAutoConfiguration;
import tern.rpc.RpcMethod;
import tern.rpc.settings.RpcStartException;
import tern.rpc.spring.RpcReference;
import tern.rpc.spring.RpcService;

/** Tests the startup errors for annotation placeholders that match no property. */
class PlaceholdersTest {

    /** Configures placeholders as Spring Boot does, so that an unknown placeholder is an error. */
    private static final AutoConfigurations STRICT = AutoConfigurations.of(PropertyPlaceholderAutoConfiguration.class);

    static class Url {
        @RpcReference(url = "${addrr}")
        GreetingService greetings;
    }

    static class Group {
        @RpcReference(group = "g-${gruop}")
        GreetingService greetings;
    }

    static class Version {
        @RpcReference(version = "${versoin}")
        GreetingService greetings;
    }

    static class Timeout {
        @RpcReference(timeout = "${tiemout}")
        GreetingService greetings;
    }

    @ParameterizedTest
    @CsvSource({
        "Url, url, ${addrr}, addrr",
        "Group, group, g-${gruop}, gruop",
        "Version, version, ${versoin}, versoin",
        "Timeout, timeout, ${tiemout}, tiemout"
    })
    void fieldAttributeAndPlaceholderAreNamed(String user, String attribute, String text, String placeholder)
            throws ClassNotFoundException {
        Class<?> type = Class.forName(PlaceholdersTest.class.getName() + "$" + user);

        application(type)
                .withConfiguration(STRICT)
                .withPropertyValues("rpc.client.url=127.0.0.1:1")
                .run(here -> {
                    RpcStartException failure = StartFailures.causeOf(here.getStartupFailure());
                    assertThat(failure)
                            .hasMessage("@RpcReference(" + attribute + ") at " + type.getName() + ".greetings is '"
                                    + text + "', but there is no property " + placeholder);
                    assertThat(failure.action())
                            .isEqualTo("Set the property " + placeholder
                                    + ", or give the placeholder a default value: ${" + placeholder + ":…}.");
                });
    }

    @Test
    void listOfYamlIsExplained() {
        application(Url.class)
                .withConfiguration(STRICT)
                .withPropertyValues("addrr[0]=a:1", "addrr[1]=b:1")
                .run(here -> {
                    RpcStartException failure = StartFailures.causeOf(here.getStartupFailure());
                    assertThat(failure)
                            .hasMessageEndingWith("but the property addrr is a list, which a placeholder cannot read");
                    assertThat(failure.action()).contains("as one text with commas");
                });
    }

    interface Slow {
        @RpcMethod(timeout = "${slow.limit:50}")
        String wait(String text);
    }

    static class SlowUser {
        @RpcReference
        Slow slow;
    }

    @ParameterizedTest
    @CsvSource({
        "none=1, 50 ms (@RpcMethod(timeout) of Slow/wait)",
        "slow.limit=40ms, 40 ms (@RpcMethod(timeout) of Slow/wait)",
        "rpc.client.services.slow.timeout=30ms, 30 ms (rpc.client.services.slow.timeout)",
        "rpc.client.services.slow.methods.wait.timeout=20ms, 20 ms (rpc.client.services.slow.methods.wait.timeout)"
    })
    void timeoutOfAMethodMayContainPlaceholders(String property, String limit) throws Exception {
        try (ServerSocket silent = new ServerSocket(0, 8, InetAddress.getLoopbackAddress())) {
            application(SlowUser.class)
                    .withConfiguration(STRICT)
                    .withPropertyValues("rpc.client.url=127.0.0.1:" + silent.getLocalPort(), property)
                    .run(here -> assertThatThrownBy(
                                    () -> here.getBean(SlowUser.class).slow.wait("x"))
                            .hasMessageContaining("within " + limit));
        }
    }

    interface Lost {
        @RpcMethod(timeout = "${lsot}")
        String wait(String text);
    }

    static class LostUser {
        @RpcReference
        Lost lost;
    }

    @Test
    void placeholderOfAMethodWithoutPropertyIsNamed() {
        application(LostUser.class)
                .withConfiguration(STRICT)
                .withPropertyValues("rpc.client.url=127.0.0.1:1")
                .run(here -> assertThat(StartFailures.causeOf(here.getStartupFailure()))
                        .hasMessage("@RpcMethod(timeout) of the interface at " + LostUser.class.getName()
                                + ".lost is '${lsot}', but there is no property lsot"));
    }

    @RpcService(version = "${nover}")
    static class Versioned implements GreetingService {
        @Override
        public String greet(String name) {
            return name;
        }
    }

    @Test
    void classAttributeAndPlaceholderAreNamed() {
        provider(Versioned.class)
                .withConfiguration(STRICT)
                .run(there -> assertThat(StartFailures.causeOf(there.getStartupFailure()))
                        .hasMessageStartingWith("@RpcService(version) of bean '")
                        .hasMessageEndingWith(
                                " of " + Versioned.class.getName() + " is '${nover}', but there is no property nover"));
    }

    static class Bare {
        @RpcReference(url = "greeting.url")
        GreetingService greetings;
    }

    @Test
    void nameOfAPropertyWithoutAPlaceholderStopsTheStart() {
        application(Bare.class).withPropertyValues("greeting.url=127.0.0.1:1").run(here -> {
            RpcStartException failure = StartFailures.causeOf(here.getStartupFailure());
            assertThat(failure)
                    .hasMessage("@RpcReference(url) at " + Bare.class.getName()
                            + ".greetings is 'greeting.url', which is the name of a property, and not its value");
            assertThat(failure.action()).isEqualTo("Write ${greeting.url} to use the value of the property.");
        });
        application(Bare.class).run(here -> assertThat(here).hasNotFailed());
    }

    @RpcService(version = "#{'1.' + 0}")
    static class Computed implements GreetingService {
        @Override
        public String greet(String name) {
            return name;
        }
    }

    @Test
    void expressionStopsTheStart() {
        provider(Computed.class).withConfiguration(STRICT).run(there -> {
            RpcStartException failure = StartFailures.causeOf(there.getStartupFailure());
            assertThat(failure)
                    .hasMessageStartingWith("@RpcService(version) of bean '")
                    .hasMessageEndingWith(" is '#{'1.' + 0}', but Tern replaces only placeholders (${…}) there, and no"
                            + " expressions (#{…})");
            assertThat(failure.action()).contains("Put the value into a property");
        });
    }

    @Test
    void textThatYamlChangesStopsTheStart() throws Exception {
        PropertyValueCheckTest.with(provider(Versioned.class), PropertyValueCheckTest.yaml("nover: 1.10"))
                .run(there -> {
                    RpcStartException failure = StartFailures.causeOf(there.getStartupFailure());
                    assertThat(failure)
                            .hasMessageEndingWith(" is '${nover}', but the property nover is not a text but a number,"
                                    + " which differs from the text in the file: YAML reads 1.10 as 1.1");
                    assertThat(failure.action()).isEqualTo("Put the value in quotes: '1.10'.");
                });
    }

    @Test
    void textThatYamlKeepsIsAccepted() throws Exception {
        PropertyValueCheckTest.with(provider(Versioned.class), PropertyValueCheckTest.yaml("nover: 2"))
                .run(there -> assertThat(there).hasNotFailed());
    }
}
