package tern.rpc.netty;

import io.netty.channel.EventLoop;
import java.net.InetAddress;
import java.util.ArrayDeque;
import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.Executor;
import org.jspecify.annotations.Nullable;

/**
 * Divides the time of one event loop among the networks (the remote addresses, for IPv6 the first 64 bits) from which a
 * server has connections. {@link FairReads} limits the time for each connection, so an address with a thousand busy
 * connections would still get a thousand times as much time as an address with one connection.
 *
 * <p>An event loop works in passes: it reads once from each connection that has received bytes, and then runs its
 * tasks. All networks together get {@link #PASS_NANOS} in one pass, in equal shares. When a network's connections have
 * used up its share, the server pauses reading from each of them after its next read. After each pass, the server
 * resumes reading from the connections that have been paused the longest. The share of their network determines the
 * number of these connections. The next pass begins immediately, so no time is lost if only one network is sending
 * bytes. Confined to the event loop.
 */
final class LoopShares {

    /** The time that all client addresses together get in one pass of the event loop (docs/limits.md). */
    static final long PASS_NANOS = FairReads.ROUND_NANOS;

    /**
     * The minimum time that a busy client address gets in one pass of the event loop. If too many addresses are busy to
     * give each of them this time, the addresses take turns.
     */
    static final long MIN_SHARE_NANOS = FairReads.MIN_TURN_NANOS;

    private static final Runnable NEXT_PASS = () -> {};

    private final Executor loop;
    private final Map<InetAddress, Network> networks = new HashMap<>();
    private final Queue<Network> resting = new ArrayDeque<>(); // the client addresses that have paused connections
    private int pass;
    private int active; // the number of addresses from which bytes were read in the current pass of the event loop
    private int activeBefore; // the number of addresses from which bytes were read in the previous pass

    /** @param loop the event loop, which must not wait for sockets while it has tasks */
    LoopShares(Executor loop) {
        this.loop = loop;
    }

    /**
     * Adds a connection like {@link #join(InetAddress)}. Returns null if the event loop does not divide its time among
     * addresses.
     */
    static @Nullable Network join(EventLoop loop, InetAddress address) {
        return loop instanceof ErrorTolerantLoop enduring ? enduring.shares().join(address) : null;
    }

    /** Adds a connection from the given address. {@link Network#leave} must be called when the connection is closed. */
    Network join(InetAddress address) {
        Network joined = networks.computeIfAbsent(address, Network::new);
        joined.connections++;
        return joined;
    }

    private long shareNanos() {
        int parts = Math.max(resting.size(), Math.max(active, activeBefore));
        return Math.max(MIN_SHARE_NANOS, PASS_NANOS / Math.max(1, parts));
    }

    /** Called after the event loop has read from all ready connections and has run its tasks. */
    void passEnds() {
        long share = shareNanos();
        pass++;
        activeBefore = active;
        active = 0;
        long left = PASS_NANOS;
        try {
            for (int i = resting.size(); i > 0 && left > 0; i--) {
                Network next = resting.remove();
                try {
                    left -= next.resume(share);
                } finally { // after an error, the remaining connections from this address must still be read later
                    next.rests = !next.waiting.isEmpty();
                    if (next.rests) {
                        resting.add(next);
                    }
                }
            }
        } finally {
            if (!resting.isEmpty()) {
                // The event loop must not block for connections whose reading has just resumed, because they may have
                // received nothing.
                loop.execute(NEXT_PASS);
            }
        }
    }

    /** The connections from one address. */
    final class Network {
        private final InetAddress address;
        // the paused connections, the longest paused first
        private final Set<SocketReading> waiting = new LinkedHashSet<>();
        private final FairReads.BusyNetwork busy = new FairReads.BusyNetwork();
        private int connections;
        private boolean rests; // true while this address is in the queue of addresses with paused connections
        private int countedIn = -1; // the last pass of the event loop in which bytes from this address were read
        private long usedNanos; // how much of its share this address has used

        private Network(InetAddress address) {
            this.address = address;
        }

        FairReads.BusyNetwork busy() {
            return busy;
        }

        /**
         * Called when a connection is closed. A closed connection is removed from the paused connections at once,
         * because a peer could close connections faster than the event loop resumes them.
         */
        void leave(SocketReading connection) {
            waiting.remove(connection);
            if (--connections == 0) {
                networks.remove(address);
            }
        }

        /**
         * Called after bytes of a connection have been read and processed.
         *
         * @param nanos the time that reading and processing took
         */
        void used(SocketReading connection, long nanos) {
            if (countedIn != pass) {
                countedIn = pass;
                active++;
                if (waiting.isEmpty()) {
                    usedNanos = 0;
                }
            }
            usedNanos += nanos;
            if (!connection.isResting()
                    && (!waiting.isEmpty() || usedNanos > shareNanos())
                    && mayRest()
                    && connection.isOpen()) {
                if (!rests) {
                    rests = true;
                    resting.add(this);
                }
                waiting.add(connection);
                connection.rest(true);
            }
        }

        /**
         * Returns whether connections from this address may be paused. A pause gives time to other addresses, so
         * connections are paused only if at least two addresses have connections. The event loop reads once from each
         * connection in a pass, so an address with one connection uses little more than its share. Such a connection is
         * paused only if there are very many addresses.
         */
        private boolean mayRest() {
            return networks.size() > 1 && (connections > 1 || shareNanos() == MIN_SHARE_NANOS);
        }

        /**
         * Resumes reading from the connections that have been paused the longest.
         *
         * @return the expected time for reading from these connections
         */
        private long resume(long share) {
            usedNanos = Math.max(0, usedNanos - share);
            long permitted = networks.size() > 1 ? share - usedNanos : Long.MAX_VALUE;
            long given = 0;
            while (given < permitted && !waiting.isEmpty()) {
                Iterator<SocketReading> longest = waiting.iterator();
                SocketReading next = longest.next();
                longest.remove();
                given += next.usedNanos();
                next.rest(false);
            }
            return given;
        }
    }
}
