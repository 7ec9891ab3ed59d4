package tern.rpc.netty;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.LoggerContext;
import ch.qos.logback.classic.turbo.TurboFilter;
import ch.qos.logback.core.spi.FilterReply;
import io.netty.handler.codec.http2.Http2Exception;
import java.io.IOException;
import org.jspecify.annotations.Nullable;
import org.slf4j.LoggerFactory;
import org.slf4j.Marker;
import tern.rpc.RpcException;
import tern.rpc.StatusCode;

/**
 * Detects unexpected exceptions: exceptions that are logged at any level, and exceptions that are passed to this
 * object. Drops all other log entries, because formatting them would take longer than the tested code.
 */
final class Unforeseen extends TurboFilter implements AutoCloseable {

    private static final String OURS = "tern.rpc";

    private final Logger logger = (Logger) LoggerFactory.getLogger(OURS);
    private @Nullable Throwable first;

    Unforeseen() {
        LoggerContext loggers = logger.getLoggerContext();
        setContext(loggers);
        start();
        loggers.addTurboFilter(this);
        logger.setLevel(Level.DEBUG);
    }

    @Override
    public FilterReply decide(
            @Nullable Marker marker,
            Logger by,
            Level level,
            @Nullable String format,
            @Nullable Object @Nullable [] arguments,
            @Nullable Throwable thrown) {
        if (format == null || !by.getName().startsWith(OURS)) {
            return FilterReply.NEUTRAL;
        }
        Throwable cause = thrown;
        if (cause == null
                && arguments != null
                && arguments.length > 0
                && arguments[arguments.length - 1] instanceof Throwable last) {
            cause = last;
        }
        boolean byService = format.contains("failed with an exception that ");
        if (cause != null && !byService) {
            look(cause);
        }
        return FilterReply.DENY;
    }

    void look(Throwable thrown) {
        Throwable cause = thrown;
        while (cause.getCause() != null && !(cause instanceof RpcException) && !(cause instanceof Http2Exception)) {
            cause = cause.getCause();
        }
        boolean foreseen = cause instanceof Http2Exception
                || cause instanceof IOException
                || (cause instanceof RpcException refusal && refusal.code() != StatusCode.INTERNAL);
        if (!foreseen && first == null) {
            first = thrown;
        }
    }

    /** Fails if an unexpected exception has occurred since the last check. */
    void check() {
        Throwable found = first;
        if (found != null) {
            first = null;
            throw new AssertionError("unforeseen: " + found, found);
        }
    }

    @Override
    public void close() {
        LoggerContext loggers = logger.getLoggerContext();
        loggers.getTurboFilterList().remove(this);
        logger.setLevel(null);
    }
}
