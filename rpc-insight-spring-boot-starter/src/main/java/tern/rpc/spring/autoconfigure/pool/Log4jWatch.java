package tern.rpc.spring.autoconfigure.pool;

import java.beans.PropertyChangeListener;
import java.time.Duration;
import java.util.List;
import org.apache.logging.log4j.LogManager;
import org.apache.logging.log4j.core.Appender;
import org.apache.logging.log4j.core.LogEvent;
import org.apache.logging.log4j.core.LoggerContext;
import org.apache.logging.log4j.core.appender.AbstractAppender;
import org.apache.logging.log4j.core.async.AsyncLoggerConfig;
import org.apache.logging.log4j.core.async.AsyncLoggerContext;
import org.apache.logging.log4j.core.config.AppenderRef;
import org.apache.logging.log4j.core.config.LoggerConfig;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.DisposableBean;
import org.springframework.beans.factory.SmartInitializingSingleton;
import tern.rpc.CallLedger;
import tern.rpc.Phase;
import tern.rpc.pool.LoggingMode;
import tern.rpc.pool.PoolKind;
import tern.rpc.pool.PoolSetting;
import tern.rpc.pool.PoolSetting.Source;
import tern.rpc.pool.PoolSnapshot;

/**
 * Measures logging with Log4j 2. The time that calling threads spend on log lines is recorded in the ledgers of their
 * calls, and the ring buffer appears as a pool.
 */
final class Log4jWatch implements LoggingWatch, SmartInitializingSingleton, DisposableBean {

    private final LoggerContext context;
    private final PoolSources sources;
    private final SettingOrigins origins;
    private final boolean disruptor;
    private final PropertyChangeListener onNewConfiguration = event -> {
        if (LoggerContext.PROPERTY_CONFIG.equals(event.getPropertyName())) {
            watch();
        }
    };

    private volatile @Nullable RingReserve ring;

    Log4jWatch(LoggerContext context, PoolSources sources, SettingOrigins origins, boolean disruptor) {
        this.context = context;
        this.sources = sources;
        this.origins = origins;
        this.disruptor = disruptor;
    }

    /** Returns Log4j's context, or null if another implementation provides Log4j's API. */
    static @Nullable LoggerContext context() {
        return LogManager.getContext(false) instanceof LoggerContext core ? core : null;
    }

    @Override
    public void afterSingletonsInstantiated() {
        watch();
        context.addPropertyChangeListener(onNewConfiguration);
        if (ring != null) {
            sources.add("log4j2", this::snapshot);
        }
    }

    @Override
    public void destroy() {
        context.removePropertyChangeListener(onNewConfiguration);
    }

    private void watch() {
        LoggerConfig root = context.getConfiguration().getRootLogger();
        if (root instanceof AsyncLoggerConfig async) {
            if (DropWhenFull.class.getName().equals(System.getProperty(AsyncLogging.POLICY))) {
                ring = RingReserve.before(async, context.getName());
            }
        } else if (!(context instanceof AsyncLoggerContext)) {
            context.getConfiguration().getLoggers().values().forEach(Log4jWatch::watch);
        }
    }

    private static void watch(LoggerConfig logger) {
        for (Appender appender : List.copyOf(logger.getAppenders().values())) {
            if (appender instanceof Watched) {
                continue;
            }
            AppenderRef ref = logger.getAppenderRefs().stream()
                    .filter(candidate -> candidate.getRef().equals(appender.getName()))
                    .findFirst()
                    .orElse(null);
            logger.removeAppender(appender.getName());
            Watched watched = new Watched(appender);
            watched.start();
            logger.addAppender(watched, ref == null ? null : ref.getLevel(), ref == null ? null : ref.getFilter());
        }
    }

    @Override
    public LoggingMode mode() {
        boolean async = context instanceof AsyncLoggerContext
                || context.getConfiguration().getRootLogger() instanceof AsyncLoggerConfig;
        if (async) {
            return LoggingMode.ASYNCHRONOUS;
        }
        Boolean wanted = origins.value(AsyncLogging.PROPERTY, Boolean.class);
        if (wanted != null && !wanted) {
            return LoggingMode.SWITCHED_OFF;
        }
        // If the application configures Log4j itself, the disruptor's presence has no effect.
        boolean isConfigured =
                AsyncLogging.isConfigured(origins.isSet(AsyncLogging.LOCATION), Log4jWatch.class.getClassLoader());
        return disruptor || isConfigured ? LoggingMode.OWN_CONFIGURATION : LoggingMode.NO_DISRUPTOR;
    }

    private PoolSnapshot snapshot() {
        RingReserve now = ring;
        int size = now == null ? 0 : now.size();
        int free = now == null ? 0 : now.free();
        return PoolSnapshot.builder("log4j2", PoolKind.LOGGING, size)
                .now(size - free, free, 0)
                .queueCapacity(0)
                .waitLimit(Duration.ZERO)
                .counts(now == null ? 0 : now.lines(), now == null ? 0 : now.dropped())
                .settings(List.of(
                        origins.setting(AsyncLogging.PROPERTY, true, Source.TUNED),
                        new PoolSetting(AsyncLogging.RING, Integer.toString(size), Source.TUNED)))
                .build();
    }

    /** Wraps an appender, and records the time spent in it in the ledger of the call that writes the line. */
    private static final class Watched extends AbstractAppender {

        private final Appender appender;

        Watched(Appender appender) {
            super(appender.getName(), null, null, appender.ignoreExceptions(), null);
            this.appender = appender;
        }

        @Override
        public void append(LogEvent event) {
            CallLedger ledger = CallLedger.current();
            Phase outer = ledger.enter(Phase.LOGGING);
            try {
                appender.append(event);
            } finally {
                ledger.leave(outer);
            }
        }
    }
}
