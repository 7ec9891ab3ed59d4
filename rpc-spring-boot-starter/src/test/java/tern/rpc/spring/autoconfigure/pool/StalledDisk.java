package tern.rpc.spring.autoconfigure.pool;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.apache.logging.log4j.core.LogEvent;
import org.apache.logging.log4j.core.LoggerContext;
import org.apache.logging.log4j.core.appender.AbstractAppender;
import org.apache.logging.log4j.core.async.AsyncLoggerConfig;
import org.apache.logging.log4j.core.config.ConfigurationSource;
import org.apache.logging.log4j.core.config.xml.XmlConfiguration;

/**
 * A Log4j 2 context with Tern's policy for a full ring buffer. Its only appender blocks on the first line until the
 * test releases it.
 */
final class StalledDisk implements AutoCloseable {

    private final List<String> written = new CopyOnWriteArrayList<>();
    private final CountDownLatch stalled = new CountDownLatch(1);
    private final CountDownLatch writeOn = new CountDownLatch(1);
    private final LoggerContext context;

    /**
     * @param ring the size of the ring buffer; the size cannot change after the process has created its first
     *     asynchronous logger
     */
    StalledDisk(int ring) {
        System.setProperty(AsyncLogging.POLICY, DropWhenFull.class.getName());
        System.setProperty(AsyncLogging.RING, Integer.toString(ring));
        context = new LoggerContext("test");
    }

    /** @param root the XML element of the root logger: {@code AsyncRoot} or {@code Root} */
    LoggerContext start(String root) throws IOException {
        String xml = "<Configuration status='OFF'><Loggers><" + root + " level='INFO'/></Loggers></Configuration>";
        context.start(new XmlConfiguration(
                context, new ConfigurationSource(new ByteArrayInputStream(xml.getBytes(StandardCharsets.UTF_8)))));
        AbstractAppender appender = new AbstractAppender("disk", null, null, true, null) {
            @Override
            public void append(LogEvent event) {
                write(event);
            }
        };
        appender.start();
        context.getConfiguration().getRootLogger().addAppender(appender, null, null);
        return context;
    }

    private void write(LogEvent event) {
        stalled.countDown();
        try {
            writeOn.await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        written.add(event.getMessage().getFormattedMessage());
    }

    LoggerContext context() {
        return context;
    }

    RingReserve reserve() {
        return RingReserve.before((AsyncLoggerConfig) context.getConfiguration().getRootLogger(), "test");
    }

    /** Waits until the first line has reached the disk. */
    void awaitStalled() throws InterruptedException {
        stalled.await();
    }

    void writeOn() {
        writeOn.countDown();
    }

    List<String> written() {
        return written;
    }

    /**
     * Stops the log context.
     *
     * @return whether all waiting lines were written
     */
    boolean stop() {
        return context.stop(30, TimeUnit.SECONDS);
    }

    @Override
    public void close() {
        writeOn();
        stop();
        System.clearProperty(AsyncLogging.POLICY);
        System.clearProperty(AsyncLogging.RING);
    }
}
