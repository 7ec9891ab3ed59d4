package tern.rpc.netty;

import java.net.InetAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.PriorityQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Predicate;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import tern.rpc.NanoClock;
import tern.rpc.PeerText;
import tern.rpc.SeldomWarning;

/**
 * Closes connections whose clients do not read their answers, if the answers of all connections occupy too much memory.
 * Streams are ended before this limit is reached ({@link UnsentBudget#refusal}). A unary answer is complete when it is
 * queued, so only the connection can be closed.
 *
 * <p>Above {@link UnsentBudget#manyBytes}, a connection is closed if its client has read neither all waiting bytes nor
 * {@link #FAST_BYTES} within one second. If a client reports more than {@link #FAST_BYTES} in one step, the excess
 * counts as read in the following seconds. Above {@link UnsentBudget#mostBytes}, any connection can be closed
 * immediately. The address with the most unread bytes is processed first. Within an address, the connection with the
 * most unread bytes is closed first. Thread-safe.
 */
final class SlowReaders {

    private static final Logger LOG = LoggerFactory.getLogger(SlowReaders.class);

    /**
     * The time between two consecutive checks. Each check compares the counters with the counters at the previous
     * check.
     */
    static final long BETWEEN_LOOKS_MILLIS = 1_000;

    /** A client that reads at least {@value} bytes between two checks is not slow. */
    static final long FAST_BYTES = 64 << 10;

    private static final Duration BETWEEN_WARNINGS = Duration.ofSeconds(10);

    /** An open connection. Any thread may call its methods. */
    interface Open {

        /** Returns the address of the peer; for IPv6, its first 64 bits. */
        InetAddress network();

        /** Returns the number of answer bytes that the client has not read; 0 after {@link #giveUp}. */
        long unsentBytes();

        /** Returns the number of answer bytes that the client has read since the connection was opened. */
        long takenBytes();

        /**
         * Returns the client's report size: the maximum growth of {@link #takenBytes} in one step, in bytes; 0 if
         * unknown.
         */
        int takenStepBytes();

        /** Returns the client's address, as text for log messages. */
        Object remoteAddress();

        /** Closes the connection. Its unread bytes stay in the budget until their memory has been released. */
        void giveUp();
    }

    /**
     * The counters of a connection at the time of a check.
     *
     * @param ahead the number of bytes that the client has already read beyond {@link #FAST_BYTES} and that are counted
     *     at the following checks. This number is 0 unless the report size of the client exceeds {@link #FAST_BYTES}
     */
    record Look(long unsent, long taken, long ahead) {

        /** Returns the counters at the first check of a connection. */
        static Look at(Open connection) {
            long taken = connection.takenBytes();
            return new Look(connection.unsentBytes(), taken, Math.min(taken, aheadAfter(connection)));
        }

        /** Returns the connection's counters at the current check. */
        Look next(Open now) {
            long ahead = Math.max(0, readBy(now) - expected());
            return new Look(now.unsentBytes(), now.takenBytes(), Math.min(ahead, aheadAfter(now)));
        }

        /**
         * Returns the maximum of {@link #ahead}. A client that reports its progress in large steps may have read the
         * bytes of one step since the last check. {@link #FAST_BYTES} of them count at the current check, and the rest
         * counts at later checks.
         */
        private static long aheadAfter(Open connection) {
            return Math.max(0, connection.takenStepBytes() - FAST_BYTES);
        }

        /**
         * Returns whether the client is slow. A client is slow if, since this record was created, it has read fewer
         * than {@link #FAST_BYTES} and fewer than the bytes that were waiting at that time. The bytes in {@link #ahead}
         * count as read since that time.
         *
         * @param now the connection of this object, with its current counters
         */
        boolean isSlow(Open now) {
            return unsent > 0 && readBy(now) < expected();
        }

        private long readBy(Open now) {
            return ahead + now.takenBytes() - taken;
        }

        private long expected() {
            return Math.min(unsent, FAST_BYTES);
        }
    }

    private final Collection<? extends Open> open;
    private final UnsentBudget unsent;
    private final ScheduledExecutorService executor;
    private final SeldomWarning closing = new SeldomWarning(LOG, NanoClock.SYSTEM, BETWEEN_WARNINGS);
    private final AtomicBoolean looking = new AtomicBoolean();
    private Map<Open, Look> last = Map.of(); // accessed only by the checking task; at most one such task runs at a time

    /**
     * @param open all connections; can change at any time
     */
    SlowReaders(Collection<? extends Open> open, UnsentBudget unsent, ScheduledExecutorService executor) {
        this.open = open;
        this.unsent = unsent;
        this.executor = executor;
    }

    /**
     * Called when answers have been queued and the unread answers of all connections exceed {@link
     * UnsentBudget#manyBytes}. Any thread may call this method.
     */
    void queued() {
        if (!looking.get() && looking.compareAndSet(false, true)) {
            try {
                executor.execute(this::look);
            } catch (RejectedExecutionException e) {
                looking.set(false); // the executor has been shut down, so no check runs
            }
        }
        if (unsent.staying() > unsent.mostBytes()) {
            closeAtOnce();
        }
    }

    /**
     * Closes connections on the thread that queued an answer, because busy event loops might run too late. Other
     * threads that queue answers block during this time.
     */
    private void closeAtOnce() {
        Runnable warning = () -> {};
        synchronized (this) {
            long tooMany = unsent.staying() - unsent.mostBytes();
            if (tooMany > 0) {
                warning = close(tooMany + unsent.manyBytes() / 4, unsent.mostBytes(), any -> true);
            }
        }
        warning.run(); // the warning is logged after the lock is released, because a log can be slow
    }

    private void look() {
        boolean again = false;
        try {
            again = lookOnce();
        } finally { // the field "looking" must be reset even after an exception, so that later checks are possible
            if (!again) {
                last = Map.of();
                looking.set(false);
            }
        }
        if (!again && unsent.staying() > unsent.manyBytes()) {
            // The following call schedules a check for answers that other threads queued during this check.
            queued();
        }
    }

    /** @return whether this check has scheduled another check */
    private boolean lookOnce() {
        long used = unsent.staying();
        if (used <= unsent.manyBytes()) {
            return false;
        }
        Map<Open, Look> before = last;
        close(used - unsent.manyBytes(), unsent.manyBytes(), connection -> {
                    Look then = before.get(connection);
                    return then != null && then.isSlow(connection);
                })
                .run();
        Map<Open, Look> now = new IdentityHashMap<>();
        open.forEach(connection -> {
            Look then = before.get(connection);
            now.put(connection, then == null ? Look.at(connection) : then.next(connection));
        });
        last = now;
        executor.schedule(this::look, BETWEEN_LOOKS_MILLIS, TimeUnit.MILLISECONDS);
        return true;
    }

    /**
     * Closes connections that meet the condition until the given number of bytes has been released.
     *
     * @param limit the limit to name in the warning
     * @return an action that logs a warning if connections were closed
     */
    private Runnable close(long bytes, long limit, Predicate<Open> which) {
        long used = unsent.used();
        List<Open> chosen = choose(open.stream().filter(which).toList(), bytes);
        if (chosen.isEmpty()) {
            return () -> {};
        }
        Open first = chosen.get(0);
        long ofFirst = first.unsentBytes();
        chosen.forEach(Open::giveUp);
        return () -> closing.warn(
                () -> "Closing " + chosen.size() + " connections whose clients do not read, the first from "
                        + PeerText.text(String.valueOf(first.remoteAddress())) + " with " + ofFirst
                        + " bytes: answers of all connections hold " + used + " bytes, and above " + limit
                        + " slow readers are closed (derived from rpc.limits.max-unsent-answers)",
                null);
    }

    /**
     * Chooses connections that together have at least the given number of unread bytes. If all connections together
     * have fewer unread bytes, returns all connections with unread bytes.
     *
     * @param bytes the number of bytes to release; if it is 0 or negative, the result is empty
     */
    static List<Open> choose(Collection<? extends Open> open, long bytes) {
        Map<InetAddress, Address> addresses = new HashMap<>();
        for (Open each : open) {
            long unread = each.unsentBytes();
            if (unread > 0) {
                addresses
                        .computeIfAbsent(each.network(), unseen -> new Address())
                        .add(each, unread);
            }
        }
        PriorityQueue<Address> most =
                new PriorityQueue<>(Comparator.comparingLong((Address address) -> -address.bytes));
        most.addAll(addresses.values());
        List<Open> chosen = new ArrayList<>();
        for (long left = bytes; left > 0 && !most.isEmpty(); ) {
            Address address = most.remove();
            Holder largest = address.holders.remove();
            address.bytes -= largest.bytes();
            left -= largest.bytes();
            chosen.add(largest.connection());
            if (!address.holders.isEmpty()) {
                most.add(address);
            }
        }
        return chosen;
    }

    /** A connection and the number of its unread bytes at the time of a check. */
    private record Holder(Open connection, long bytes) {}

    /** The connections from one address. */
    private static final class Address {
        private final PriorityQueue<Holder> holders =
                new PriorityQueue<>(Comparator.comparingLong((Holder holder) -> -holder.bytes()));
        private long bytes;

        void add(Open connection, long unread) {
            holders.add(new Holder(connection, unread));
            bytes += unread;
        }
    }
}
