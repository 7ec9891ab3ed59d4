package tern.rpc.diagnosis.machine;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class ChildProcessesTest {

    @Test
    void runningProgramIsNamed() throws Exception {
        Process program = new ProcessBuilder("cat").start(); // The program cat waits for input.
        try {
            while (!"cat".equals(ChildProcesses.youngest())) {
                Thread.onSpinWait(); // A new child process still runs the JVM's program for a short time.
            }
        } finally {
            program.destroyForcibly().waitFor();
        }
    }
}
