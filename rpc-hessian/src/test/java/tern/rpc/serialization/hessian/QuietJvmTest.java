package tern.rpc.serialization.hessian;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.ProcessBuilder.Redirect;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Tests that the JVM prints no warning about {@code sun.misc.Unsafe}. Since JDK 24, the JVM prints a warning if code
 * uses that class.
 */
@Timeout(120)
class QuietJvmTest {

    @Test
    void noSupportedTypeCausesAWarningOfTheJvm(@TempDir Path folder) throws Exception {
        Path out = folder.resolve("out");
        Path errors = folder.resolve("errors");
        ProcessBuilder java = new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-XX:TieredStopAtLevel=1",
                "-Xlog:class+init=info:file=" + folder.resolve("classes"),
                "-cp",
                System.getProperty("java.class.path"),
                QuietTypes.class.getName());
        java.environment()
                .keySet()
                // The JVM prints the values of these environment variables to standard error, so the test removes the
                // variables.
                .removeAll(List.of("JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS"));
        Process process = java.redirectOutput(out.toFile())
                .redirectError(Redirect.to(errors.toFile()))
                .start();

        assertThat(process.waitFor()).as(Files.readString(errors)).isZero();
        assertThat(Files.readString(errors)).isEmpty();
        assertThat(Files.readString(out)).contains("read ");
        assertThat(Files.readAllLines(folder.resolve("classes")))
                .filteredOn(line -> line.contains("hessian/io"))
                .isNotEmpty()
                .noneMatch(line -> line.contains("Unsafe") || line.contains("EnumSetSerializer"));
    }
}
