package tern.rpc.diagnosis;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class ChildProcessesTest {

    @Test
    void runningProgramIsNamed() throws Exception {
        Path java = Path.of(System.getProperty("java.home"), "bin", "java");
        Process program = new ProcessBuilder(java.toString(), "-version").start();
        boolean isNamed = "java".equals(ChildProcesses.youngest());
        program.destroyForcibly().waitFor(10, TimeUnit.SECONDS);

        assertThat(isNamed).isTrue();
    }
}
