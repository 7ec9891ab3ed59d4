package tern.rpc.netty;

import static org.assertj.core.api.Assertions.assertThatCode;

import java.io.IOException;
import java.net.URISyntaxException;
import java.net.URL;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import tern.rpc.transport.FuzzTarget;

/**
 * Replays the seeds of each target and the findings of {@code load-tests/fuzz}. The findings are files in
 * {@code /fuzz/}, with one folder per target.
 */
class GuidedFuzzTest {

    static Stream<String> names() {
        return GuidedFuzz.TARGETS.keySet().stream();
    }

    @ParameterizedTest
    @MethodSource("names")
    void seedsAndFindingsAreTakenOrRefused(String name) throws Exception {
        FuzzTarget target = GuidedFuzz.TARGETS.get(name).get();
        try (AutoCloseable resources = target.resources()) {
            List<byte[]> inputs = new ArrayList<>(target.seeds());
            inputs.addAll(findings(name));
            for (byte[] input : inputs) {
                assertThatCode(() -> target.target().feed(input)).doesNotThrowAnyException();
            }
        }
    }

    private static List<byte[]> findings(String name) throws IOException, URISyntaxException {
        URL folder = GuidedFuzzTest.class.getResource("/fuzz/" + name);
        List<byte[]> findings = new ArrayList<>();
        if (folder != null) {
            try (Stream<Path> files = Files.list(Path.of(folder.toURI()))) {
                for (Path file : files.sorted().toList()) {
                    findings.add(Files.readAllBytes(file));
                }
            }
        }
        return findings;
    }
}
