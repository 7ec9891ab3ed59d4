package tern.rpc.netty;

import io.netty.channel.EventLoop;
import java.time.Duration;
import java.util.Collection;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;

/**
 * Closes idle connections of a server. Each event loop has one timer for all of its connections. A timer for each
 * connection would cost too much memory and time if there are thousands of idle connections. Thread-safe.
 */
final class IdleSweep {

    /**
     * The interval between two checks is at most 1/{@value} of the idle timeout. With a longer interval, a connection
     * could be closed while its last call is being answered.
     */
    private static final int MIN_LOOKS = 4;

    /**
     * The interval between two checks is at least 1/{@value} of the idle timeout. A connection can therefore be closed
     * up to this interval after its timeout.
     */
    private static final int MAX_LOOKS = 64;

    private final long patienceNanos;
    private final Collection<ServerConnection> connections;
    // the event loops that have scheduled a check; each event loop adds and removes itself
    private final Set<EventLoop> looking = ConcurrentHashMap.newKeySet();

    /**
     * @param connections all open connections of all event loops; can change at any time
     */
    IdleSweep(Duration patience, Collection<ServerConnection> connections) {
        this.patienceNanos = patience.toNanos();
        this.connections = connections;
    }

    /** Called when a connection has been opened on the given event loop. Must run on this event loop. */
    void opened(EventLoop loop) {
        if (looking.add(loop)) {
            lookLater(loop, patienceNanos);
        }
    }

    /** @param leftNanos the shortest time after which a connection can reach the idle timeout */
    private void lookLater(EventLoop loop, long leftNanos) {
        long pause = Math.max(patienceNanos / MAX_LOOKS, Math.min(patienceNanos / MIN_LOOKS, leftNanos));
        loop.schedule(() -> look(loop), Math.max(1, pause), TimeUnit.NANOSECONDS);
    }

    private void look(EventLoop loop) {
        long now = System.nanoTime();
        long left = patienceNanos;
        boolean any = true;
        try {
            any = false;
            for (ServerConnection connection : connections) {
                if (connection.isOf(loop)) {
                    any = true;
                    left = Math.min(left, connection.closeIfIdle(now));
                }
            }
        } finally { // the next check must be scheduled even after an exception
            if (any) {
                lookLater(loop, left);
            } else {
                looking.remove(loop);
            }
        }
    }
}
