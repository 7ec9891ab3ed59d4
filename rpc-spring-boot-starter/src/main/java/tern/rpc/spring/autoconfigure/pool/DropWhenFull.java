package tern.rpc.spring.autoconfigure.pool;

import java.util.concurrent.atomic.LongAdder;
import org.apache.logging.log4j.Level;
import org.apache.logging.log4j.core.async.AsyncQueueFullPolicy;
import org.apache.logging.log4j.core.async.EventRoute;

/**
 * A line for which the ring has no place is dropped and counted, whatever its level: no caller waits. That lines of WARN
 * and ERROR find places longer than others is the work of {@link RingReserve}. Made by Log4j.
 */
public final class DropWhenFull implements AsyncQueueFullPolicy {

    /** Static because Log4j makes the policy and shows it to nobody. */
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
