package tern.rpc.waiting;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.AsyncAppender;
import ch.qos.logback.classic.LoggerContext;
import ch.qos.logback.classic.encoder.PatternLayoutEncoder;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.classic.util.LogbackMDCAdapter;
import ch.qos.logback.core.Appender;
import ch.qos.logback.core.OutputStreamAppender;
import java.io.IOException;
import java.io.OutputStream;
import java.io.PipedInputStream;
import java.io.PipedOutputStream;
import org.apache.logging.log4j.Level;
import org.apache.logging.log4j.core.Logger;
import org.apache.logging.log4j.core.async.AsyncLoggerContext;
import org.apache.logging.log4j.core.config.AbstractConfiguration;
import org.apache.logging.log4j.core.config.AppenderRef;
import org.apache.logging.log4j.core.config.Configuration;
import org.apache.logging.log4j.core.config.ConfigurationSource;
import org.apache.logging.log4j.core.layout.PatternLayout;
import org.apache.logging.log4j.status.StatusLogger;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Threads that really wait in logging systems, because their output is not read. */
@Timeout(90)
class LogsThatBlockTest {

    private static final String LINE = "x".repeat(2_048);

    @BeforeAll
    static void sayNothingOfTheEndOfTheTests() {
        StatusLogger.getLogger().getFallbackListener().setLevel(Level.OFF);
    }

    /** Accepts 1 KB and then blocks writers. */
    private static OutputStream full() throws IOException {
        return new PipedOutputStream(new PipedInputStream(1_024));
    }

    /** A configuration that the tests fill. With the default configuration Log4j creates no ring buffer. */
    private static final class Empty extends AbstractConfiguration {
        Empty() {
            super(null, ConfigurationSource.NULL_SOURCE);
            isShutdownHookEnabled = false; // the hook would wait for the ring buffer, which is never emptied
        }

        @Override
        protected void doConfigure() {
            // nothing is read
        }
    }

    private static org.apache.logging.log4j.core.Appender log4jAppender(Configuration configuration)
            throws IOException {
        org.apache.logging.log4j.core.Appender appender =
                org.apache.logging.log4j.core.appender.OutputStreamAppender.newBuilder()
                        .setName("full")
                        .setTarget(full())
                        .setLayout(PatternLayout.newBuilder()
                                .withConfiguration(configuration)
                                .build())
                        .setConfiguration(configuration)
                        .build();
        appender.start();
        configuration.addAppender(appender);
        return appender;
    }

    private static Logger start(
            org.apache.logging.log4j.core.LoggerContext context,
            Configuration configuration,
            org.apache.logging.log4j.core.Appender appender) {
        configuration.getRootLogger().addAppender(appender, Level.INFO, null);
        configuration.getRootLogger().setLevel(Level.INFO);
        context.start(configuration);
        return context.getLogger("shop");
    }

    @Test
    void log4jWhoseAppenderIsBlockedAndThoseBehindIt() throws IOException {
        Configuration configuration = new Empty();
        Logger logger = start(
                new org.apache.logging.log4j.core.LoggerContext("synchronous"),
                configuration,
                log4jAppender(configuration));

        try (Blocked first = new Blocked(() -> log(logger, 3))) {
            assertThat(first.wait(false)).isEqualTo(new Wait("Log4j 2: appender", "rpc.logging.async"));

            try (Blocked second = new Blocked(() -> log(logger, 3))) {
                assertThat(second.wait(false)).isEqualTo(new Wait("Log4j 2: appender", "rpc.logging.async"));
            }
        }
    }

    @Test
    void log4jWhoseRingIsFull() throws IOException {
        System.setProperty("log4j2.asyncLoggerRingBufferSize", "128");
        try {
            Configuration configuration = new Empty();
            Logger logger = start(new AsyncLoggerContext("ring"), configuration, log4jAppender(configuration));

            try (Blocked blocked = new Blocked(() -> log(logger, 100_000))) {
                assertThat(blocked.waitsFor("Log4j 2: full ring").change()).isEqualTo("rpc.logging.async");
            }
        } finally {
            System.clearProperty("log4j2.asyncLoggerRingBufferSize");
        }
    }

    @Test
    void log4jWhoseAsynchronousAppenderIsFull() throws IOException {
        Configuration configuration = new Empty();
        log4jAppender(configuration);
        org.apache.logging.log4j.core.appender.AsyncAppender queue =
                org.apache.logging.log4j.core.appender.AsyncAppender.newBuilder()
                        .setName("queue")
                        .setBufferSize(1)
                        .setAppenderRefs(new AppenderRef[] {AppenderRef.createAppenderRef("full", null, null)})
                        .setConfiguration(configuration)
                        .build();
        queue.start();
        Logger logger = start(new org.apache.logging.log4j.core.LoggerContext("queue"), configuration, queue);

        try (Blocked blocked = new Blocked(() -> log(logger, 100))) {
            assertThat(blocked.wait(false))
                    .isEqualTo(new Wait("Log4j 2: full queue of the asynchronous appender", "rpc.logging.async"));
        }
    }

    private static Object log(Logger logger, int lines) {
        for (int i = 0; i < lines; i++) {
            logger.info(LINE);
        }
        return logger;
    }

    @Test
    void logbackWhoseAppenderIsBlockedAndThoseBehindIt() throws IOException {
        LoggerContext context = logback();
        ch.qos.logback.classic.Logger logger = context.getLogger("shop");
        logger.addAppender(logbackAppender(context));

        try (Blocked first = new Blocked(() -> log(logger, 3))) {
            assertThat(first.wait(false).resource()).isEqualTo("Logback: appender");

            try (Blocked second = new Blocked(() -> log(logger, 3))) {
                assertThat(second.wait(false).resource()).isEqualTo("Logback: appender");
            }
        }
    }

    @Test
    void logbackWhoseAsynchronousAppenderIsFull() throws IOException {
        LoggerContext context = logback();
        AsyncAppender queue = new AsyncAppender();
        queue.setContext(context);
        queue.setQueueSize(1);
        queue.setDiscardingThreshold(0);
        queue.addAppender(logbackAppender(context));
        queue.start();
        ch.qos.logback.classic.Logger logger = context.getLogger("shop");
        logger.addAppender(queue);

        try (Blocked blocked = new Blocked(() -> log(logger, 100))) {
            assertThat(blocked.wait(false).resource()).isEqualTo("Logback: full queue of the asynchronous appender");
        }
    }

    private static LoggerContext logback() {
        LoggerContext context = new LoggerContext();
        context.setMDCAdapter(new LogbackMDCAdapter());
        return context;
    }

    private static Appender<ILoggingEvent> logbackAppender(LoggerContext context) throws IOException {
        PatternLayoutEncoder encoder = new PatternLayoutEncoder();
        encoder.setContext(context);
        encoder.setPattern("%msg%n");
        encoder.start();
        OutputStreamAppender<ILoggingEvent> appender = new OutputStreamAppender<>();
        appender.setContext(context);
        appender.setEncoder(encoder);
        appender.setOutputStream(full());
        appender.start();
        return appender;
    }

    private static Object log(ch.qos.logback.classic.Logger logger, int lines) {
        for (int i = 0; i < lines; i++) {
            logger.info(LINE);
        }
        return logger;
    }

    @Test
    void threadsThatWriteForOthersAreIdleUntilThereIsALine() throws IOException {
        LoggerContext context = logback();
        AsyncAppender queue = new AsyncAppender();
        queue.setContext(context);
        queue.setName("idle-queue");
        queue.addAppender(logbackAppender(context));
        queue.start();

        assertThat(Blocked.classifyThread("AsyncAppender-Worker-idle-queue")).isEqualTo(Wait.IDLE);
    }
}
