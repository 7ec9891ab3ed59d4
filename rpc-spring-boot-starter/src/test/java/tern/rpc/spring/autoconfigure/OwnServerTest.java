package tern.rpc.spring.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import jakarta.annotation.PostConstruct;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.boot.ApplicationRunner;
import org.springframework.boot.CommandLineRunner;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.boot.context.event.ApplicationReadyEvent;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.context.event.EventListener;
import org.springframework.stereotype.Component;
import org.springframework.test.util.TestSocketUtils;
import tern.rpc.RpcException;
import tern.rpc.RpcException.Executed;
import tern.rpc.spring.RpcReference;
import tern.rpc.spring.RpcService;
import tern.rpc.spring.firstday.Messages;

/** Tests calls from an application to itself at each stage of its startup. */
@Timeout(180)
class OwnServerTest {

    private static final List<String> BEFORE = List.of("constructor", "@PostConstruct", "SmartInitializingSingleton");
    private static final List<String> AFTER =
            List.of("ApplicationRunner", "CommandLineRunner", "ApplicationReadyEvent");

    @TempDir
    Path directory;

    private static Map<String, String> heardBy(String... properties) {
        List<String> all = new ArrayList<>(Arrays.asList(properties));
        all.add("rpc.client.timeout=1m");
        try (ConfigurableApplicationContext here = new SpringApplicationBuilder(Selfish.class)
                .web(WebApplicationType.NONE)
                .bannerMode(org.springframework.boot.Banner.Mode.OFF)
                .properties(all.toArray(String[]::new))
                .run()) {
            return here.getBean(Caller.class).heard;
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"127.0.0.1:", "localhost:", "tri://127.0.0.1:", "http://127.0.0.1:"})
    void callBeforeTheOwnServerStartsSaysSoAndRunnersReachIt(String address) {
        int port = TestSocketUtils.findAvailableTcpPort();

        Map<String, String> heard = heardBy("rpc.server.port=" + port, "rpc.client.url=" + address + port);

        assertThat(heard.keySet()).containsAll(BEFORE).containsAll(AFTER);
        BEFORE.forEach(moment -> assertThat(heard.get(moment))
                .as(moment)
                .contains(":" + port + " is the server of this application, which starts after all other beans"));
        AFTER.forEach(moment -> assertThat(heard.get(moment)).as(moment).isEqualTo("Good day, " + moment));
    }

    @Test
    void messageOfAnEarlyCallNamesTheAddressAndWhatToDo() {
        int port = TestSocketUtils.findAvailableTcpPort();

        Map<String, String> heard = heardBy("rpc.server.port=" + port, "rpc.client.url=127.0.0.1:" + port);

        Messages.assertSays("own server: call before it starts", heard.get("SmartInitializingSingleton"));
    }

    @Test
    void startThatFailsWithAnEarlyCallNamesTheBeanAndNoStackTrace() {
        int port = TestSocketUtils.findAvailableTcpPort();
        SpringApplicationBuilder application = new SpringApplicationBuilder(Selfish.class, Impatient.class)
                .web(WebApplicationType.NONE)
                .properties("rpc.server.port=" + port, "rpc.client.url=127.0.0.1:" + port);

        FailureAnalysis analysis = new EarlyCallFailureAnalyzer()
                .analyze(catchThrowable(() -> application.run().close()));

        assertThat(analysis).isNotNull();
        assertThat(analysis.getDescription())
                .startsWith("Bean 'impatient' makes a call too early: UNAVAILABLE: Clerks/greet")
                .endsWith(" is the server of this application, which starts after all other beans and has not started"
                        + " yet.");
        assertThat(analysis.getAction()).contains("ApplicationRunner", "rpc.client.services.<name>.url to local");
    }

    @Test
    void ownServerInMemoryIsReachedAtEveryMoment() {
        Map<String, String> heard = heardBy("rpc.server.port=0", "rpc.client.url=local");

        assertThat(heard.keySet()).containsAll(BEFORE).containsAll(AFTER);
        heard.forEach((moment, said) -> assertThat(said).isEqualTo("Good day, " + moment));
    }

    @Test
    void callBeforeTheOwnRegistrationSaysSo() {
        String registry = "file://" + directory.resolve("providers.json");

        Map<String, String> heard = heardBy(
                "rpc.server.port=0",
                "spring.application.name=selfish",
                "rpc.server.registry=" + registry,
                "rpc.client.registry=" + registry);

        assertThat(heard)
                .hasSize(BEFORE.size() + AFTER.size())
                .allSatisfy((moment, said) -> assertThat(said)
                        .contains("this application serves Clerks, but registers itself only when it accepts traffic"));
    }

    @Test
    void addressesOfOthersGetNoSuchAdvice() {
        int other = TestSocketUtils.findAvailableTcpPort();

        Map<String, String> heard = heardBy("rpc.server.port=0", "rpc.client.url=127.0.0.1:" + other);

        assertThat(heard)
                .hasSize(BEFORE.size() + AFTER.size())
                .allSatisfy((moment, said) ->
                        assertThat(said).contains("Connection refused").doesNotContain("this application"));
    }

    /** A service that the application both exports and calls. */
    public interface Clerks {
        String greet(String name);
    }

    @RpcService
    static class Clerk implements Clerks {
        @Override
        public String greet(String name) {
            return "Good day, " + name;
        }
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    @Import({Clerk.class, Caller.class})
    static class Selfish {

        @Bean
        SmartInitializingSingleton singleton(Caller caller) {
            return () -> caller.call("SmartInitializingSingleton");
        }

        @Bean
        ApplicationRunner applicationRunner(Caller caller) {
            return arguments -> caller.call("ApplicationRunner");
        }

        @Bean
        CommandLineRunner commandLineRunner(Caller caller) {
            return arguments -> caller.call("CommandLineRunner");
        }
    }

    @Component("impatient")
    static class Impatient {

        Impatient(@RpcReference Clerks clerks) {
            clerks.greet("constructor");
        }
    }

    static class Caller {

        final Map<String, String> heard = new LinkedHashMap<>();
        private final Clerks clerks;

        Caller(@RpcReference Clerks clerks) {
            this.clerks = clerks;
            call("constructor");
        }

        @PostConstruct
        void made() {
            call("@PostConstruct");
        }

        @EventListener
        void ready(ApplicationReadyEvent event) {
            call("ApplicationReadyEvent");
        }

        final void call(String moment) {
            try {
                heard.put(moment, clerks.greet(moment));
            } catch (RpcException e) {
                assertThat(e.wasExecuted()).isEqualTo(Executed.NO);
                heard.put(moment, e.getMessage());
            }
        }
    }
}
