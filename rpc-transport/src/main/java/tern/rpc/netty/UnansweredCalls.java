package tern.rpc.netty;

import io.netty.channel.Channel;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import tern.rpc.Thrown;

/**
 * The calls of one server connection that have not been answered. Their deadlines are checked periodically. A call that
 * has been open for a while is checked only once a second, so that checking thousands of open calls takes little time.
 * Examples of such calls are a stream without a deadline and an incomplete request. Confined to the event loop, except
 * where stated otherwise.
 */
final class UnansweredCalls {

    private static final Logger LOG = LoggerFactory.getLogger(UnansweredCalls.class);

    private static final long SWEEP_MILLIS = 20;
    static final long RARE_SWEEP_MILLIS = 1_000;

    /** A call that has not been answered. */
    interface Unanswered {

        /** Checks the deadline, and returns whether the call has been answered. */
        boolean isOverOrExpires(long now);

        boolean isOpen();

        /** Returns whether one check of the deadline per second is enough during the next two seconds. */
        boolean mayRest(long now);

        /**
         * Returns whether the call prevents the server from closing the connection to make room for a new connection.
         */
        boolean keepsConnection();

        /** Called when the client has disconnected. Ends the call, unless it is a one-way call. */
        void disconnected();
    }

    private final Channel channel;
    // The two lists of calls are ArrayLists while they contain calls; otherwise they are immutable and empty.
    private List<Unanswered> calls = Collections.emptyList();
    // the idle calls, which need only one check per second
    private List<Unanswered> resting = Collections.emptyList();
    private boolean sweeping; // true while the next frequent check is scheduled
    private boolean sweepingRarely; // true while the next check of the idle calls is scheduled

    // true if, at the last check, an idle call prevented the server from closing the connection to make room for a new
    // one
    private boolean restingKeep;
    // true while a call prevents the server from closing the connection to make room for a new connection; written only
    // by the event loop
    private volatile boolean keep;
    // the time when the end of a call was last detected; written only by the event loop
    private volatile long quietSinceNanos = System.nanoTime();
    private volatile boolean haveEnded;

    UnansweredCalls(Channel channel) {
        this.channel = channel;
    }

    /** Checks the deadline of the call until the call is answered. */
    void add(Unanswered call) {
        if (calls.isEmpty()) {
            calls = new ArrayList<>();
        }
        calls.add(call);
        if (call.keepsConnection()) {
            keep = true;
        }
        if (!sweeping) {
            sweepLater();
        }
    }

    /** Checks the deadline of a call frequently again, if it is currently checked only once a second. */
    void wake(Unanswered call) {
        if (resting.remove(call)) {
            add(call);
        }
    }

    /**
     * Returns whether an open call prevents the server from closing the connection to make room for a new connection.
     */
    boolean keepConnection() {
        return anyKeeps(calls) || anyKeeps(resting);
    }

    private static boolean anyKeeps(List<Unanswered> some) {
        for (Unanswered call : some) {
            if (call.isOpen() && call.keepsConnection()) {
                return true;
            }
        }
        return false;
    }

    /**
     * Returns whether a call prevents the server from closing the connection to make room for a new connection.
     * Incomplete requests are included. The result can be a little out of date. Any thread may call this method.
     */
    boolean mayKeepConnection() {
        return keep;
    }

    /** Returns whether at least one call, other than a health watch, has ended. Any thread may call this method. */
    boolean haveEnded() {
        return haveEnded;
    }

    /**
     * Returns the time when the most recent end of a call was detected. Health watches do not count. If no call has
     * ended, returns the creation time of this object. Any thread may call this method.
     */
    long quietSinceNanos() {
        return quietSinceNanos;
    }

    private void sweepLater() {
        // If memory is exhausted, the check cannot be scheduled. The next call then schedules it.
        sweeping = false;
        channel.eventLoop().schedule(this::sweep, SWEEP_MILLIS, TimeUnit.MILLISECONDS);
        sweeping = true;
    }

    private void sweep() {
        long now = System.nanoTime();
        try {
            calls.removeIf(call -> isOver(call, now) || rests(call, now));
        } finally {
            keep = restingKeep || anyKeeps(calls);
            if (calls.isEmpty()) {
                sweeping = false;
                calls = Collections.emptyList();
            } else {
                sweepLater();
            }
        }
    }

    private boolean rests(Unanswered call, long now) {
        if (!call.mayRest(now)) {
            return false;
        }
        if (resting.isEmpty()) {
            resting = new ArrayList<>();
        }
        resting.add(call);
        restingKeep |= call.keepsConnection();
        if (!sweepingRarely) {
            sweepRarelyLater();
        }
        return true;
    }

    private void sweepRarelyLater() {
        sweepingRarely = false; // sweepingRarely stays false if schedule() throws an exception
        channel.eventLoop().schedule(this::sweepRarely, RARE_SWEEP_MILLIS, TimeUnit.MILLISECONDS);
        sweepingRarely = true;
    }

    private void sweepRarely() {
        long now = System.nanoTime();
        try {
            resting.removeIf(call -> isOver(call, now) || wakes(call, now));
        } finally {
            restingKeep = anyKeeps(resting);
            keep = restingKeep || anyKeeps(calls);
            if (resting.isEmpty()) {
                sweepingRarely = false;
                resting = Collections.emptyList();
            } else {
                sweepRarelyLater();
            }
        }
    }

    private boolean wakes(Unanswered call, long now) {
        if (call.mayRest(now)) {
            return false;
        }
        add(call);
        return true;
    }

    /**
     * Checks the deadline of one call and returns whether the call has been answered. Catches exceptions, so that the
     * other calls are checked too.
     */
    private boolean isOver(Unanswered call, long now) {
        boolean over = isOverOrExpires(call, now);
        if (over && call.keepsConnection()) {
            haveEnded = true;
            quietSinceNanos = now;
        }
        return over;
    }

    private static boolean isOverOrExpires(Unanswered call, long now) {
        try {
            return call.isOverOrExpires(now);
        } catch (Throwable e) {
            Thrown.log(e, shown -> LOG.error("A call could not be ended in time", shown));
            return !call.isOpen();
        }
    }

    /**
     * Ends all calls whose client has disconnected, except one-way calls. The deadlines of calls that continue are
     * still checked.
     */
    void disconnected() {
        List<Unanswered> all = new ArrayList<>(calls);
        all.addAll(resting);
        for (Unanswered call : all) {
            try {
                call.disconnected();
            } catch (Throwable e) {
                // after an exception, the other calls must still end, and the connection must release its resources
                Thrown.log(e, shown -> LOG.error("A call of a lost connection could not be ended", shown));
            }
        }
        calls = stillOpen(calls);
        resting = stillOpen(resting);
    }

    private static List<Unanswered> stillOpen(List<Unanswered> some) {
        // A new list replaces the old list, because a check might be iterating over the old list.
        List<Unanswered> open = new ArrayList<>(some);
        open.removeIf(call -> !call.isOpen());
        return open.isEmpty() ? Collections.emptyList() : open;
    }
}
