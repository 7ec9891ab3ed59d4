package tern.rpc;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.slf4j.LoggerFactory;

class SeldomWarningTest {

    private final AtomicLong now = new AtomicLong(Long.MAX_VALUE - 5);
    private final Logger logger = (Logger) LoggerFactory.getLogger("seldom");
    private final ListAppender<ILoggingEvent> log = new ListAppender<>();
    private final SeldomWarning warning = new SeldomWarning(logger, now::get, Duration.ofMinutes(1));

    @BeforeEach
    void listen() {
        log.start();
        logger.addAppender(log);
        logger.setAdditive(false);
    }

    @AfterEach
    void leave() {
        logger.detachAppender(log);
        logger.setAdditive(true);
    }

    @Test
    void repeatedWarningIsLoggedOnceAMinuteWithItsCount() {
        warning.warn("one");
        warning.warn("two");
        warning.warn("three");
        now.addAndGet(Duration.ofSeconds(61).toNanos());
        warning.warn("four");
        now.addAndGet(Duration.ofSeconds(61).toNanos());
        warning.warn("five");

        assertThat(log.list)
                .extracting(ILoggingEvent::getFormattedMessage)
                .containsExactly("one", "four (2 more of the kind since the last warning)", "five");
    }

    @Test
    void suppressedLineIsNotFormattedAndALoggedLineHasItsTrace() {
        AtomicInteger made = new AtomicInteger();

        for (int i = 0; i < 100; i++) {
            warning.warn(() -> "line " + made.incrementAndGet(), new IllegalStateException("cause"));
        }

        assertThat(made.get()).isEqualTo(1);
        assertThat(log.list).hasSize(1);
        assertThat(log.list.get(0).getThrowableProxy().getMessage()).isEqualTo("cause");
    }

    @Test
    void fewWarningsAboutCallsAreAllLoggedAndManyAreCounted() {
        SeldomWarning calls = new SeldomWarning(logger, now::get);
        for (int second = 0; second < 3; second++) {
            for (int i = 0; i < 100; i++) {
                String line = second + "/" + i;
                assertThat(calls.warn(() -> line)).isEqualTo(i < SeldomWarning.CALLS_PER_SECOND);
            }
            now.addAndGet(Duration.ofSeconds(1).toNanos());
        }

        assertThat(log.list).hasSize(3 * SeldomWarning.CALLS_PER_SECOND);
        assertThat(log.list.get(19).getFormattedMessage()).isEqualTo("0/19");
        assertThat(log.list.get(20).getFormattedMessage())
                .isEqualTo("1/0 (80 more of the kind since the last warning)");
        assertThat(log.list.get(21).getFormattedMessage()).isEqualTo("1/1");
    }
}
