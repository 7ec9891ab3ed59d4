package tern.rpc.spring.firstday;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import tern.rpc.spring.RpcReference;
import tern.rpc.spring.RpcService;
import tern.rpc.spring.autoconfigure.RpcAutoConfiguration;
import tern.rpc.spring.autoconfigure.RpcClientAutoConfiguration;
import tern.rpc.spring.autoconfigure.RpcMetricsAutoConfiguration;
import tern.rpc.spring.autoconfigure.RpcServerAutoConfiguration;

/** Checks the table in docs/first-day.md, and tests the rows of the table that no other test covers. */
class FirstDayTest {

    private static final Path PAGE = Path.of("..", "docs", "first-day.md");
    private static final Pattern ROW = Pattern.compile("(?m)^\\| (\\d+) \\| (.+) \\| `(\\w+)#(\\w+)` \\|$");
    private static final int TRIES = 402;

    interface Finding {
        Optional<String> find(String name);
    }

    interface Loading {
        void load(InputStream in);
    }

    interface Streaming {
        Stream<String> stream();
    }

    interface Greetings {
        String greet(String name);
    }

    @RpcService
    static class Finder implements Finding {
        @Override
        public Optional<String> find(String name) {
            return Optional.empty();
        }
    }

    @RpcService
    static class Loader implements Loading {
        @Override
        public void load(InputStream in) {
            // The test never calls this method.
        }
    }

    @RpcService
    static class Streamer implements Streaming {
        @Override
        public Stream<String> stream() {
            return Stream.empty();
        }
    }

    @Configuration
    static class WithProxies {
        @RpcReference
        Greetings field;

        @Bean
        List<Greetings> given(@RpcReference Greetings parameter) {
            return List.of(parameter);
        }

        @Bean
        Integer size() {
            return given(null).size();
        }
    }

    private static ApplicationContextRunner application(Class<?> configuration) {
        return new ApplicationContextRunner()
                .withConfiguration(AutoConfigurations.of(
                        RpcAutoConfiguration.class,
                        RpcMetricsAutoConfiguration.class,
                        RpcClientAutoConfiguration.class,
                        RpcServerAutoConfiguration.class))
                .withPropertyValues("rpc.server.port=0", "rpc.client.url=127.0.0.1:1")
                .withUserConfiguration(configuration);
    }

    @Test
    void everyTryHasARowAndEveryNamedTestExists() throws IOException {
        Map<String, String> sources = sources();
        List<String> numbers = ROW.matcher(Files.readString(PAGE))
                .results()
                .map(row -> {
                    String type = row.group(3);
                    assertThat(sources).as(row.group()).containsKey(type);
                    assertThat(sources.get(type)).as(row.group()).contains("void " + row.group(4) + "(");
                    return row.group(1);
                })
                .toList();

        assertThat(numbers)
                .containsExactlyElementsOf(Stream.iterate(1, i -> i + 1)
                        .limit(TRIES)
                        .map(String::valueOf)
                        .toList());
    }

    /** Returns the sources of all modules by simple class name. */
    private static Map<String, String> sources() throws IOException {
        Map<String, String> sources = new HashMap<>();
        for (String module : List.of(
                "rpc-core",
                "rpc-hessian",
                "rpc-protobuf",
                "rpc-json",
                "rpc-insight",
                "rpc-insight-spring-boot-starter",
                "rpc-transport",
                "rpc-spring-boot-starter",
                "rpc-test")) {
            try (Stream<Path> files = Files.walk(Path.of("..", module, "src", "test", "java"))) {
                for (Path file :
                        files.filter(path -> path.toString().endsWith(".java")).toList()) {
                    sources.merge(
                            file.getFileName().toString().replace(".java", ""), Files.readString(file), String::concat);
                }
            }
        }
        return sources;
    }

    @ParameterizedTest
    @ValueSource(classes = {Finder.class, Loader.class, Streamer.class})
    void signatureThatCannotTravelStopsTheStart(Class<?> service) {
        application(service)
                .run(there -> assertThat(there.getStartupFailure())
                        .rootCause()
                        .hasMessageContaining(service.getInterfaces()[0].getSimpleName() + "."));
    }

    @Test
    void configurationWithProxiesGetsReferences() {
        application(WithProxies.class).run(there -> {
            WithProxies bean = there.getBean(WithProxies.class);
            assertThat(bean.getClass()).isNotEqualTo(WithProxies.class);
            assertThat(bean.field).isNotNull();
            assertThat(there.getBean("given", List.class)).containsExactly(bean.field);
            assertThat(there.getBean(Integer.class)).isEqualTo(1);
        });
    }

    @Test
    void numberWithoutAUnitIsMilliseconds() {
        application(WithProxies.class)
                .withPropertyValues("rpc.client.heartbeat=500")
                .run(there -> assertThat(there.getBean(tern.rpc.netty.ClientTransportSettings.class)
                                .heartbeat())
                        .isEqualTo(Duration.ofMillis(500)));
    }
}
