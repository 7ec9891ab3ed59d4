package tern.rpc;

import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * The time when a caller stops waiting for its call, on a monotonic clock. The client sends the remaining time with the
 * call. If a server makes calls while it serves a call, these calls inherit the deadline of the served call. Immutable.
 * Times are in nanoseconds on the call's clock, normally {@link System#nanoTime()}.
 */
public final class Deadline {

    private static final Deadline NONE = new Deadline(0, null);

    private final long nanoTime;
    // The origin of the deadline: the TimeLimit of a call, or the served method whose deadline the call inherits.
    private final @Nullable Object origin;

    private Deadline(long nanoTime, @Nullable Object origin) {
        this.nanoTime = nanoTime;
        this.origin = origin;
    }

    /** Returns a deadline that never expires. */
    public static Deadline none() {
        return NONE;
    }

    public static Deadline at(long nanoTime) {
        return new Deadline(nanoTime, null);
    }

    /**
     * Creates the deadline of a call that starts at the given time.
     *
     * @param now the current time on the call's clock, normally {@link System#nanoTime()}
     * @param limit the time limit; error messages contain it
     */
    public static Deadline of(long now, TimeLimit limit) {
        return new Deadline(now + limit.value().toNanos(), limit);
    }

    /**
     * Returns this deadline for the nested calls that the given served method makes. The error messages of the nested
     * calls name the served method.
     */
    public Deadline handedOnBy(MethodDescriptor served) {
        return this == NONE ? this : new Deadline(nanoTime, served);
    }

    /** Creates a deadline that expires after the given time on the clock {@link System#nanoTime()}. */
    public static Deadline after(Duration timeout) {
        return at(System.nanoTime() + timeout.toNanos());
    }

    /** Returns whether there is a deadline; false for {@link #none()}. */
    public boolean isLimited() {
        return this != NONE;
    }

    /** Returns the time of the deadline on the monotonic clock. Valid only if {@link #isLimited()} returns true. */
    public long nanoTime() {
        return nanoTime;
    }

    /**
     * Returns the remaining time in nanoseconds: negative after the deadline, {@link Long#MAX_VALUE} without a limit.
     */
    public long remainingNanos(long now) {
        return this != NONE ? nanoTime - now : Long.MAX_VALUE;
    }

    /** Returns whether the deadline has passed at the given time; always false without a limit. */
    public boolean isExpired(long now) {
        return this != NONE && nanoTime - now <= 0;
    }

    /** Returns the earlier of this deadline and the given deadline. */
    public Deadline earlier(Deadline other) {
        if (other == NONE) {
            return this;
        }
        return this == NONE || other.nanoTime - nanoTime < 0 ? other : this;
    }

    /**
     * Returns the time limit of the call and where it was set, for error messages: {@code 500 ms (rpc.client.timeout)}.
     *
     * @param began the start of the call or its current attempt; used only if the deadline was not created from a time
     *     limit
     */
    public String describe(long began) {
        return origin instanceof TimeLimit
                ? origin()
                : TimeUnit.NANOSECONDS.toMillis(Math.max(0, nanoTime - began)) + " ms (" + origin() + ")";
    }

    /** Returns where the limit was set, for error messages. The text includes the duration if the duration is known. */
    public String origin() {
        if (origin == null) {
            return "its own deadline";
        }
        return origin instanceof TimeLimit
                ? origin.toString()
                : "the remaining time of " + origin + ", the served call";
    }

    /**
     * Returns this deadline's time limit; null if the deadline was inherited from a served call or not created from a
     * limit.
     */
    public @Nullable TimeLimit limit() {
        return origin instanceof TimeLimit limit ? limit : null;
    }

    @Override
    public String toString() {
        return this != NONE ? "in " + (nanoTime - System.nanoTime()) / 1_000_000 + " ms" : "none";
    }
}
