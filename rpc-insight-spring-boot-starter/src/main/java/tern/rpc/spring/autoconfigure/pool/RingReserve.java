package tern.rpc.spring.autoconfigure.pool;

import java.util.concurrent.atomic.LongAdder;
import org.apache.logging.log4j.Level;
import org.apache.logging.log4j.core.LogEvent;
import org.apache.logging.log4j.core.async.AsyncLoggerConfig;
import org.apache.logging.log4j.core.filter.AbstractFilter;
import org.apache.logging.log4j.core.jmx.RingBufferAdmin;
import tern.rpc.CallLedger;
import tern.rpc.Phase;

/**
 * Reserves the last {@link #RESERVE} slots of the ring buffer for WARN and ERROR, or half of a small ring buffer. When
 * only these slots are free, lines at INFO and below are dropped and counted. Thread-safe.
 */
final class RingReserve extends AbstractFilter {

    static final int RESERVE = 4 * 1_024; // the number of slots in the ring buffer; see docs/limits.md

    private final RingBufferAdmin ring;
    private final int reserve;
    private final LongAdder dropped = new LongAdder();
    private final LongAdder lines = new LongAdder();

    RingReserve(RingBufferAdmin ring) {
        this.ring = ring;
        this.reserve = (int) Math.min(RESERVE, ring.getBufferSize() / 2);
    }

    static RingReserve before(AsyncLoggerConfig logger, String context) {
        RingReserve reserve = new RingReserve(logger.createRingBufferAdmin(context));
        reserve.start();
        logger.addFilter(reserve);
        return reserve;
    }

    @Override
    public Result filter(LogEvent event) {
        if (event.getThreadId() != Thread.currentThread().getId()) {
            // Log4j's background thread also calls this method, for lines that are already in the ring buffer. These
            // lines must not be counted or dropped.
            return Result.NEUTRAL;
        }
        // The line is recorded with a duration of 0, because the duration is too short to measure.
        CallLedger.current().add(Phase.LOGGING, 0);
        lines.increment();
        if (event.getLevel().isMoreSpecificThan(Level.WARN) || ring.getRemainingCapacity() > reserve) {
            return Result.NEUTRAL;
        }
        dropped.increment();
        return Result.DENY;
    }

    int size() {
        return (int) ring.getBufferSize();
    }

    int free() {
        return (int) ring.getRemainingCapacity();
    }

    long lines() {
        return lines.sum();
    }

    long dropped() {
        return dropped.sum() + DropWhenFull.dropped();
    }
}
