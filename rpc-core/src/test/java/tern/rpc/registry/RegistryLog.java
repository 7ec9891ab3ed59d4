package tern.rpc.registry;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.AppenderBase;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.slf4j.LoggerFactory;

/** Records the warnings that the registries log. */
final class RegistryLog extends AppenderBase<ILoggingEvent> implements AutoCloseable {

    private final Logger logger = (Logger) LoggerFactory.getLogger("tern.rpc.registry");
    private final List<String> warnings = new CopyOnWriteArrayList<>();

    RegistryLog() {
        start();
        logger.addAppender(this);
        logger.setAdditive(false);
    }

    @Override
    protected void append(ILoggingEvent event) {
        if (event.getLevel() == Level.WARN) {
            warnings.add(event.getFormattedMessage());
        }
    }

    List<String> warnings() {
        return warnings;
    }

    @Override
    public void close() {
        logger.detachAppender(this);
        logger.setAdditive(true);
    }
}
