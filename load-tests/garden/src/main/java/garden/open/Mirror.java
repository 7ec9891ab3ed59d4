package garden.open;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.AppenderBase;
import garden.shop.Naps;
import garden.shop.Step;
import garden.shop.Switches;
import org.slf4j.LoggerFactory;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.stereotype.Component;

/** Copies log lines to a second, slow appender. */
@Component
@ConditionalOnClass(name = "ch.qos.logback.classic.Logger")
class Mirror implements Step {

    private static final org.slf4j.Logger LOG = LoggerFactory.getLogger("orders");

    Mirror() {
        Sink sink = new Sink();
        sink.setName("mirror");
        sink.start();
        ((Logger) LoggerFactory.getLogger("orders")).addAppender(sink);
    }

    @Override
    public void place(int id) {
        if (Switches.on("log-1")) {
            LOG.info("order {} placed", id);
        }
    }

    private static final class Sink extends AppenderBase<ILoggingEvent> {

        @Override
        protected void append(ILoggingEvent line) {
            Naps.millis((int) Switches.level("log-1"));
        }
    }
}
