package tern.rpc.netty;

import io.netty.channel.EventLoop;
import java.time.Duration;
import java.util.Collection;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;

/**
 * Closes connections on which nothing was read for long. Each event loop has one timer for all of its connections, since a
 * timer for each of thousands would take memory and time that an idle connection does not need otherwise. Thread-safe.
 */
final class IdleSweep {

    /**
     * Looks, at least, in the time after which a connection is closed: none is closed whose last call is being answered just
     * now.
     */
    private static final int FEWEST_LOOKS = 4;

    /** Looks, at most, in that time; so a connection is closed at most one 64th of it too late. */
    private static final int MAX_LOOKS = 64;

    private final long patienceNanos;
    private final Collection<ServerConnection> connections;
    private final Set<EventLoop> looking = ConcurrentHashMap.newKeySet(); // each is added and removed by itself

    /** @param connections all that are open, of all event loops; may change at any time */
    IdleSweep(Duration patience, Collection<ServerConnection> connections) {
        this.patienceNanos = patience.toNanos();
        this.connections = connections;
    }

    /** A connection of this event loop was opened. Event loop only. */
    void opened(EventLoop loop) {
        if (looking.add(loop)) {
            lookLater(loop, patienceNanos);
        }
    }

    /** @param leftNanos until the first connection may be idle for too long */
    private void lookLater(EventLoop loop, long leftNanos) {
        long pause = Math.max(patienceNanos / MAX_LOOKS, Math.min(patienceNanos / FEWEST_LOOKS, leftNanos));
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
