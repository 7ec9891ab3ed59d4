package tern.rpc;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.slf4j.LoggerFactory;

class LimitedWarningTest {

    private final AtomicLong now = new AtomicLong(Long.MAX_VALUE - 5);
    private final Logger logger = (Logger) LoggerFactory.getLogger("limited");
    private final ListAppender<ILoggingEvent> log = new ListAppender<>();
    private final LimitedWarning warning = new LimitedWarning(logger, now::get);

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
    void fewWarningsAreAllLoggedAndManyAreCounted() {
        for (int second = 0; second < 3; second++) {
            for (int i = 0; i < 100; i++) {
                String line = second + "/" + i;
                assertThat(warning.warn(() -> line)).isEqualTo(i < LimitedWarning.MAX_PER_SECOND);
            }
            now.addAndGet(Duration.ofSeconds(1).toNanos());
        }

        assertThat(log.list).hasSize(3 * LimitedWarning.MAX_PER_SECOND);
        assertThat(log.list.get(19).getFormattedMessage()).isEqualTo("0/19");
        assertThat(log.list.get(20).getFormattedMessage()).isEqualTo("1/0 (80 more of the kind were not logged)");
        assertThat(log.list.get(21).getFormattedMessage()).isEqualTo("1/1");
    }
}
