package tern.rpc.spring.autoconfigure.pool;

import ch.qos.logback.classic.AsyncAppender;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.LoggerContext;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.Appender;
import ch.qos.logback.core.UnsynchronizedAppenderBase;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import org.slf4j.LoggerFactory;
import org.springframework.beans.factory.SmartInitializingSingleton;
import tern.rpc.CallLedger;
import tern.rpc.Phase;
import tern.rpc.pool.LoggingMode;

/** Measures the lines of Logback, whose appenders run on the caller's thread by default. */
final class LogbackWatch implements LoggingWatch, SmartInitializingSingleton {

    private final LoggerContext context;

    LogbackWatch(LoggerContext context) {
        this.context = context;
    }

    static boolean isActive() {
        return LoggerFactory.getILoggerFactory() instanceof LoggerContext;
    }

    static LogbackWatch ofContext() {
        return new LogbackWatch((LoggerContext) LoggerFactory.getILoggerFactory());
    }

    @Override
    public void afterSingletonsInstantiated() {
        context.getLoggerList().forEach(this::watch);
    }

    private void watch(Logger logger) {
        for (Appender<ILoggingEvent> appender : appenders(logger)) {
            if (!(appender instanceof Watched) && !(appender instanceof AsyncAppender)) {
                Watched watched = new Watched(appender);
                watched.setContext(context);
                watched.setName(appender.getName());
                watched.start();
                logger.addAppender(watched); // first: a line may appear twice, but is never lost
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
        return root.stream().allMatch(AsyncAppender.class::isInstance) ? LoggingMode.ASYNCHRONOUS : LoggingMode.LOGBACK;
    }

    /** Counts the time of one appender for the call that writes the line. */
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
