package tern.rpc;

import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * The point on the monotonic clock after which nobody waits for a call. It travels as the time remaining and is
 * carried on to every call made while serving this one.
 */
public final class Deadline {

    private static final Deadline NONE = new Deadline(0, null);

    private final long nanoTime;
    private final @Nullable Object origin; // a TimeLimit, or the method of the call being served that handed it on

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
     * Of a call that begins now.
     *
     * @param now on the clock of the call, {@link System#nanoTime()} as a rule
     * @param limit what messages name as its origin
     */
    public static Deadline of(long now, TimeLimit limit) {
        return new Deadline(now + limit.value().toNanos(), limit);
    }

    /** The same point in time, for the calls that are made while serving this method. */
    public Deadline handedOnBy(MethodDescriptor served) {
        return this == NONE ? this : new Deadline(nanoTime, served);
    }

    /** Counted from now on {@link System#nanoTime()}. */
    public static Deadline after(Duration timeout) {
        return at(System.nanoTime() + timeout.toNanos());
    }

    public boolean isLimited() {
        return this != NONE;
    }

    /** Meaningful when {@link #isLimited()}. */
    public long nanoTime() {
        return nanoTime;
    }

    /** Negative once passed; {@link Long#MAX_VALUE} without a limit. */
    public long remainingNanos(long now) {
        return this != NONE ? nanoTime - now : Long.MAX_VALUE;
    }

    public boolean isExpired(long now) {
        return this != NONE && nanoTime - now <= 0;
    }

    /** Whichever comes first. */
    public Deadline earlier(Deadline other) {
        if (other == NONE) {
            return this;
        }
        return this == NONE || other.nanoTime - nanoTime < 0 ? other : this;
    }

    /**
     * How long the call had and what says so, for messages: {@code 500 ms (rpc.client.timeout)}.
     *
     * @param began when the call or its present attempt began, which counts where the whole time is not known
     */
    public String describe(long began) {
        return origin instanceof TimeLimit
                ? origin()
                : TimeUnit.NANOSECONDS.toMillis(Math.max(0, nanoTime - began)) + " ms (" + origin() + ")";
    }

    /** What says so, for messages; with the time where that is known. */
    public String origin() {
        if (origin == null) {
            return "the deadline that it was given";
        }
        return origin instanceof TimeLimit
                ? origin.toString()
                : "what was left of the time of " + origin + ", the call being served";
    }

    /** The setting that it comes from; null when it was handed on or made in another way. */
    public @Nullable TimeLimit limit() {
        return origin instanceof TimeLimit limit ? limit : null;
    }

    @Override
    public String toString() {
        return this != NONE ? "in " + (nanoTime - System.nanoTime()) / 1_000_000 + " ms" : "none";
    }
}
