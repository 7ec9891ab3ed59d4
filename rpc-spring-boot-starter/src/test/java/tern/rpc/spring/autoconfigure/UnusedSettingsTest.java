package tern.rpc.spring.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static tern.rpc.spring.autoconfigure.Applications.provider;

import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

/** Tests that startup logs each property that has no effect because of other properties. */
@ExtendWith(OutputCaptureExtension.class)
class UnusedSettingsTest {

    private static final String WARNING = "Settings without effect: ";

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            rpc.server.advertise.host=10.0.0.1    |                                     | needs rpc.server.registry
            rpc.server.advertise.warmup=1m        |                                     | needs rpc.server.registry
            rpc.server.registry.required=true     |                                     | needs rpc.server.registry
            rpc.server.registry.level=interface   |                                     | needs rpc.server.registry
            rpc.server.cors.max-age=1m            |                                     | needs rpc.server.cors.allowed-origins
            rpc.server.cors.allow-credentials=true|                                     | needs rpc.server.cors.allowed-origins
            rpc.limits.max-message=1MB            | rpc.limits.max-request=1MB,rpc.limits.max-response=1MB | max-request and max-response replace it
            rpc.client.registry=file:///a.json    | rpc.client.url=127.0.0.1:20880      | rpc.client.url takes precedence
            rpc.client.registries.east=file:///a.json |                                 | no rpc.client.services.<name>.registry names it
            rpc.client.services.orders.hash-key=id    |                                 | load balancing is p2c, and only consistent-hash or a bean uses a key
            rpc.client.services.orders.methods.find.hash-key=id | rpc.client.load-balancing=round-robin | load balancing is round-robin, and only consistent-hash or a bean uses a key
            rpc.client.services.orders.level=application  | rpc.client.services.orders.url=127.0.0.1:20880 | rpc.client.services.orders.url names providers, not a registry
            """)
    void aPropertyWithoutEffectIsNamedWithTheReason(
            String property, String others, String reason, CapturedOutput output) {
        provider(Greeter.class)
                .withPropertyValues(property)
                .withPropertyValues(others == null ? new String[0] : others.split(","))
                .run(there -> assertThat(there).hasNotFailed());

        String name = property.substring(0, property.indexOf('='));
        assertThat(output).contains(WARNING).contains(name + " (" + reason + ")");
    }

    @Test
    void aCacheOfRegistriesWithoutARegistryIsNamed(@TempDir Path folder, CapturedOutput output) {
        provider(Greeter.class)
                .withPropertyValues("rpc.client.registry-cache=" + folder)
                .run(there -> assertThat(there).hasNotFailed());

        assertThat(output).contains(WARNING + "rpc.client.registry-cache (no reference uses a registry)");
    }

    @ParameterizedTest
    @CsvSource({
        "rpc.server.threads=20,rpc.limits.max-message=1MB",
        "rpc.client.services.orders.hash-key=id,rpc.client.services.orders.load-balancing=consistent-hash",
        "rpc.server.cors.max-age=1m,rpc.server.cors.allowed-origins=https://shop.example",
    })
    void settingsWithAnEffectCauseNoWarning(String one, String other, CapturedOutput output) {
        provider(Greeter.class)
                .withPropertyValues(one, other)
                .run(there -> assertThat(there).hasNotFailed());

        assertThat(output).doesNotContain(WARNING);
    }
}
