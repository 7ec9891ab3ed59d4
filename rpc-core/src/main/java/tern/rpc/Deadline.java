package tern.rpc;

import java.time.Duration;

/**
 * The point on the monotonic clock after which nobody waits for a call. It travels as the time remaining and is
 * carried on to every call made while serving this one.
 */
public final class Deadline {

    private static final Deadline NONE = new Deadline(0, false);

    private final long nanoTime;
    private final boolean limited;

    private Deadline(long nanoTime, boolean limited) {
        this.nanoTime = nanoTime;
        this.limited = limited;
    }

    /** No limit. */
    public static Deadline none() {
        return NONE;
    }

    public static Deadline at(long nanoTime) {
        return new Deadline(nanoTime, true);
    }

    /** Counted from now on {@link System#nanoTime()}. */
    public static Deadline after(Duration timeout) {
        return at(System.nanoTime() + timeout.toNanos());
    }

    public boolean isLimited() {
        return limited;
    }

    /** Meaningful when {@link #isLimited()}. */
    public long nanoTime() {
        return nanoTime;
    }

    /** Negative once passed; {@link Long#MAX_VALUE} without a limit. */
    public long remainingNanos(long now) {
        return limited ? nanoTime - now : Long.MAX_VALUE;
    }

    public boolean isExpired(long now) {
        return limited && nanoTime - now <= 0;
    }

    /** Whichever comes first. */
    public Deadline earlier(Deadline other) {
        if (!other.limited) {
            return this;
        }
        return !limited || other.nanoTime - nanoTime < 0 ? other : this;
    }

    @Override
    public String toString() {
        return limited ? "in " + (nanoTime - System.nanoTime()) / 1_000_000 + " ms" : "none";
    }
}
