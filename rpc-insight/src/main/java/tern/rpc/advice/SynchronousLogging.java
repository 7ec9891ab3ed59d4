package tern.rpc.advice;

import java.time.Duration;
import java.util.stream.Stream;
import tern.rpc.Phase;

/** Calls that write their own log lines wait for the console or the disk. */
final class SynchronousLogging implements Rule {

    static final String PROPERTY = "rpc.logging.async";

    /** Of the target. */
    private static final double SHARE = 0.05;

    @Override
    public Stream<Finding> check(Situation situation) {
        if (situation.logging() == Situation.LoggingMode.ASYNCHRONOUS) {
            return Stream.empty();
        }
        Duration spent = situation.timePerCall(Phase.LOGGING);
        boolean heavy = spent.toNanos() > SHARE * situation.goal().latency().toNanos();
        boolean missing = situation.logging() == Situation.LoggingMode.NO_DISRUPTOR;
        if (!heavy && !missing) {
            return Stream.empty();
        }
        return Stream.of(new Finding(
                "synchronous-logging",
                heavy ? situation.urgency() : Severity.HINTS,
                "log appenders",
                "callers write log lines themselves" + (spent.isZero() ? "" : ", " + Advisor.millis(spent) + " a call"),
                missing
                        ? "add com.lmax:disruptor to the application, which " + PROPERTY + "=true needs"
                        : "log by Log4j 2 (spring-boot-starter-log4j2) with com.lmax:disruptor and " + PROPERTY
                                + "=true",
                "callers hand lines to a ring and never wait",
                spent));
    }
}
