package tern.rpc.serialization.protobuf;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import com.google.protobuf.StringValue;
import org.junit.jupiter.api.Test;
import org.slf4j.LoggerFactory;
import tern.rpc.cluster.Hashes;

/** Tests consistent-hash load balancing with protobuf messages as keys. */
class MessageKeysTest {

    /** A message's hash code depends on the identity of its descriptor object. */
    @Test
    void messageAsAKeyIsNamedOnceBecauseItsHashDiffersBetweenProcesses() {
        Logger logger = (Logger) LoggerFactory.getLogger(Hashes.class);
        ListAppender<ILoggingEvent> lines = new ListAppender<>();
        lines.start();
        logger.addAppender(lines);
        try {
            long hash = Hashes.ofKey(StringValue.of("ada"));

            assertThat(Hashes.ofKey(StringValue.of("ada"))).isEqualTo(hash);
            assertThat(lines.list)
                    .singleElement()
                    .extracting(ILoggingEvent::getFormattedMessage)
                    .asString()
                    .contains(StringValue.class.getName(), "CallOptions.key");
        } finally {
            logger.detachAppender(lines);
        }
    }
}
