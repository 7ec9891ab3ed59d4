package tern.rpc.spring.autoconfigure.waiting;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.slf4j.LoggerFactory;
import tern.rpc.metrics.LatencyWindow;
import tern.rpc.metrics.Slo;
import tern.rpc.waiting.Vitals;
import tern.rpc.waiting.WaitingReport;

class WaitingWatchTest {

    private static final LatencyWindow.Report GOOD = minute(60_000, 0.01);

    private final AtomicLong time = new AtomicLong();
    private final ListAppender<ILoggingEvent> log = new ListAppender<>();
    private LatencyWindow.Report minute = GOOD;
    private final WaitingWatch watch = new WaitingWatch(
            new Slo(500, Duration.ofMillis(100)),
            () -> minute,
            () -> new WaitingReport(new Vitals(List.of()), 3, 2, 1, List.of(), List.of()),
            time::get);

    private static LatencyWindow.Report minute(long calls, double shareOverTarget) {
        return new LatencyWindow.Report(calls, 60, calls / 60.0, 1, 2, 3, shareOverTarget, 0);
    }

    @BeforeEach
    void listen() {
        log.start();
        ((Logger) LoggerFactory.getLogger(WaitingWatch.class)).addAppender(log);
    }

    @AfterEach
    void stopListening() {
        ((Logger) LoggerFactory.getLogger(WaitingWatch.class)).detachAppender(log);
    }

    private void lookAfter(long seconds) {
        time.addAndGet(TimeUnit.SECONDS.toNanos(seconds));
        watch.look();
    }

    @Test
    void nothingIsWrittenWhileTheTargetIsMet() {
        lookAfter(5);
        lookAfter(120);

        assertThat(log.list).isEmpty();
    }

    @Test
    void missedTargetIsWrittenWithItsShare() {
        minute = minute(1_203, 0.042);
        lookAfter(5);

        assertThat(log.list).hasSize(1);
        assertThat(log.list.get(0).getFormattedMessage())
                .startsWith("4.2 % of 1203 calls took more than 100 ms (rpc.slo.latency) in the last 60 s."
                        + " This is what threads wait for:")
                .contains("1 of 3 threads and 2 running calls wait");
    }

    @Test
    void fewCallsMissNoTarget() {
        minute = minute(99, 1);
        lookAfter(5);

        assertThat(log.list).isEmpty();
    }

    @Test
    void refusalIsWrittenAtOnce() {
        watch.refused();
        watch.look();

        assertThat(log.list).hasSize(1);
        assertThat(log.list.get(0).getFormattedMessage()).startsWith("Calls are refused since no worker is free.");
    }

    @Test
    void atMostOneReportIsWrittenInAMinute() {
        minute = minute(1_000, 0.5);
        lookAfter(5);
        lookAfter(30);
        watch.refused();
        lookAfter(29);

        assertThat(log.list).hasSize(1);
    }

    @Test
    void whatWasRefusedDuringThePauseIsNoNews() {
        watch.refused();
        watch.look();
        lookAfter(30);
        watch.refused();
        lookAfter(31);
        lookAfter(5);

        assertThat(log.list).hasSize(1);
        watch.refused();
        lookAfter(5);
        assertThat(log.list).hasSize(2);
    }
}
