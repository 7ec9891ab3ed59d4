package tern.rpc.netty.peer;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.AppenderBase;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.LoggerFactory;

/** Captures the log entries of one logger, by default warnings and errors. Thread-safe. */
public final class CapturedLog implements AutoCloseable {

    private final Logger logger;
    private final @Nullable Level before;
    private final Consumer<String> entries;
    private final List<String> lines = new CopyOnWriteArrayList<>();
    private final AppenderBase<ILoggingEvent> appender = new AppenderBase<>() {
        @Override
        protected void append(ILoggingEvent event) {
            String line = event.getLevel() + " " + event.getFormattedMessage();
            lines.add(line);
            entries.accept(line);
        }
    };

    public CapturedLog(String name) {
        this(name, line -> {});
    }

    /** @param entries receives each log entry, on the logging thread */
    public CapturedLog(String name, Consumer<String> entries) {
        this(name, Level.WARN, entries);
    }

    /** @param least the lowest level of the captured entries */
    public CapturedLog(String name, Level least, Consumer<String> entries) {
        this.entries = entries;
        logger = (Logger) LoggerFactory.getLogger(name);
        before = logger.getLevel();
        appender.setContext(logger.getLoggerContext());
        appender.start();
        logger.addAppender(appender);
        logger.setLevel(least);
        logger.setAdditive(false);
    }

    /** Returns the captured log entries, each preceded by its level. */
    public List<String> lines() {
        return lines;
    }

    @Override
    public void close() {
        logger.detachAppender(appender);
        logger.setLevel(before);
        logger.setAdditive(true);
    }
}
