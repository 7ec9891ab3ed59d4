package tern.rpc.spring.autoconfigure.pool;

import ch.qos.logback.classic.AsyncAppender;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.LoggerContext;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.Appender;
import ch.qos.logback.core.UnsynchronizedAppenderBase;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.function.Consumer;
import org.slf4j.LoggerFactory;
import org.springframework.beans.factory.SmartInitializingSingleton;
import tern.rpc.CallLedger;
import tern.rpc.Phase;
import tern.rpc.pool.LoggingMode;
import tern.rpc.pool.PoolKind;
import tern.rpc.pool.PoolSnapshot;

/**
 * Measures the time that Logback spends on writing log lines. By default, Logback's appenders run on the calling
 * thread.
 */
final class LogbackWatch implements LoggingWatch, SmartInitializingSingleton {

    private static final long NO_RECORD = -1;

    private final LoggerContext context;
    private final Consumer<AsyncAppender> pools;

    /** @param pools receives a pool for each appender that has its own queue */
    LogbackWatch(LoggerContext context, Consumer<AsyncAppender> pools) {
        this.context = context;
        this.pools = pools;
    }

    static boolean isActive() {
        return LoggerFactory.getILoggerFactory() instanceof LoggerContext;
    }

    static LogbackWatch ofContext(PoolSources sources) {
        return new LogbackWatch((LoggerContext) LoggerFactory.getILoggerFactory(), queue -> {
            String name = sources.nameFor("logback");
            sources.add(name, () -> snapshot(name, queue));
        });
    }

    /**
     * Returns a snapshot of an appender's queue. If the queue is full, threads that log a line wait, unless the
     * appender is configured never to block.
     */
    private static PoolSnapshot snapshot(String name, AsyncAppender queue) {
        int waiting = queue.getNumberOfElementsInQueue();
        return PoolSnapshot.builder(name, PoolKind.LOGGING, queue.getQueueSize())
                .now(waiting, queue.getRemainingCapacity(), 0)
                .queueCapacity(0)
                .waitLimit(queue.isNeverBlock() ? Duration.ZERO : PoolSnapshot.UNKNOWN)
                .counts(NO_RECORD, NO_RECORD)
                .build();
    }

    @Override
    public void afterSingletonsInstantiated() {
        context.getLoggerList().forEach(this::watch);
    }

    private void watch(Logger logger) {
        for (Appender<ILoggingEvent> appender : appenders(logger)) {
            if (appender instanceof AsyncAppender queue) {
                pools.accept(queue);
            }
            if (!(appender instanceof Watched)) {
                Watched watched = new Watched(appender);
                watched.setContext(context);
                watched.setName(appender.getName());
                watched.start();
                // The new appender is added before the original is removed. A line can therefore be written twice, but
                // no line is lost.
                logger.addAppender(watched);
                logger.detachAppender(appender);
            }
        }
    }

    private static List<Appender<ILoggingEvent>> appenders(Logger logger) {
        List<Appender<ILoggingEvent>> appenders = new ArrayList<>();
        for (Iterator<Appender<ILoggingEvent>> all = logger.iteratorForAppenders(); all.hasNext(); ) {
            appenders.add(all.next());
        }
        return appenders;
    }

    @Override
    public LoggingMode mode() {
        List<Appender<ILoggingEvent>> root = appenders(context.getLogger(Logger.ROOT_LOGGER_NAME));
        return root.stream().allMatch(LogbackWatch::isAsynchronous) ? LoggingMode.ASYNCHRONOUS : LoggingMode.LOGBACK;
    }

    private static boolean isAsynchronous(Appender<ILoggingEvent> appender) {
        return appender instanceof AsyncAppender
                || (appender instanceof Watched watched && watched.appender instanceof AsyncAppender);
    }

    /** Wraps an appender, and records the time spent in it in the ledger of the call that writes the line. */
    private static final class Watched extends UnsynchronizedAppenderBase<ILoggingEvent> {

        private final Appender<ILoggingEvent> appender;

        Watched(Appender<ILoggingEvent> appender) {
            this.appender = appender;
        }

        @Override
        protected void append(ILoggingEvent event) {
            CallLedger ledger = CallLedger.current();
            Phase outer = ledger.enter(Phase.LOGGING);
            try {
                appender.doAppend(event);
            } finally {
                ledger.leave(outer);
            }
        }

        @Override
        public void stop() {
            super.stop();
            appender.stop();
        }
    }
}
