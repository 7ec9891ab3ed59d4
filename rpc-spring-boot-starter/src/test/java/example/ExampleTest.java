package example;

import static org.assertj.core.api.Assertions.assertThat;

import example.consumer.ConsumerApplication;
import example.consumer.Visitor;
import example.provider.ProviderApplication;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.springframework.boot.SpringApplication;
import org.springframework.context.ConfigurableApplicationContext;

/** Tests the example application of the README. */
class ExampleTest {

    private static final Path README = Path.of("..", "README.md");

    @Test
    void consumerCallsProvider() {
        String[] provided = {"--rpc.server.port=0"};
        try (ConfigurableApplicationContext provider = SpringApplication.run(ProviderApplication.class, provided)) {
            String port = provider.getEnvironment().getProperty("local.rpc.port");
            String[] consumed = {"--rpc.client.url=127.0.0.1:" + port, "--rpc.client.timeout=1m"};
            try (ConfigurableApplicationContext consumer = SpringApplication.run(ConsumerApplication.class, consumed)) {
                assertThat(consumer.getBean(Visitor.class).enter()).isEqualTo("Good morning, Ada");
            }
        }
    }

    @Test
    void readmeShowsThisCode() throws IOException {
        List<String> shown = ShownCode.typesOf(README);

        assertThat(shown).containsExactly("GreetingService", "PoliteGreetings", "Visitor");
    }
}
