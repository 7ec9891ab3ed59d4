package tern.rpc.spring.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static tern.rpc.spring.autoconfigure.Applications.provider;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.http.client.autoconfigure.HttpClientAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import tern.rpc.health.HealthService;
import tern.rpc.server.RpcServer;
import tern.rpc.spring.autoconfigure.pool.HttpPoolAutoConfiguration;

/** Tests that boolean properties accept every spelling of true and false that Spring Boot binds to a boolean. */
class FlagConditionTest {

    @ParameterizedTest
    @ValueSource(strings = {"true", "TRUE", "on", "yes", "1", " true "})
    void everyNotationOfTrueSwitchesOn(String yes) {
        with("rpc.server.health=" + yes, "rpc.server.reflection=" + yes, "rpc.server.enabled=" + yes)
                .run(there -> assertThat(there)
                        .hasSingleBean(RpcServer.class)
                        .hasSingleBean(HealthService.class)
                        .hasBean("rpcBuiltInReflection"));
    }

    @ParameterizedTest
    @ValueSource(strings = {"false", "FALSE", "off", "no", "0", " false "})
    void everyNotationOfFalseSwitchesOff(String no) {
        with("rpc.server.health=" + no, "rpc.server.reflection=" + no, "rpc.pools.tuned=" + no)
                .run(there -> assertThat(there)
                        .hasSingleBean(RpcServer.class)
                        .doesNotHaveBean(HealthService.class)
                        .doesNotHaveBean("rpcBuiltInReflection")
                        .doesNotHaveBean("rpcHttpTimeouts"));
        with("rpc.server.enabled=" + no).run(there -> assertThat(there).doesNotHaveBean(RpcServer.class));
    }

    /**
     * Sets system properties, because Spring Boot's application context runner removes the spaces around the values of
     * its own properties.
     */
    private static ApplicationContextRunner with(String... properties) {
        ApplicationContextRunner runner = provider(Greeter.class)
                .withConfiguration(
                        AutoConfigurations.of(HttpClientAutoConfiguration.class, HttpPoolAutoConfiguration.class));
        for (String property : properties) {
            String[] parts = property.split("=", 2);
            runner = runner.withSystemProperties(parts[0] + "=" + parts[1]);
        }
        return runner;
    }
}
