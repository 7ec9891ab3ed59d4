package tern.rpc.advice;

import java.time.Duration;
import java.util.stream.Stream;
import tern.rpc.Phase;

/** Processors that are used up: then every wait is long, and no pool makes it shorter. */
final class FullProcessors implements Rule {

    @Override
    public Stream<Finding> check(Situation situation) {
        Situation.Cpu cpu = situation.cpu();
        if (!cpu.isFull() || !situation.missesTarget()) {
            return Stream.empty();
        }
        Duration work = situation.timePerCall(Phase.OWN).plus(situation.timePerCall(Phase.DECODE));
        boolean others = cpu.machine() > 2 * cpu.busy();
        return Stream.of(new Finding(
                "full-processors",
                Severity.BLOCKS,
                "processors",
                "this process uses " + Advisor.number(cpu.busy()) + " of " + cpu.processors() + ", all processes "
                        + Advisor.number(Math.max(cpu.busy(), cpu.machine())) + "; a call works and waits for them "
                        + Advisor.millis(work),
                others
                        ? "fewer other processes on this machine, or more processors"
                        : "more processors or instances, or less work a call: a profiler shows where it goes",
                "waits that only look like those for pools become shorter too",
                work));
    }
}
