package tern.rpc.limit;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import tern.rpc.NanoClock;

/**
 * Admits a limited number of concurrent calls, measures them, and passes the measurements to its {@link Limit}. Each
 * admitted call holds a permit until it ends and leaves the limiter. Entering and leaving cost a few atomic operations
 * each and allocate no memory.
 *
 * <p>A measurement window begins when most calls that entered under an earlier limit have left. An earlier measurement
 * would include too many short calls. The window then ends after 100 ms and a hundred calls, or after 1.5 s and twenty
 * calls, whichever comes first. The window lasts at least as long as a call takes on average, because calls that arrive
 * together also leave together.
 *
 * <p>Calls are considered to queue if two conditions hold. First, the number of calls that found no free permit is at
 * least a tenth of the number of calls served. Second, the number of calls that found no free permit is at least ten
 * times the number of calls that found less than a quarter of the permits in use. A burst on an idle server is
 * therefore not treated as a queue. While calls queue, calls from tenants that flood the server or hold the most
 * permits are refused in favour of other tenants ({@link FairShares}). The calls from other tenants are admitted beyond
 * the limit, up to twice the limit. A flooding tenant gets the number of permits that keeps the server busy
 * ({@link Limit#enough}), minus the permits that other tenants hold.
 *
 * <p>A call that continues without a thread keeps its permit, but is not counted among the calls that threads serve.
 *
 * <p>Thread-safe.
 */
public final class Limiter {

    private static final int ENOUGH = 100;
    private static final long MIN_NANOS = TimeUnit.MILLISECONDS.toNanos(100);
    private static final int FEW = 20;
    private static final long PATIENCE_NANOS = TimeUnit.MILLISECONDS.toNanos(1_500);
    private static final long MAX_NANOS = TimeUnit.SECONDS.toNanos(3);
    private static final long LONG_NANOS = TimeUnit.SECONDS.toNanos(1);

    /**
     * A measurement window begins when at most 1/{@value} of the calls admitted under earlier limits are still running.
     * Such a small number of calls has little influence on the measurement.
     */
    private static final int MAX_HAVE_LEFT = 8;

    /**
     * Calls count as hanging if no call has ended for at least one second and for at least {@value} times the mean call
     * duration.
     */
    private static final int HANGING = 8;

    private static final long MAX_HANGING_NANOS = TimeUnit.SECONDS.toNanos(30);

    /** While calls queue, 1/{@value} of the permits is reserved for tenants with few calls. */
    private static final int KEPT = 16;

    /**
     * The minimum number of reserved permits, unless it exceeds half of all permits. If fewer permits were reserved,
     * all reserved permits would often be in use by chance.
     */
    private static final int MIN_KEPT = 12;

    private volatile Limit limit;
    private final int servedAtOnce;
    private final FairShares shares;
    private final AtomicInteger inside = new AtomicInteger();
    private final AtomicInteger elsewhere = new AtomicInteger(); // The number of admitted calls that have no thread.
    private volatile int current;
    private volatile int kept;
    private volatile int crowdedFrom;
    // Once the number of admitted calls has reached this value, crowded() decides whether a new call is admitted.
    private volatile int askedFrom;
    // Calls from tenants with few admitted calls are admitted beyond the limit, up to this total number of calls.
    private volatile int beyond;
    private volatile int sparseBelow;
    private volatile boolean overloaded; // True if calls queued in the last measurement window.

    // "turning" and the following fields describe the current measurement window. "turning" is true while a thread
    // changes the limit or ends a phase of the window. A call that leaves just as the window ends may be miscounted.
    private final AtomicBoolean turning = new AtomicBoolean();

    // The number of calls that were admitted before the current measurement window and still hold a permit.
    private final AtomicInteger before = new AtomicInteger();
    private final AtomicInteger ended = new AtomicInteger();
    private final AtomicInteger endedOfBefore = new AtomicInteger();
    private final AtomicLong nanos = new AtomicLong();
    private final AtomicInteger crowded = new AtomicInteger(); // The number of calls that found no free permit.
    // The number of calls that found less than a quarter of the permits in use. If there are many such calls, the
    // server does not count as overloaded.
    private final AtomicInteger sparse = new AtomicInteger();
    private volatile long begun;
    private volatile int fewBefore;
    private volatile boolean measuring;
    private volatile long phaseBegun;
    private volatile int max;
    private volatile long shortestNanos = MIN_NANOS;
    private volatile long hangingAfterNanos = LONG_NANOS;

    /**
     * @param limit the limit; it must not be shared with other limiters
     * @param servedAtOnce the number of threads that serve calls; additional calls wait unless they need no thread
     */
    public Limiter(Limit limit, int servedAtOnce, NanoClock clock) {
        this.limit = limit;
        this.servedAtOnce = servedAtOnce;
        int places = Math.min(limit.first(), servedAtOnce);
        this.shares = new FairShares(places - reserved(places), clock);
        limitTo(limit.first());
        begin(clock.nanoTime());
    }

    private static int reserved(int places) {
        return Math.max(places / KEPT, Math.min(MIN_KEPT, places / 2));
    }

    private void limitTo(int wanted) {
        int places = Math.min(wanted, servedAtOnce);
        int kept = reserved(places);
        current = wanted;
        beyond = wanted + Math.min(wanted, servedAtOnce);
        this.kept = overloaded ? kept : 0;
        crowdedFrom = places - this.kept;
        askedFrom = overloaded && shares.isAnybodyFlooding() ? Math.min(crowdedFrom, limit.enough()) : crowdedFrom;
        sparseBelow = Math.min(places, askedFrom) / 4;
    }

    /** Returns the number of calls that hold a permit. */
    public int inside() {
        return inside.get();
    }

    /** Returns the current limit. */
    public int limit() {
        return current;
    }

    /** Returns whether measurements have reduced the limit below its initial value. */
    public boolean isReduced() {
        return current < limit.first();
    }

    /** Returns the number of tenants that have admitted calls and are of the same kind as the given tenant. */
    public int tenants(Share share) {
        return shares.tenants(share);
    }

    /**
     * Returns whether other tenants crowd out this tenant, so that it gets too few threads. Two conditions must hold.
     * First, another tenant has more than an equal share of the threads. Second, this tenant has less than an equal
     * share, or less than half as many threads as the other tenant.
     *
     * @param working the number of threads that the tenant holds or waits for
     * @param threads the number of threads
     */
    public boolean isCrowdedOut(Share share, int working, int threads) {
        Share largest = shares.largest();
        return largest != null && FairShares.isCrowdedOut(working, largest.working(), shares.tenants(share), threads);
    }

    /**
     * Returns a description of the limit for error messages, such as {@code adaptive, 4 to 600, set by
     * rpc.server.max-concurrency}.
     *
     * @param property the property that sets the limit, unless another place has set it
     */
    public String describe(String property) {
        Limit current = limit;
        return current.describe() + ", set by " + (current.setBy().isEmpty() ? property : current.setBy());
    }

    /** Returns whether the limit is a constant number. */
    public boolean isFixed() {
        return limit instanceof FixedLimit;
    }

    /**
     * Replaces the limit. Admitted calls stay admitted, even if their number exceeds the new limit.
     *
     * @param next the new limit, which must not be shared with other limiters
     */
    public void change(Limit next, long now) {
        while (!turning.compareAndSet(false, true)) {
            // Another thread is ending a measurement window. That takes little time, so the loop tries again.
            Thread.onSpinWait();
        }
        try {
            limit = next;
            int places = Math.min(next.first(), servedAtOnce);
            shares.places(places - reserved(places));
            limitTo(next.first());
            begin(now);
        } finally {
            turning.set(false);
        }
    }

    /**
     * Admits or refuses a call. For every admitted call, {@link #leave} or {@link #leaveUnserved} must be called once.
     *
     * @param share counts the admitted calls of the call's tenant; null if the transport does not distinguish tenants
     * @return the reason for the refusal, or null if the call is admitted
     */
    public @Nullable Refusal enter(@Nullable Share share, long now) {
        int met = inside.getAndIncrement();
        if (met >= askedFrom) {
            Refusal refusal = crowded(share, met, now);
            if (refusal != null) {
                inside.decrementAndGet();
                return refusal;
            }
        }
        if (met < sparseBelow) {
            sparse.incrementAndGet();
        }
        if (met >= max) {
            max = met + 1;
        }
        if (share != null) {
            shares.entered(share);
        }
        return null;
    }

    private @Nullable Refusal crowded(@Nullable Share share, int met, long now) {
        int without = elsewhere.get();
        boolean free = without > 0 && met < current - kept && met - without < servedAtOnce - kept;
        if (free && !shares.isFlooding(share)) {
            return null;
        }
        if (now - phaseBegun >= hangingAfterNanos) {
            turn(measuring, now);
        }
        shares.vote(share);
        boolean yields = shares.yields(share, now, met) && overloaded;
        if (yields || met >= crowdedFrom) {
            crowded.incrementAndGet();
        }
        if (yields) {
            return Refusal.SHARE;
        }
        // Calls from earlier measurement windows are not counted in the comparison with the limit, because they may
        // exceed a reduced limit. Otherwise, new calls would be refused until the earlier calls have ended.
        boolean full = met >= current && !(met - Math.max(0, before.get()) < beyond && shares.isBehind(share, met));
        return full ? Refusal.LIMIT : null;
    }

    /** Records that an admitted call has left the limiter. */
    public void leave(@Nullable Share share, long entered, long now) {
        free(share);
        if (entered - begun < 0) {
            int left = before.decrementAndGet();
            if (measuring) {
                endedOfBefore.incrementAndGet();
            } else if (left <= fewBefore) {
                turn(false, now);
            }
        } else if (measuring) {
            nanos.addAndGet(now - entered);
            int calls = ended.incrementAndGet();
            if (calls >= FEW && isOver(calls, now - phaseBegun)) {
                turn(true, now);
            }
        } else if (before.get() <= fewBefore || now - phaseBegun >= hangingAfterNanos) {
            // A call that entered while a measurement window ended may have been counted in that window. The code
            // therefore compares the call's time of entry with the beginning of the current window.
            turn(false, now);
        }
    }

    private boolean isOver(int calls, long measured) {
        return measured >= shortestNanos && (calls >= ENOUGH || measured >= PATIENCE_NANOS);
    }

    /**
     * Records that an admitted call continues without occupying a thread. {@link #threadStays} must be called when the
     * call needs a thread again, or before it leaves the limiter.
     */
    public void threadLeaves(@Nullable Share share) {
        elsewhere.incrementAndGet();
        if (share != null) {
            share.threadLeaves();
        }
    }

    /**
     * Records that an admitted call needs a thread again or has ended. Must be called once for each call of {@link
     * #threadLeaves}.
     */
    public void threadStays(@Nullable Share share) {
        elsewhere.decrementAndGet();
        if (share != null) {
            share.threadStays();
        }
    }

    /**
     * Records that an admitted call has left the limiter without being served. The duration of the call is not
     * measured.
     */
    public void leaveUnserved(@Nullable Share share, long entered) {
        free(share);
        if (entered - begun < 0) {
            before.decrementAndGet();
        }
    }

    private void free(@Nullable Share share) {
        if (share != null) {
            // The tenant's count is decremented first, so that no tenant seems to have more calls than all tenants
            // together.
            shares.left(share);
        }
        inside.decrementAndGet();
    }

    /** Ends the current phase of the measurement window, unless another thread has ended the phase. */
    private void turn(boolean measured, long now) {
        if (!turning.compareAndSet(false, true)) {
            return;
        }
        try {
            if (measuring != measured) {
                return;
            }
            if (measured) {
                limitTo(limit.next(look(now)));
                begin(now);
            } else {
                forget();
                phaseBegun = now;
                measuring = true;
            }
        } finally {
            turning.set(false);
        }
    }

    private void begin(long now) {
        measuring = false;
        begun = now;
        phaseBegun = now;
        int current = inside.get();
        before.set(current);
        fewBefore = current / MAX_HAVE_LEFT;
    }

    private void forget() {
        ended.set(0);
        endedOfBefore.set(0);
        nanos.set(0);
        crowded.set(0);
        sparse.set(0);
        max = 0;
    }

    private Limit.Window look(long now) {
        int calls = ended.get();
        int met = crowded.get();
        int places = Math.min(current, servedAtOnce + Math.max(0, elsewhere.get()));
        overloaded = met * 10L >= calls && sparse.get() * 10L <= met;
        int reached = Math.min(places, max);
        shares.windowEnds();
        if (calls < FEW) {
            hangingAfterNanos = Math.min(2 * hangingAfterNanos, MAX_HANGING_NANOS);
            return new Limit.Window(0, 0, 0, reached, overloaded, false);
        }
        double mean = (double) nanos.get() / calls;
        shortestNanos = Math.max(MIN_NANOS, Math.min(MAX_NANOS, (long) mean));
        hangingAfterNanos = Math.max(LONG_NANOS, (long) (HANGING * mean));
        double perSecond = (calls + endedOfBefore.get()) * 1e9 / Math.max(1, now - phaseBegun);
        boolean flooded = overloaded && askedFrom < crowdedFrom && max < crowdedFrom;
        return new Limit.Window(calls, mean, perSecond, reached, overloaded, flooded);
    }
}
