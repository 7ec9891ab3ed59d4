package tern.rpc.spring.firstday;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Verifies promise R23 in docs/figures/promises.md, which limits the resources that stopped applications leave behind
 * in a process.
 */
@Tag("figures")
@Timeout(1_200)
class ContextRestartsTest {

    @Test
    void stoppedApplicationsLeaveNothingInMemory() throws Exception {
        Process process = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-Xmx256m",
                        "-XX:SoftRefLRUPolicyMSPerMB=0",
                        "-Dspring.docker.compose.enabled=false",
                        "-cp",
                        System.getProperty("java.class.path"),
                        ContextRestarts.class.getName(),
                        System.getProperty("tern.cycles", "10"))
                .redirectErrorStream(true)
                .start();
        String printed = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);

        assertThat(process.waitFor()).as(printed).isZero();
        System.out.println(printed.substring(printed.indexOf("R23")).strip());
    }
}
