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
 * The calls of one server connection that have not been answered. Their deadlines are checked periodically while there
 * are any. Confined to the event loop, except where stated otherwise.
 */
final class UnansweredCalls {

    private static final Logger LOG = LoggerFactory.getLogger(UnansweredCalls.class);

    private static final long SWEEP_MILLIS = 20;

    /** A call that has not been answered. */
    interface Unanswered {

        /** Checks the deadline, and returns whether the call has been answered. */
        boolean isOverOrExpires(long now);

        boolean isOpen();

        /** Called when the client has disconnected, so the answer is no longer needed. */
        void disconnected();
    }

    private final Channel channel;
    // an ArrayList while there are calls; otherwise an immutable empty list
    private List<Unanswered> calls = Collections.emptyList();
    private volatile boolean sweeping; // true while a deadline check is scheduled; written only by the event loop
    // time of the last answer; like haveEnded, this field is written only by the event loop
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
        if (!sweeping) {
            sweeping = true;
            sweepLater();
        }
    }

    boolean isEmpty() {
        return calls.isEmpty();
    }

    /** Returns whether there is a call, which may still be arriving. Any thread may call this. */
    boolean areAny() {
        return sweeping;
    }

    /** Returns whether a call has ended. Any thread may call this. */
    boolean haveEnded() {
        return haveEnded;
    }

    /** Returns the time at which the end of a call was last noticed. Any thread may call this. */
    long quietSinceNanos() {
        return quietSinceNanos;
    }

    private void sweepLater() {
        channel.eventLoop().schedule(this::sweep, SWEEP_MILLIS, TimeUnit.MILLISECONDS);
    }

    private void sweep() {
        long now = System.nanoTime();
        try {
            if (calls.removeIf(call -> isOver(call, now))) {
                haveEnded = true;
                quietSinceNanos = now;
            }
        } finally {
            sweeping = !calls.isEmpty();
            if (sweeping) {
                sweepLater();
            } else {
                calls = Collections.emptyList();
            }
        }
    }

    /**
     * Checks the deadline of one call and returns whether the call has been answered. Catches exceptions, so that the
     * other calls are checked too.
     */
    private static boolean isOver(Unanswered call, long now) {
        try {
            return call.isOverOrExpires(now);
        } catch (Throwable e) {
            Thrown.log(e, shown -> LOG.error("A call could not be ended in time", shown));
            return !call.isOpen();
        }
    }

    /** Tells all calls that the client has disconnected. */
    void disconnected() {
        for (Unanswered call : List.copyOf(calls)) {
            try {
                call.disconnected();
            } catch (Throwable e) {
                // an exception must not prevent the other calls and the connection from releasing what they hold
                Thrown.log(e, shown -> LOG.error("A call of a lost connection could not be ended", shown));
            }
        }
        calls = Collections.emptyList();
    }
}
