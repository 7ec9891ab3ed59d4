package tern.rpc.spring.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static tern.rpc.spring.autoconfigure.Applications.application;

import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.boot.env.YamlPropertySourceLoader;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.core.env.PropertySource;
import org.springframework.core.env.SimpleCommandLinePropertySource;
import org.springframework.core.env.StandardEnvironment;
import org.springframework.core.env.SystemEnvironmentPropertySource;
import org.springframework.core.io.ByteArrayResource;
import tern.rpc.settings.RpcStartException;
import tern.rpc.spring.firstday.Messages;

/**
 * Tests properties under {@code rpc.} that do not belong to Tern. Dubbo's properties make startup fail. Other
 * properties might belong to the application.
 */
@ExtendWith(OutputCaptureExtension.class)
class ForeignPropertiesTest {

    @Test
    void settingsOfDubboStopTheStartAndOursAreNamed() throws Exception {
        PropertySource<?> file = new YamlPropertySourceLoader()
                .load("application.yml", new ByteArrayResource("""
                        rpc:
                          application:
                            name: shop
                          registries:
                            - address: nacos://10.0.0.1:8848
                          provider:
                            threads: 300
                            timeout: 500
                          references:
                            greeting:
                              timeout: 1s
                        """.getBytes(StandardCharsets.UTF_8)))
                .get(0);

        Messages.assertSays("properties of Dubbo: file", startFailure(with(file)));
        Messages.assertSays(
                "properties of Dubbo: command line",
                startFailure(with(new SimpleCommandLinePropertySource(
                        "--rpc.registry.address=nacos://x",
                        "--rpc.protocol.port=20881",
                        "--rpc.consumer.timeout=1s"))));
    }

    @Test
    void variablesOfDubboOnlyWarn(CapturedOutput output) {
        with(new SystemEnvironmentPropertySource(
                        StandardEnvironment.SYSTEM_ENVIRONMENT_PROPERTY_SOURCE_NAME,
                        Map.of("RPC_REGISTRY_ADDRESS", "nacos://x", "RPC_GATEWAY_PORT_80_TCP", "tcp://10.0.0.1:80")))
                .run(here -> assertThat(here).hasNotFailed());

        assertThat(output.getOut().lines().filter(line -> line.contains("rpc.registry.address")))
                .singleElement()
                .asString()
                .contains("Environment variable ignored", "rpc.client.url");
        assertThat(output).doesNotContain("rpc.gateway");
    }

    @Test
    void variableWithATypingErrorIsNamed(CapturedOutput output) {
        with(new SystemEnvironmentPropertySource(
                        StandardEnvironment.SYSTEM_ENVIRONMENT_PROPERTY_SOURCE_NAME,
                        Map.of(
                                "RPC_SEVER_PORT", "20881",
                                "RPC_CLIENTS_URL", "tcp://10.0.0.1:80",
                                "RCP_CLIENT_URL", "localhost:1")))
                .run(here -> assertThat(here).hasNotFailed());

        assertThat(output)
                .contains("Environment variable ignored: property rpc.sever.port (set in ")
                .contains(" does not exist; did you mean rpc.server.port?")
                .contains("property rcp.client.url (set in ")
                .contains(" is not read; the name is rpc.client.url")
                .doesNotContain("property rpc.clients.url");
    }

    @Test
    void otherPropertiesAreNamedOnceAndLeftAlone(CapturedOutput output) {
        application()
                .withPropertyValues("rpc.gateway.url=http://x", "rpc.gateway.retries=3", "rpc.sever.port=1")
                .run(here -> assertThat(here).hasNotFailed());

        List<String> lines = output.getOut()
                .lines()
                .filter(line -> line.contains("properties below rpc."))
                .toList();
        assertThat(lines)
                .singleElement()
                .asString()
                .contains("rpc.gateway.url", "rpc.gateway.retries", "did you mean rpc.server.port?");
    }

    private static String startFailure(ApplicationContextRunner runner) {
        StringBuilder told = new StringBuilder();
        runner.run(here -> {
            RpcStartException failure = StartFailures.causeOf(here.getStartupFailure());
            told.append(failure.getMessage()).append("\n\n").append(failure.action());
        });
        return told.toString();
    }

    private static ApplicationContextRunner with(PropertySource<?> source) {
        return application().withInitializer(here -> {
            here.getEnvironment().getPropertySources().remove(source.getName());
            here.getEnvironment().getPropertySources().addFirst(source);
        });
    }
}
