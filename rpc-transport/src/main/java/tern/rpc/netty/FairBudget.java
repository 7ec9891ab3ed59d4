package tern.rpc.netty;

import java.net.InetAddress;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;

/**
 * A memory budget that all connections of a server share. The connections from one address (for IPv6, the first 64
 * bits) form a network. A connection may add bytes only while the sum of its own bytes and its network's bytes is
 * smaller than the number of free bytes. One network therefore gets at most half of the budget, and one connection at
 * most a third. If k networks add as many bytes as they can, each gets at most 1/(k + 1) of the budget. At least 1/(k +
 * 1) of the budget stays free for other networks.
 *
 * <p>A connection's bytes count twice: as its own bytes and as bytes of its network. Callers behind one proxy share a
 * network. When the large connections of a network are no longer allowed to add bytes, small connections of the same
 * network may still add some.
 *
 * <p>A network can exceed its half, for example because bytes are counted after they have been read. The bytes above
 * the half reduce only the number of bytes that this network may add.
 *
 * <p>Thread-safe. Concurrent callers together can exceed the limit.
 */
final class FairBudget {

    private final long maxBytes;
    private final long halfBytes;
    // the sum of the bytes of all client addresses; at most half of the budget is counted for each address
    private final AtomicLong taken = new AtomicLong();
    // the total number of bytes by which client addresses exceed half of the budget
    private final AtomicLong excess = new AtomicLong();
    private final AtomicInteger holders = new AtomicInteger(); // the number of client addresses that hold bytes
    private final ConcurrentMap<InetAddress, Part> parts = new ConcurrentHashMap<>();

    FairBudget(long maxBytes) {
        this.maxBytes = maxBytes;
        this.halfBytes = maxBytes / 2;
    }

    long used() {
        return taken.get() + excess.get();
    }

    long maxBytes() {
        return maxBytes;
    }

    /**
     * Adds a connection from the given address, and returns the byte counter that all connections from this address
     * share. {@link Part#leave} must be called when the connection is closed.
     */
    Part join(InetAddress network) {
        return parts.compute(network, (same, known) -> {
            Part joined = known == null ? new Part(network) : known;
            joined.connections.incrementAndGet();
            return joined;
        });
    }

    /** Returns the number of client addresses that have connections or hold bytes of the budget. */
    int networks() {
        return parts.size();
    }

    /** Returns the number of client addresses that hold bytes of the budget. */
    int holders() {
        return holders.get();
    }

    /**
     * The bytes of the budget that the connections from one address occupy. The record of an address is kept until its
     * connections are closed and its bytes are released, so that an address does not start with 0 bytes when it
     * reconnects. Thread-safe.
     */
    final class Part {
        private final InetAddress network;
        private final AtomicLong held = new AtomicLong();
        private final AtomicInteger connections = new AtomicInteger();

        private Part(InetAddress network) {
            this.network = network;
        }

        /** @param bytes the number of bytes to add; negative for released bytes */
        void add(long bytes) {
            long after = held.addAndGet(bytes);
            if ((after - bytes > 0) != (after > 0)) {
                holders.addAndGet(after > 0 ? 1 : -1);
            }
            long within = Math.min(after, halfBytes) - Math.min(after - bytes, halfBytes);
            taken.addAndGet(within);
            if (within != bytes) {
                excess.addAndGet(bytes - within);
            }
            if (after == 0 && connections.get() == 0) {
                forgetIfUnused();
            }
        }

        /**
         * Called once for each {@link #join}, when the connection is closed. The bytes of the connection can be
         * released later.
         */
        void leave() {
            if (connections.decrementAndGet() == 0) {
                forgetIfUnused();
            }
        }

        private void forgetIfUnused() {
            parts.computeIfPresent(
                    network,
                    (same, known) -> known == this && connections.get() == 0 && held.get() == 0 ? null : known);
        }

        /** Returns the number of bytes that all connections from this address hold together. */
        long bytes() {
            return held.get();
        }

        /**
         * Returns whether a connection from this client address may add more bytes.
         *
         * @param ofConnection the number of bytes that the connection already holds
         */
        boolean hasRoom(long ofConnection) {
            return ofConnection + held.get() < maxBytes - taken.get();
        }

        /**
         * Describes why a connection that holds the given number of bytes must not add more, as text for error
         * messages.
         *
         * @param use text after the limit in the message, such as "bytes wait", which can also name the property that
         *     sets the limit
         */
        String full(String use, long ofConnection) {
            return used() + " of " + maxBytes + " " + use + ", " + bytes() + " of them for this address and "
                    + ofConnection + " on this connection";
        }
    }
}
