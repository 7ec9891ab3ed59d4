package tern.rpc.spring.firstday;

import static org.assertj.core.api.Assertions.assertThat;

import example.provider.ProviderApplication;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests an application whose only dependency is the dependency that the README shows. */
class OneDependencyTest {

    /** The jars of {@code spring-boot-starter}, which every Spring Boot application contains. */
    private static final List<String> PLAIN_BOOT = List.of(
            "org.springframework.boot:spring-boot",
            "org.springframework.boot:spring-boot-starter",
            "org.springframework.boot:spring-boot-starter-logging",
            "org.springframework.boot:spring-boot-autoconfigure",
            "org.springframework:spring-core",
            "org.springframework:spring-context",
            "org.springframework:spring-aop",
            "org.springframework:spring-beans",
            "org.springframework:spring-expression",
            "org.jspecify:jspecify",
            "commons-logging:commons-logging",
            "io.micrometer:micrometer-observation",
            "io.micrometer:micrometer-commons",
            "jakarta.annotation:jakarta.annotation-api",
            "org.yaml:snakeyaml",
            "ch.qos.logback:logback-classic",
            "ch.qos.logback:logback-core",
            "org.slf4j:slf4j-api",
            "org.slf4j:jul-to-slf4j",
            "org.apache.logging.log4j:log4j-to-slf4j",
            "org.apache.logging.log4j:log4j-api");

    // the maximum number of jars in addition to the jars of {@code spring-boot-starter}
    private static final int MAX_JARS = 20;
    private static final int OUR_JARS = 8;

    private static StarterJars jars;

    @BeforeAll
    static void resolve() throws Exception {
        jars = StarterJars.resolve();
    }

    @Test
    void bringsLoggingAndFewJarsInAdditionToBoot() {
        assertThat(jars.artifacts()).contains("ch.qos.logback:logback-classic", "org.yaml:snakeyaml");
        assertThat(jars.artifacts())
                .filteredOn(artifact -> !PLAIN_BOOT.contains(artifact))
                .hasSizeLessThanOrEqualTo(MAX_JARS - OUR_JARS);
    }

    @Test
    void typingErrorInAPropertyIsExplained(@TempDir Path folder) throws Exception {
        String output = jars.run(folder, ProviderApplication.class, "--rpc.server.prt=1");

        Messages.assertSays("only the starter: unknown property", explanation(output));
    }

    @Test
    void busyPortIsExplained(@TempDir Path folder) throws Exception {
        try (ServerSocket taken = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            String output = jars.run(
                    folder,
                    ProviderApplication.class,
                    "--rpc.server.address=127.0.0.1",
                    "--rpc.server.port=" + taken.getLocalPort());

            Messages.assertSays("only the starter: busy port", explanation(output));
        }
    }

    private static String explanation(String output) {
        assertThat(output).contains("APPLICATION FAILED TO START");
        return output.substring(output.indexOf("Description:"));
    }
}
