package tern.rpc.diagnosis.machine;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import tern.rpc.diagnosis.machine.BusyProcesses.Usage;

class BusyProcessesTest {

    private final List<Usage> now = new ArrayList<>();
    private final AtomicLong clock = new AtomicLong(1);
    private final BusyProcesses processes = new BusyProcesses(() -> List.copyOf(now), clock::get);

    private void use(long pid, String program, boolean isChild, long millis) {
        now.removeIf(usage -> usage.pid() == pid);
        now.add(new Usage(pid, program, isChild, Duration.ofMillis(millis)));
    }

    private void pass(long millis) {
        clock.addAndGet(TimeUnit.MILLISECONDS.toNanos(millis));
    }

    private String text() {
        return Objects.requireNonNull(processes.most()).text();
    }

    @Test
    void programOfSeveralProcessesIsNamedWithTheirNumber() {
        use(1, "postgres", false, 90_000);
        use(2, "gzip", true, 0);
        use(3, "gzip", true, 0);
        assertThat(processes.most()).isNull();

        pass(1_000);
        use(1, "postgres", false, 90_400);
        use(2, "gzip", true, 700);
        use(3, "gzip", true, 800);

        assertThat(text())
                .isEqualTo(", most of them by gzip, which this process has started (2 processes, 1.5 processors)");
    }

    @Test
    void processThatHasJustStartedCounts() {
        processes.most();
        pass(1_000);
        use(4, "javac", false, 600);

        assertThat(text()).isEqualTo(", most of them by javac (1 process, 0.6 processors)");
    }

    @Test
    void programsThatUseLittleAreNotNamed() {
        use(1, "postgres", false, 90_000);
        processes.most();
        pass(1_000);
        use(1, "postgres", false, 90_100);

        assertThat(processes.most()).isNull();
    }

    @Test
    void readingsOfDifferentMissesAreNotCompared() {
        use(1, "postgres", false, 0);
        processes.most();
        pass(60_000);
        use(1, "postgres", false, 60_000);

        assertThat(processes.most()).isNull();
    }

    @Test
    void processesOfThisMachineCanBeRead() {
        BusyProcesses.OF_MACHINE.most();
    }
}
