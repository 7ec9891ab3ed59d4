package tern.rpc.netty;

import io.netty.channel.EventLoop;
import java.time.Duration;
import java.util.Collection;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;

/**
 * Closes idle connections. Each event loop has one timer for all of its connections, because thousands of timers would
 * cost memory and time that idle connections do not need. Thread-safe.
 */
final class IdleSweep {

    /**
     * Minimum number of checks within the idle limit, so that no connection is closed while its last call is being
     * answered.
     */
    private static final int MIN_LOOKS = 4;

    /**
     * Maximum number of checks within the idle limit. A connection is closed at most one 64th of the limit too late.
     */
    private static final int MAX_LOOKS = 64;

    private final long patienceNanos;
    private final Collection<ServerConnection> connections;
    private final Set<EventLoop> looking = ConcurrentHashMap.newKeySet(); // each event loop adds and removes itself

    /** @param connections all open connections of all event loops; may change at any time */
    IdleSweep(Duration patience, Collection<ServerConnection> connections) {
        this.patienceNanos = patience.toNanos();
        this.connections = connections;
    }

    /** Called when a connection of this event loop was opened. Runs on this event loop. */
    void opened(EventLoop loop) {
        if (looking.add(loop)) {
            lookLater(loop, patienceNanos);
        }
    }

    /** @param leftNanos the time until the first connection may exceed the idle limit */
    private void lookLater(EventLoop loop, long leftNanos) {
        long pause = Math.max(patienceNanos / MAX_LOOKS, Math.min(patienceNanos / MIN_LOOKS, leftNanos));
        loop.schedule(() -> look(loop), Math.max(1, pause), TimeUnit.NANOSECONDS);
    }

    private void look(EventLoop loop) {
        long now = System.nanoTime();
        long left = patienceNanos;
        boolean any = false;
        for (ServerConnection connection : connections) {
            if (connection.isOf(loop)) {
                any = true;
                left = Math.min(left, connection.closeIfIdle(now));
            }
        }
        if (any) {
            lookLater(loop, left);
        } else {
            looking.remove(loop);
        }
    }
}
