package example;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import tern.rpc.metrics.RpcMeter;

/** Checks that the link targets and names in the README exist. */
class ReadmeTest {

    private static final Path ROOT = Path.of("..");

    private final String readme = Files.readString(ROOT.resolve("README.md"));

    ReadmeTest() throws IOException {}

    private List<String> found(String pattern) {
        return Pattern.compile(pattern, Pattern.DOTALL)
                .matcher(readme)
                .results()
                .map((MatchResult result) -> result.group(1))
                .toList();
    }

    @Test
    void everyLinkLeadsSomewhere() {
        assertThat(found("\\]\\(([^)h][^)]*)\\)"))
                .isNotEmpty()
                .allSatisfy(link -> assertThat(ROOT.resolve(link)).exists());
    }

    @Test
    void everySettingThatItNamesExists() throws IOException {
        String table = Files.readString(ROOT.resolve("docs/properties.md"));

        assertThat(found("`(rpc\\.(?:server|client|limits|slo)\\.[a-z-]+(?:=[^`]*)?)`"))
                .isNotEmpty()
                .map(setting -> setting.replaceAll("=.*", ""))
                .filteredOn(setting ->
                        Arrays.stream(RpcMeter.values()).map(RpcMeter::key).noneMatch(setting::equals))
                .allSatisfy(setting -> assertThat(table).contains("`" + setting + "`"));
    }
}
