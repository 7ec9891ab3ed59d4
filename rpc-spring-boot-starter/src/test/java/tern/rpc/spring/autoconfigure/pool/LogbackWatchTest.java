package tern.rpc.spring.autoconfigure.pool;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.AsyncAppender;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.LoggerContext;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import tern.rpc.CallLedger;
import tern.rpc.Phase;
import tern.rpc.pool.LoggingMode;

/** Tests the measurement of the log lines written by Logback. */
class LogbackWatchTest {

    private final LoggerContext context = new LoggerContext();
    private final Logger root = context.getLogger(Logger.ROOT_LOGGER_NAME);
    private final ListAppender<ILoggingEvent> disk = new ListAppender<>();
    private final List<AsyncAppender> queues = new ArrayList<>();
    private final LogbackWatch watch = new LogbackWatch(context, queues::add);

    LogbackWatchTest() {
        disk.setName("disk");
        disk.setContext(context);
        disk.start();
    }

    @Test
    void lineCountsInTheLedgerOfItsCallerAndIsWrittenOnce() throws Exception {
        root.addAppender(disk);
        watch.afterSingletonsInstantiated();
        watch.afterSingletonsInstantiated(); // The second call simulates a second application in the same process.

        CallLedger ledger = Serving.ledgerOf(() -> {
            root.info("served");
            return null;
        });

        assertThat(ledger.count(Phase.LOGGING)).isEqualTo(1);
        assertThat(disk.list).hasSize(1);
        assertThat(root.getAppender("disk")).isNotNull();
        assertThat(watch.mode()).isEqualTo(LoggingMode.LOGBACK);
    }

    @Test
    void appenderStopsWithTheContext() {
        root.addAppender(disk);
        watch.afterSingletonsInstantiated();

        context.stop();

        assertThat(disk.isStarted()).isFalse();
    }

    @Test
    void queueOfAnAsynchronousAppenderIsMeasured() {
        AsyncAppender async = new AsyncAppender();
        async.setContext(context);
        async.setName("async");
        async.addAppender(disk);
        async.start();
        root.addAppender(async);

        watch.afterSingletonsInstantiated();

        assertThat(queues).containsExactly(async);
        assertThat(root.getAppender("async")).isNotSameAs(async);
        assertThat(watch.mode()).isEqualTo(LoggingMode.ASYNCHRONOUS);
        context.stop();
    }
}
