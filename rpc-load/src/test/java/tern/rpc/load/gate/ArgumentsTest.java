package tern.rpc.load.gate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ArgumentsTest {

    @TempDir
    private Path folder;

    @Test
    void numberAndRunAreFilledIn() throws CannotRunException {
        Arguments arguments = Arguments.of("[{\"id\":\"{run}-{number}\"},{number}]", "r1");

        assertThat(arguments.body(0)).isEqualTo("[{\"id\":\"r1-0\"},0]");
        assertThat(arguments.body(41)).isEqualTo("[{\"id\":\"r1-41\"},41]");
    }

    @Test
    void linesOfFileAreUsedInTurn() throws IOException, CannotRunException {
        Path file = Files.writeString(folder.resolve("calls"), "[\"a\"]\n\n[\"b\", {number}]\n");

        Arguments arguments = Arguments.of("@" + file, "r1");

        assertThat(arguments.body(0)).isEqualTo("[\"a\"]");
        assertThat(arguments.body(1)).isEqualTo("[\"b\", 1]");
        assertThat(arguments.body(2)).isEqualTo("[\"a\"]");
    }

    @Test
    void textThatIsNoJsonIsShown() {
        assertThatExceptionOfType(CannotRunException.class)
                .isThrownBy(() -> Arguments.of("[Ada]", "r1"))
                .withMessageStartingWith("--arguments has '[Ada]', which is not JSON (")
                .withMessageEndingWith("expected the argument or an array of all, such as [\"Ada\", 2]")
                .satisfies(failure -> assertThat(failure.getMessage().lines()).hasSize(1));
        assertThatExceptionOfType(CannotRunException.class).isThrownBy(() -> Arguments.of("", "r1"));
        assertThatExceptionOfType(CannotRunException.class).isThrownBy(() -> Arguments.of("[1] [2]", "r1"));
    }

    @Test
    void fileWithoutCallsIsRefused() throws IOException {
        Path empty = Files.writeString(folder.resolve("calls"), "\n");

        assertThatExceptionOfType(CannotRunException.class)
                .isThrownBy(() -> Arguments.of("@" + empty, "r1"))
                .withMessageContaining("which is empty");
        assertThatExceptionOfType(CannotRunException.class)
                .isThrownBy(() -> Arguments.of("@" + folder.resolve("missing"), "r1"))
                .withMessageContaining("which cannot be read");
    }
}
