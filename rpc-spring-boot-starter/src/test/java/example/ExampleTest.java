package example;

import static org.assertj.core.api.Assertions.assertThat;

import example.consumer.ConsumerApplication;
import example.consumer.Visitor;
import example.provider.ProviderApplication;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.springframework.boot.SpringApplication;
import org.springframework.context.ConfigurableApplicationContext;

/** Tests the example application of the README. */
class ExampleTest {

    private static final Path README = Path.of("..", "README.md");
    private static final Path SOURCES = Path.of("src", "test", "java");
    private static final Pattern BLOCK = Pattern.compile("```java\n(package (\\S+);.*?)```", Pattern.DOTALL);
    private static final Pattern TYPE = Pattern.compile("(?:class|interface) (\\w+)");

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
        List<String> shown = new ArrayList<>();
        Matcher block = BLOCK.matcher(Files.readString(README));
        while (block.find()) {
            Matcher type = TYPE.matcher(block.group(1));
            assertThat(type.find()).isTrue();
            Path source = SOURCES.resolve(block.group(2).replace('.', '/')).resolve(type.group(1) + ".java");
            assertThat(source).content().isEqualTo(block.group(1));
            shown.add(type.group(1));
        }

        assertThat(shown).containsExactly("GreetingService", "PoliteGreetings", "Visitor");
    }
}
