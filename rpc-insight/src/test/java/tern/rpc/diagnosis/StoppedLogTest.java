package tern.rpc.diagnosis;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.function.Consumer;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import tern.rpc.Phase;
import tern.rpc.diagnosis.cause.Cause;
import tern.rpc.diagnosis.sample.SampledCall;
import tern.rpc.diagnosis.stack.ThreadSnapshot;

/** Tests loggers that write no more lines. */
class StoppedLogTest {

    private static final String PARK = "java.util.concurrent.locks.LockSupport/park";
    private static final String BASE = "ch.qos.logback.core.OutputStreamAppender/writeBytes";

    private int looks;

    private static ThreadSnapshot thread(String... frames) {
        StackTraceElement[] stack = Stream.concat(Stream.of(frames), Stream.of("shop.Booking/book"))
                .map(frame -> frame.split("/"))
                .map(parts -> new StackTraceElement(parts[0], parts[1], "Booking.java", 30))
                .toArray(StackTraceElement[]::new);
        Thread.State state = frames[0].equals(PARK) ? Thread.State.WAITING : Thread.State.RUNNABLE;
        return new ThreadSnapshot("exec-1", 9, state, stack, null, null, -1, -1);
    }

    /** The first call writes its line, and the others wait for the lock of the appender. */
    private Consumer<SampledCall> writing(String... writer) {
        return samples -> {
            ThreadSnapshot thread = looks++ < 5 ? thread(writer) : thread(PARK, BASE);
            samples.add(SampledCalls.sample(Phase.LOGGING, thread));
            samples.addStack(Phase.LOGGING, thread, false);
        };
    }

    private static Cause first(SampledCalls calls) {
        Cause first = calls.causes().get(0);
        assertThat(first.title()).isEqualTo("SLOW LOG: log appenders");
        return first;
    }

    private SampledCalls hanging() {
        return new SampledCalls()
                .hanging(
                        6,
                        "web.POST /bookings",
                        Phase.LOGGING,
                        null,
                        5_900,
                        writing(
                                "java.io.FileOutputStream/writeBytes",
                                "java.io.PrintStream/write",
                                "ch.qos.logback.core.joran.spi.ConsoleTarget$1/write",
                                BASE));
    }

    @Test
    void outputThatIsNotReadIsTheCauseIfNoLineIsWritten() {
        Cause first = first(hanging());

        assertThat(first.change().text())
                .startsWith("find out why the output of this process is not read")
                .contains("container runtime");
        assertThat(first.evidence())
                .contains(
                        "appender ConsoleAppender",
                        "stopped  no call has logged a line for 5900 ms, while 6 calls wait for the logger");
    }

    @Test
    void fileThatTakesNoLinesIsNamedByItsAppender() {
        Cause first = first(new SampledCalls()
                .hanging(
                        6,
                        "web.POST /bookings",
                        Phase.LOGGING,
                        null,
                        5_900,
                        writing(
                                "java.io.FileOutputStream/writeBytes",
                                "ch.qos.logback.core.recovery.ResilientOutputStreamBase/write",
                                BASE)));

        assertThat(first.change().text()).startsWith("find out why OutputStreamAppender writes no more lines");
    }

    @Test
    void logThatStillWritesLinesIsOnlySlow() {
        Cause first = first(hanging().calls("web.POST /bookings", Phase.LOGGING, 240, writing(PARK, BASE)));

        assertThat(first.change().text()).doesNotContain("is not read");
        assertThat(first.evidence()).noneMatch(fact -> fact.startsWith("stopped"));
    }
}
