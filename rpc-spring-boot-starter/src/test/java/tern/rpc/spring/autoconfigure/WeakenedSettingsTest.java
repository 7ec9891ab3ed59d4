package tern.rpc.spring.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static tern.rpc.spring.autoconfigure.Applications.provider;

import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.LazyInitializationBeanFactoryPostProcessor;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import tern.rpc.metrics.RpcMeter;

/**
 * Tests settings that are less safe than the default. Such settings are logged, and in production they prevent startup.
 */
@ExtendWith(OutputCaptureExtension.class)
class WeakenedSettingsTest {

    private static final List<String> WEAK = List.of(
            "rpc.limits.audit-classes=true",
            "rpc.server.generic-calls=true",
            "rpc.server.reflection=true",
            "rpc.server.exception-frames=3",
            "rpc.server.http.form-bodies=true",
            "rpc.server.http.text-bodies=true",
            "rpc.server.cors.allowed-origins=*");

    private static ApplicationContextRunner measured() {
        return provider(Greeter.class).withBean(MeterRegistry.class, SimpleMeterRegistry::new);
    }

    private static String name(String property) {
        return property.substring(0, property.indexOf('='));
    }

    @Test
    void defaultsCauseNoWarning(CapturedOutput output) {
        measured()
                .run(there -> assertThat(there.getBean(MeterRegistry.class)
                                .find(RpcMeter.WEAKENED.key())
                                .meters())
                        .isEmpty());

        assertThat(output).doesNotContain("These settings make the server less safe");
    }

    @Test
    void allAreNamedInOneWarningAndHaveAGaugeEach(CapturedOutput output) {
        measured().withPropertyValues(WEAK.toArray(String[]::new)).run(there -> {
            MeterRegistry meters = there.getBean(MeterRegistry.class);
            for (String property : WEAK) {
                assertThat(meters.get(RpcMeter.WEAKENED.key())
                                .tag(RpcMeter.SETTING, name(property))
                                .gauge()
                                .value())
                        .isEqualTo(1);
            }
        });

        assertThat(output.toString().split("These settings make the server less safe", -1))
                .hasSize(2);
        assertThat(WEAK).allMatch(output.toString()::contains);
    }

    @ParameterizedTest
    @ValueSource(strings = {"production", "live", "prd", "eu,live"})
    void otherNamesOfProductionCount(String profiles) {
        String profile = profiles.substring(profiles.indexOf(',') + 1);
        provider(Greeter.class)
                .withPropertyValues("spring.profiles.active=" + profiles, WEAK.get(0))
                .run(there -> assertThat(StartFailures.causeOf(there.getStartupFailure()))
                        .hasMessageContaining("the profile " + profile + " is active"));
    }

    @ParameterizedTest
    @ValueSource(strings = {"pre-prod", "production-like", "alive", "Test"})
    void otherProfilesDoNotCount(String profile) {
        provider(Greeter.class)
                .withPropertyValues("spring.profiles.active=" + profile, WEAK.get(0))
                .run(there -> assertThat(there).hasNotFailed());
    }

    @Test
    void inProductionTheyMustBeAcceptedEvenIfBeansAreInitializedLazily() {
        provider(Greeter.class)
                .withPropertyValues("spring.profiles.active=prod", WEAK.get(0))
                .withInitializer(context ->
                        context.addBeanFactoryPostProcessor(new LazyInitializationBeanFactoryPostProcessor()))
                .run(there -> assertThat(StartFailures.causeOf(there.getStartupFailure()))
                        .hasMessageContaining("the profile prod is active"));
    }

    @Test
    void inProductionTheyMustBeAccepted() {
        for (String property : WEAK) {
            provider(Greeter.class)
                    .withPropertyValues("spring.profiles.active=prod", property)
                    .run(there -> assertThat(StartFailures.causeOf(there.getStartupFailure()))
                            .hasMessageContaining("the profile prod is active")
                            .hasMessageContaining(property));
        }
        provider(Greeter.class)
                .withPropertyValues(WEAK.toArray(String[]::new))
                .withPropertyValues(
                        "spring.profiles.active=prod",
                        "rpc.server.accepted-weaknesses="
                                + String.join(
                                        ",",
                                        WEAK.stream()
                                                .map(WeakenedSettingsTest::name)
                                                .toList()))
                .run(there -> assertThat(there).hasNotFailed());
    }
}
