package tern.rpc.load.replay;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class MachineLoadTest {

    @TempDir
    private Path folder;

    @Test
    void busyTimeExcludesIdleAndDiskWait() throws IOException {
        Path file = folder.resolve("stat");
        MachineLoad load = new MachineLoad(file);

        Files.writeString(file, "cpu  100 0 50 800 50 0 0 0 100 0\ncpu0 1 2 3\n");
        MachineLoad.Sums before = load.read();
        Files.writeString(file, "cpu  160 0 60 820 60 0 0 0 160 0\n");

        assertThat(load.read().busySince(before)).isEqualTo(0.7);
    }

    @Test
    void unknownIfTheSystemHasNoFigures() {
        MachineLoad load = new MachineLoad(folder.resolve("missing"));

        assertThat(load.read().busySince(load.read())).isNegative();
    }
}
