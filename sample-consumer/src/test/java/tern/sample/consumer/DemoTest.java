package tern.sample.consumer;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.DisabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Tests the messages that the {@code demo} script prints before it builds or starts anything. */
@DisabledOnOs(OS.WINDOWS)
class DemoTest {

    private static final Path SCRIPT = Path.of("..", "demo").toAbsolutePath().normalize();

    @TempDir
    private Path folder;

    private record Run(int status, String out, String err) {}

    @Test
    void helpNamesEveryOption() throws Exception {
        Run run = demo(Map.of(), "--help");

        assertThat(run.status()).isZero();
        assertThat(run.err()).isEmpty();
        assertThat(run.out())
                .contains(
                        "--rate",
                        "--seconds",
                        "--keep",
                        "--provider-port",
                        "--provider-http",
                        "--consumer-http",
                        "--cluster");
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
                    --fast              | demo: unknown argument '--fast'; see ./demo --help
                    --rate              | demo: --rate needs a number; see ./demo --help
                    --rate 0            | demo: --rate is '0'; expected a whole number from 1 to 100000
                    --rate 1e3          | demo: --rate is '1e3'; expected a whole number from 1 to 100000
                    --cluster --keep    | demo: --cluster takes no other option; see ./demo --help
                    --seconds -5        | demo: --seconds is '-5'; expected a whole number from 1 to 86400
                    --seconds 090000    | demo: --seconds is '090000'; expected a whole number from 1 to 86400
                    --provider-port 99999 | demo: --provider-port is '99999'; expected a whole number from 1 to 65535
                    """)
    void badArgumentsGetOneLine(String arguments, String line) throws Exception {
        Run run = demo(Map.of(), arguments.split(" "));

        assertThat(run).isEqualTo(new Run(2, "", line + "\n"));
    }

    @Test
    void missingJdkGetsOneLine() throws Exception {
        assertThat(demo(Map.of("PATH", folder.toString())))
                .isEqualTo(new Run(2, "", "demo: no JDK found; install JDK 17 or later, or set JAVA_HOME\n"));
        assertThat(demo(Map.of("JAVA_HOME", "/nowhere")))
                .isEqualTo(new Run(2, "", "demo: no JDK at JAVA_HOME (/nowhere); install JDK 17 or later\n"));
    }

    @ParameterizedTest
    @CsvSource({"1.8.0_412, 8", "11.0.22, 11"})
    void oldJdkGetsOneLine(String version, String shown) throws Exception {
        Path java = folder.resolve("bin/java");
        Files.createDirectories(java.getParent());
        Files.writeString(java, "#!/bin/sh\necho 'openjdk version \"" + version + "\"' >&2\n");
        Files.setPosixFilePermissions(java, PosixFilePermissions.fromString("rwxr-xr-x"));

        Run run = demo(Map.of("JAVA_HOME", folder.toString()));

        assertThat(run)
                .isEqualTo(new Run(
                        2, "", "demo: " + java + " is version " + shown + "; Tern RPC needs JDK 17 or later\n"));
    }

    @Test
    void busyPortGetsOneLine() throws Exception {
        try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getByName("127.0.0.1"))) {
            String port = String.valueOf(socket.getLocalPort());

            assertThat(demo(Map.of(), "--provider-port", port))
                    .isEqualTo(new Run(
                            2,
                            "",
                            "demo: port " + port
                                    + " is in use; give --provider-port another one, or none for a free one\n"));
        }
    }

    /**
     * Runs the script from another folder. The script uses the JDK that runs this test, unless the environment names
     * another JDK.
     */
    private Run demo(Map<String, String> environment, String... arguments) throws IOException, InterruptedException {
        List<String> command = new ArrayList<>(List.of(bash(), SCRIPT.toString()));
        command.addAll(List.of(arguments));
        Path out = folder.resolve("out.txt");
        Path err = folder.resolve("err.txt");
        ProcessBuilder builder = new ProcessBuilder(command)
                .directory(folder.toFile())
                .redirectOutput(out.toFile())
                .redirectError(err.toFile());
        builder.environment().remove("JAVA_HOME");
        if (environment.isEmpty()) {
            builder.environment().put("JAVA_HOME", System.getProperty("java.home"));
        }
        builder.environment().putAll(environment);

        Process process = builder.start();
        try {
            assertThat(process.waitFor(1, TimeUnit.MINUTES)).as("ended").isTrue();
        } finally {
            process.destroyForcibly();
        }
        return new Run(process.exitValue(), Files.readString(out), Files.readString(err));
    }

    private static String bash() {
        return Stream.of(System.getenv("PATH").split(":"))
                .map(directory -> Path.of(directory, "bash"))
                .filter(Files::isExecutable)
                .findFirst()
                .orElseThrow()
                .toString();
    }
}
