package tern.rpc.cluster;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import java.util.List;
import org.slf4j.LoggerFactory;

/** Records the lines that the cluster logs at level INFO or above. */
final class LoggedLines implements AutoCloseable {

    private final Logger logger = (Logger) LoggerFactory.getLogger("tern.rpc.cluster");
    private final ListAppender<ILoggingEvent> lines = new ListAppender<>();

    LoggedLines() {
        lines.start();
        logger.addAppender(lines);
        logger.setLevel(Level.INFO);
        logger.setAdditive(false);
    }

    List<String> all() {
        return lines.list.stream()
                .map(line -> line.getLevel() + " " + line.getFormattedMessage())
                .toList();
    }

    @Override
    public void close() {
        logger.detachAppender(lines);
        logger.setLevel(null);
        logger.setAdditive(true);
    }
}
