package tern.rpc.diagnosis.machine;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class ChildProcessesTest {

    @Test
    void runningProgramIsNamed() throws Exception {
        Process program = new ProcessBuilder("cat").start(); // This program waits for input.
        try {
            while (!"cat".equals(ChildProcesses.youngest())) {
                Thread.onSpinWait(); // A new child process does not run its program immediately.
            }
        } finally {
            program.destroyForcibly().waitFor();
        }
    }
}
