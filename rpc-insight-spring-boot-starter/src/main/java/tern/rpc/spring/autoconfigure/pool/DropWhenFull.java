package tern.rpc.spring.autoconfigure.pool;

import java.util.concurrent.atomic.LongAdder;
import org.apache.logging.log4j.Level;
import org.apache.logging.log4j.core.async.AsyncQueueFullPolicy;
import org.apache.logging.log4j.core.async.EventRoute;

/**
 * Drops and counts lines of any level when the ring is full, so that no caller waits. {@link RingReserve} reserves
 * places for WARN and ERROR. Created by Log4j.
 */
public final class DropWhenFull implements AsyncQueueFullPolicy {

    /** Static, because Log4j creates the policy and does not expose it. */
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
