package tern.rpc.registry.zookeeper;

import java.io.BufferedReader;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import tern.rpc.registry.Subscription.Level;

/**
 * Checks that Tern and old versions of Dubbo find and call each other. The script load-tests/old-dubbo/run runs this
 * test.
 */
@Timeout(180)
@EnabledIfSystemProperty(named = OldDubboTest.FOLDERS, matches = ".+")
class OldDubboTest {

    /** The system property with the folders that contain the program and libraries of each version. */
    static final String FOLDERS = "tern.old-dubbo";

    private final List<AutoCloseable> open = new ArrayList<>();
    private ZooKeeperServer zooKeeper;

    @BeforeEach
    void start() throws Exception {
        zooKeeper = new ZooKeeperServer();
    }

    @AfterEach
    void stop() throws Exception {
        for (AutoCloseable each : open) {
            each.close();
        }
        zooKeeper.close();
    }

    static Stream<Path> versions() {
        return Stream.of(System.getProperty(FOLDERS).split(",")).map(Path::of);
    }

    private BufferedReader run(Path folder, String role) throws IOException {
        Process process = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-Xmx128m",
                        "--add-opens=java.base/java.lang=ALL-UNNAMED",
                        "--add-opens=java.base/java.math=ALL-UNNAMED",
                        "--add-opens=java.base/java.util=ALL-UNNAMED",
                        "-cp",
                        folder.resolve("old-dubbo.jar") + ":" + folder.resolve("lib") + "/*",
                        "tern.rpc.registry.zookeeper.OldDubbo",
                        role,
                        zooKeeper.address(),
                        String.valueOf(DubboProcess.freePort()))
                .redirectErrorStream(true)
                .start();
        open.add(process::destroyForcibly);
        return process.inputReader(StandardCharsets.UTF_8);
    }

    private static void awaitLine(BufferedReader output, String expected) throws IOException {
        List<String> seen = new ArrayList<>();
        for (String line = output.readLine(); line != null; line = output.readLine()) {
            if (line.equals(expected)) {
                return;
            }
            seen.add(line);
        }
        throw new AssertionError("no line '" + expected + "' in " + String.join("\n", seen));
    }

    private TernProcess tern(String name) {
        TernProcess made = new TernProcess(name, zooKeeper.url(), ZooKeeperRegistry.Form.DEFAULT);
        open.add(made);
        return made;
    }

    @ParameterizedTest
    @MethodSource("versions")
    void consumerOfDubboFindsAndCallsTheProvider(Path version) throws Exception {
        tern("tern").provide("", "", 100);

        awaitLine(run(version, "consume"), "ANSWER tern:x");
    }

    @ParameterizedTest
    @MethodSource("versions")
    void providerOfDubboIsFoundAndCalled(Path version) throws Exception {
        awaitLine(run(version, "provide"), "PROVIDES");

        Greeting greeting = tern("tern-consumer").refer("dubbo", Level.BOTH, "", "");

        Await.until("the provider answers", () -> greeting.greet("x").equals("old:x"));
    }
}
