package tern.rpc.health;

import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.Comparator;
import java.util.Deque;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The open Watch calls. If there are too many open calls, one call ends: the newest call of the connection with the
 * most calls, at the address with the most calls. One caller therefore cannot lock out other callers. Not thread-safe.
 */
final class OpenWatches {

    /** The open calls of one address, by connection. The last call of a queue is the newest. */
    private static final class Network {
        private final Map<Object, Deque<HealthWatch>> connections = new HashMap<>();
        private int open;

        int of(Object connection) {
            Deque<HealthWatch> calls = connections.get(connection);
            return calls == null ? 0 : calls.size();
        }

        Deque<HealthWatch> largest() {
            return connections.values().stream()
                    .max(Comparator.comparingInt(Deque::size))
                    .orElseThrow();
        }
    }

    private final int most;
    private final Map<Object, Network> networks = new HashMap<>();
    private int open;

    OpenWatches(int most) {
        this.most = most;
    }

    /**
     * Adds a call.
     *
     * @return the call that must end; null if the limit is not reached. If the returned call is the given call, the
     *     given call was not added. Otherwise, the given call has replaced the returned call
     */
    @Nullable
    HealthWatch add(HealthWatch added) {
        HealthWatch ended = open < most ? null : chooseFor(added);
        if (ended == added) {
            return ended;
        }
        if (ended != null) {
            remove(ended);
        }
        Network network = networks.computeIfAbsent(network(added.connection()), unseen -> new Network());
        network.connections
                .computeIfAbsent(added.connection(), unseen -> new ArrayDeque<>())
                .addLast(added);
        network.open++;
        open++;
        return ended;
    }

    /**
     * Chooses the call that must end. An earlier call is chosen only if its address has more calls than the new call's
     * address, counting the new call. Within one address, the same rule applies to connections. Otherwise, the new call
     * is chosen.
     */
    private HealthWatch chooseFor(HealthWatch added) {
        Network own = networks.get(network(added.connection()));
        Network largest = networks.values().stream()
                .max(Comparator.comparingInt(network -> network.open))
                .orElseThrow();
        int ofOwn = own == null ? 0 : own.open;
        if (ofOwn + 1 < largest.open) {
            return largest.largest().getLast();
        }
        if (own != null) {
            Deque<HealthWatch> calls = own.largest();
            if (own.of(added.connection()) + 1 < calls.size()) {
                return calls.getLast();
            }
        }
        return added;
    }

    /** Removes a call. Does nothing if the call is not open. */
    void remove(HealthWatch ended) {
        Object key = network(ended.connection());
        Network network = networks.get(key);
        Deque<HealthWatch> calls = network == null ? null : network.connections.get(ended.connection());
        if (network == null || calls == null || !calls.removeLastOccurrence(ended)) {
            return;
        }
        open--;
        network.open--;
        if (calls.isEmpty()) {
            network.connections.remove(ended.connection());
        }
        if (network.open == 0) {
            networks.remove(key);
        }
    }

    /** Returns the number of open calls of an address. */
    int ofNetwork(Object connection) {
        Network network = networks.get(network(connection));
        return network == null ? 0 : network.open;
    }

    int open() {
        return open;
    }

    /**
     * Returns an object that is equal for all connections from one address. For an IPv6 address, only the first 64 bits
     * are compared, because one owner usually controls all addresses with the same prefix.
     */
    private static Object network(Object connection) {
        InetAddress address = connection instanceof InetSocketAddress peer ? peer.getAddress() : null;
        if (address == null) {
            return connection;
        }
        return address instanceof Inet6Address
                ? ByteBuffer.wrap(address.getAddress()).getLong()
                : address;
    }
}
