package tern.rpc.netty;

import java.net.InetAddress;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Chooses the connections to close when a new connection exceeds a limit. A connection is silent if no call other than
 * a health watch is running on it, and no call has been answered for a minute. An unused connection, on which no call
 * has ever been made, is silent after ten seconds. Shorter times apply to connections from an address that has many
 * more connections than the address of the new connection: ten seconds without an answered call, or one second for an
 * unused connection.
 *
 * <p>The address with the most connections loses connections first. An address with fewer connections than the address
 * of the new connection loses none. Within an address, unused connections are closed first, starting with the oldest.
 * The other connections are closed in the order of their last answers.
 *
 * <p>All methods are pure functions. For IPv6, the first 64 bits are used as the address.
 */
final class SilentConnections {

    /**
     * A connection on which calls have been made counts as silent if no call has been answered for this long
     * (docs/limits.md).
     */
    static final long SILENT_NANOS = TimeUnit.SECONDS.toNanos(60);

    /** The time after which a connection without any call counts as silent. The time includes handshakes. */
    static final long UNUSED_NANOS = TimeUnit.SECONDS.toNanos(10);

    /**
     * A connection whose address has many more connections than the address of the new connection counts as silent if
     * no call has been answered for this long. An address has many more connections if it has more than twice as many
     * connections plus eight.
     */
    static final long SILENT_OF_MANY_NANOS = TimeUnit.SECONDS.toNanos(10);

    /**
     * The time after which an unused connection counts as silent if its address has many more connections than the
     * address of the new connection.
     */
    static final long UNUSED_OF_MANY_NANOS = TimeUnit.SECONDS.toNanos(1);

    private static final int MANY = 8;

    /** An open connection. */
    interface Open {

        /** Returns the address of the peer; for IPv6, its first 64 bits. */
        InetAddress network();

        /**
         * Returns whether the connection must stay open, because a call other than a health watch is running or
         * arriving on it. Also returns true if the connection is already being closed.
         */
        boolean isInUse();

        boolean hasMadeCalls();

        /**
         * Returns the time of the last answer, or the time when the connection was opened if no call has been answered.
         */
        long quietSinceNanos();
    }

    /** The state of a connection at the time of the check. The connection itself can change at any time. */
    private record Silent<C extends Open>(C connection, boolean hasMadeCalls, long quietSinceNanos) {}

    private static final Comparator<Silent<?>> UNUSED_AND_OLDEST_FIRST = Comparator.<Silent<?>, Boolean>comparing(
                    Silent::hasMadeCalls)
            .thenComparing((one, other) -> Long.signum(one.quietSinceNanos() - other.quietSinceNanos()));

    private SilentConnections() {}

    /** The connections from one address. */
    private static final class Of<C extends Open> {
        private final List<C> all = new ArrayList<>();
        private Deque<Silent<C>> silent = new ArrayDeque<>();
        private int left;
    }

    /**
     * Chooses at most {@code most} silent connections to close.
     *
     * @param open all connections
     * @param newcomer the address of the new connection
     * @param onlyItsOwn whether only connections from the address of the new connection may be closed
     * @param most the maximum number of connections to choose
     */
    static <C extends Open> List<C> choose(
            Collection<C> open, InetAddress newcomer, boolean onlyItsOwn, int most, long now) {
        Map<InetAddress, Of<C>> networks = new HashMap<>();
        for (C each : open) {
            networks.computeIfAbsent(each.network(), unseen -> new Of<>()).all.add(each);
        }
        Of<C> own = networks.computeIfAbsent(newcomer, unseen -> new Of<>());
        int ownAfter = own.all.size() + 1;
        for (Of<C> network : networks.values()) {
            network.left = network.all.size();
            boolean many = network.left > 2 * ownAfter + MANY;
            List<Silent<C>> silent = new ArrayList<>();
            for (C each : network.all) {
                Silent<C> seen = new Silent<>(each, each.hasMadeCalls(), each.quietSinceNanos());
                if (!each.isInUse() && isSilent(seen, many, now)) {
                    silent.add(seen);
                }
            }
            silent.sort(UNUSED_AND_OLDEST_FIRST);
            network.silent = new ArrayDeque<>(silent);
        }
        List<C> chosen = new ArrayList<>();
        while (chosen.size() < most) {
            Of<C> loser = onlyItsOwn ? (own.silent.isEmpty() ? null : own) : largest(networks.values());
            if (loser == null || (loser != own && loser.left < ownAfter)) {
                break;
            }
            chosen.add(loser.silent.remove().connection());
            loser.left--;
        }
        return chosen;
    }

    private static boolean isSilent(Silent<?> connection, boolean ofMany, long now) {
        long patience = connection.hasMadeCalls()
                ? (ofMany ? SILENT_OF_MANY_NANOS : SILENT_NANOS)
                : (ofMany ? UNUSED_OF_MANY_NANOS : UNUSED_NANOS);
        return now - connection.quietSinceNanos() >= patience;
    }

    private static <C extends Open> @Nullable Of<C> largest(Collection<Of<C>> networks) {
        Of<C> largest = null;
        for (Of<C> network : networks) {
            if (!network.silent.isEmpty() && (largest == null || network.left > largest.left)) {
                largest = network;
            }
        }
        return largest;
    }
}
