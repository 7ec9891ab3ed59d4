package tern.rpc.spring.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import org.junit.jupiter.api.Test;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import tern.rpc.spring.RpcReference;

/** Tests the auto-configurations that docs/testing.md names for an {@code ApplicationContextRunner}. */
class NamedAutoConfigurationsTest {

    private static final Class<?>[] NAMED = {
        RpcAutoConfiguration.class,
        RpcMetricsAutoConfiguration.class,
        RpcClientAutoConfiguration.class,
        RpcServerAutoConfiguration.class
    };

    static class Visitor {
        @RpcReference
        GreetingService greetings;
    }

    @Test
    void documentedAutoConfigurationsServeAndCall() throws Exception {
        new ApplicationContextRunner()
                .withConfiguration(AutoConfigurations.of(NAMED))
                .withPropertyValues("rpc.client.url=local", "rpc.server.port=0")
                .withUserConfiguration(Greeter.class, Visitor.class)
                .run(here -> assertThat(here.getBean(Visitor.class).greetings.greet("Ada"))
                        .isEqualTo("Hello Ada"));

        String page = Files.readString(Path.of("..", "docs", "testing.md"));
        assertThat(Arrays.stream(NAMED).map(Class::getSimpleName))
                .allSatisfy(name -> assertThat(page).contains(name + ".class"));
    }
}
