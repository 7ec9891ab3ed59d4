package tern.rpc;

import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * The time on the monotonic clock after which the caller no longer waits. The remaining time is sent with the call. The
 * deadline is propagated to every call made while serving this one.
 */
public final class Deadline {

    private static final Deadline NONE = new Deadline(0, null);

    private final long nanoTime;
    private final @Nullable Object origin; // a TimeLimit, or the method of the served call that propagated the deadline

    private Deadline(long nanoTime, @Nullable Object origin) {
        this.nanoTime = nanoTime;
        this.origin = origin;
    }

    /** No limit. */
    public static Deadline none() {
        return NONE;
    }

    public static Deadline at(long nanoTime) {
        return new Deadline(nanoTime, null);
    }

    /**
     * Creates the deadline of a call that starts now.
     *
     * @param now the current time on the clock of the call, normally {@link System#nanoTime()}
     * @param limit the origin that messages name
     */
    public static Deadline of(long now, TimeLimit limit) {
        return new Deadline(now + limit.value().toNanos(), limit);
    }

    /** The same deadline, propagated to the calls made while serving this method. */
    public Deadline handedOnBy(MethodDescriptor served) {
        return this == NONE ? this : new Deadline(nanoTime, served);
    }

    /** Creates a deadline counted from now on {@link System#nanoTime()}. */
    public static Deadline after(Duration timeout) {
        return at(System.nanoTime() + timeout.toNanos());
    }

    public boolean isLimited() {
        return this != NONE;
    }

    /** The time of the deadline on the clock. Valid only if {@link #isLimited()}. */
    public long nanoTime() {
        return nanoTime;
    }

    /** The remaining time: negative after the deadline, {@link Long#MAX_VALUE} without a limit. */
    public long remainingNanos(long now) {
        return this != NONE ? nanoTime - now : Long.MAX_VALUE;
    }

    public boolean isExpired(long now) {
        return this != NONE && nanoTime - now <= 0;
    }

    /** The earlier of the two deadlines. */
    public Deadline earlier(Deadline other) {
        if (other == NONE) {
            return this;
        }
        return this == NONE || other.nanoTime - nanoTime < 0 ? other : this;
    }

    /**
     * The time that the call had and the origin of the limit, for messages: {@code 500 ms (rpc.client.timeout)}.
     *
     * @param began the start of the call or of its current attempt; used if the time limit is not known
     */
    public String describe(long began) {
        return origin instanceof TimeLimit
                ? origin()
                : TimeUnit.NANOSECONDS.toMillis(Math.max(0, nanoTime - began)) + " ms (" + origin() + ")";
    }

    /** The origin of the limit, for messages, with the time if it is known. */
    public String origin() {
        if (origin == null) {
            return "its own deadline";
        }
        return origin instanceof TimeLimit
                ? origin.toString()
                : "the remaining time of " + origin + ", the served call";
    }

    /** The setting of the limit; null if the deadline was propagated or created in another way. */
    public @Nullable TimeLimit limit() {
        return origin instanceof TimeLimit limit ? limit : null;
    }

    @Override
    public String toString() {
        return this != NONE ? "in " + (nanoTime - System.nanoTime()) / 1_000_000 + " ms" : "none";
    }
}
