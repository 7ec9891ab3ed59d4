package tern.rpc.spring.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static tern.rpc.spring.autoconfigure.Applications.application;
import static tern.rpc.spring.autoconfigure.Applications.consumerOf;
import static tern.rpc.spring.autoconfigure.Applications.provider;

import java.nio.file.Path;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.boot.logging.LogLevel;
import org.springframework.boot.logging.LoggingSystem;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import tern.rpc.spring.RpcReference;

/** Tests the lines about services and references that an application logs after startup. */
@ExtendWith(OutputCaptureExtension.class)
class StartLinesTest {

    private static final LoggingSystem LOGGING = LoggingSystem.get(StartLinesTest.class.getClassLoader());
    private static final String LOGGER = "tern.rpc.spring.autoconfigure";

    @BeforeEach
    void logLinesOfTheStart() {
        LOGGING.setLogLevel(LOGGER, LogLevel.INFO);
    }

    @AfterEach
    void logWarningsOnly() {
        LOGGING.setLogLevel(LOGGER, LogLevel.WARN);
    }

    @Test
    void oneLineListsServicesAndOneListsReferences(CapturedOutput output) {
        provider(Greeter.class).run(there -> consumerOf(there, User.class).run(here -> here.getBean(User.class)));

        List<String> lines = output.getOut().lines().toList();
        assertThat(lines)
                .filteredOn(line -> line.contains("RPC server started"))
                .singleElement()
                .asString()
                .matches(".* INFO .*on port \\d+ .*dubbo.* with 1 service: " + GreetingService.class.getName());
        assertThat(lines)
                .filteredOn(line -> line.contains(" reference: "))
                .singleElement()
                .asString()
                .matches(".* INFO .*1 reference: " + GreetingService.class.getName()
                        + " \\(dubbo at 127\\.0\\.0\\.1:\\d+\\)");
        assertThat(lines).noneMatch(line -> line.contains("Exporting"));
    }

    @Test
    void lineOfReferencesNamesTheRegistryAlone(@TempDir Path directory, CapturedOutput output) {
        String url = "file://" + directory.resolve("p.json");

        application(User.class).withPropertyValues("rpc.client.registry=" + url).run(here -> here.getBean(User.class));

        assertThat(output.getOut().lines())
                .filteredOn(line -> line.contains(" reference: "))
                .singleElement()
                .asString()
                .endsWith("1 reference: " + GreetingService.class.getName() + " (dubbo at " + url + ")");
    }

    @Test
    void longListsAreCut() {
        List<String> many =
                IntStream.rangeClosed(100, 130).mapToObj(i -> "s" + i).toList();

        assertThat(StartLine.names(many)).startsWith("s100, s101, ").endsWith(", s119 and 11 more");
        assertThat(StartLine.names(List.of())).isEqualTo("none");
    }

    static class User {
        @RpcReference
        GreetingService greetings;
    }
}
