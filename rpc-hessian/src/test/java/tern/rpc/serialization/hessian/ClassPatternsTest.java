package tern.rpc.serialization.hessian;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.slf4j.LoggerFactory;

/** Tests the warning about configured packages that contain classes known from attacks. */
class ClassPatternsTest {

    private final Logger logger = (Logger) LoggerFactory.getLogger(ClassPatterns.class);
    private final ListAppender<ILoggingEvent> logged = new ListAppender<>();

    @BeforeEach
    void listen() {
        logged.start();
        logger.addAppender(logged);
    }

    @AfterEach
    void stop() {
        logger.detachAppender(logged);
    }

    @ParameterizedTest
    @ValueSource(strings = {"org.**", "com.**", "java.**", "java.util.*", "org.springframework.**", "org.apache.*"})
    void packageWithClassesThatAttacksUseIsNamed(String entry) {
        ClassPatterns patterns = new ClassPatterns(List.of(entry));

        assertThat(patterns.packages()).hasSize(1);
        assertThat(logged.list)
                .extracting(ILoggingEvent::getFormattedMessage)
                .containsExactly("rpc.limits.allowed-classes contains " + entry + ", so messages may contain classes"
                        + " that attacks use. List only packages with data of your own, or single classes");
    }

    @ParameterizedTest
    @ValueSource(strings = {"com.acme.**", "org.*", "orgs.**", "org.apache.commons.lang3.tuple.ImmutablePair"})
    void otherEntriesCauseNoWarning(String entry) {
        ClassPatterns patterns = new ClassPatterns(List.of(entry));

        assertThat(patterns.packages()).isNotEmpty();
        assertThat(logged.list).isEmpty();
    }
}
