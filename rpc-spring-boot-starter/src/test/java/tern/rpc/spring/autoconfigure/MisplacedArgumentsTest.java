package tern.rpc.spring.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static tern.rpc.spring.autoconfigure.Applications.application;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.DefaultApplicationArguments;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

/** Tests the warnings about command-line arguments that Spring does not read as properties, or reads as a list. */
@ExtendWith(OutputCaptureExtension.class)
class MisplacedArgumentsTest {

    @ParameterizedTest
    @ValueSource(strings = {"-Drpc.client.token", "rpc.client.token", "-rpc.client.token", "—rpc.client.token"})
    void propertyInAFormThatSpringDoesNotReadIsNamedWithTheRightForm(String argument, CapturedOutput output) {
        startedWith(argument + "=geheim").run(here -> assertThat(here).hasNotFailed());

        assertThat(output)
                .contains("rpc.client.token=", " is not read as a property", "write --rpc.client.token=")
                .doesNotContain("geheim");
    }

    @Test
    void valueAfterASpaceIsExplainedInAdditionToTheFailureThatItCauses(CapturedOutput output) {
        startedWith("--rpc.server.port", "20999")
                .withPropertyValues("rpc.server.port=")
                .run(here -> assertThat(here).hasFailed());

        assertThat(output)
                .contains("The argument --rpc.server.port has no value; write --rpc.server.port=…, with =")
                .doesNotContain("20999");
    }

    @Test
    void propertyThatOccursTwiceIsExplainedInAdditionToTheFailureThatItCauses(CapturedOutput output) {
        startedWith("--rpc.server.port=20998", "--rpc.client.token=geheim", "--rpc.server.port=20999")
                .withPropertyValues("rpc.server.port=20998,20999")
                .run(here -> assertThat(here).hasFailed());

        assertThat(output)
                .contains("The argument --rpc.server.port=… occurs more than once, and Spring joins the values")
                .doesNotContain("The argument --rpc.client.token")
                .doesNotContain("geheim");
    }

    @Test
    void otherArgumentsAreLeftAlone(CapturedOutput output) {
        startedWith(
                        "--rpc.server.reflection",
                        "--rpc.client.zone=a",
                        "-Drpc.gateway.url=http://x",
                        "import",
                        "-Dshop.rpc.client.zone=b",
                        "a=b")
                .run(here -> assertThat(here).hasNotFailed());

        assertThat(output).doesNotContain("is not read as a property").doesNotContain("has no value");
    }

    /** Registers the arguments as {@code SpringApplication} does. */
    private static ApplicationContextRunner startedWith(String... arguments) {
        return application()
                .withInitializer(context -> context.getBeanFactory()
                        .registerSingleton("springApplicationArguments", new DefaultApplicationArguments(arguments)));
    }
}
