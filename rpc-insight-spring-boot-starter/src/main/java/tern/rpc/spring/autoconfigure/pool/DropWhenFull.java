package tern.rpc.spring.autoconfigure.pool;

import java.util.concurrent.atomic.LongAdder;
import org.apache.logging.log4j.Level;
import org.apache.logging.log4j.core.async.AsyncQueueFullPolicy;
import org.apache.logging.log4j.core.async.EventRoute;

/**
 * Drops and counts log lines of any level if the ring buffer is full, so that calling threads never block.
 * {@link RingReserve} reserves slots in the ring buffer for WARN and ERROR lines. Log4j creates the instance.
 */
public final class DropWhenFull implements AsyncQueueFullPolicy {

    /** The number of dropped lines. The field is static, because Log4j creates the policy and does not expose it. */
    private static final LongAdder DROPPED = new LongAdder();

    static long dropped() {
        return DROPPED.sum();
    }

    @Override
    public EventRoute getRoute(long backgroundThreadId, Level level) {
        DROPPED.increment();
        return EventRoute.DISCARD;
    }
}
