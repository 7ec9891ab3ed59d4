package tern.rpc.limit;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import tern.rpc.NanoClock;

/**
 * The gate in front of something that serves a limited number of calls at once: counts who is inside, and measures what
 * its {@link Limit} wants to know. Entering and leaving take a few atomic operations each and allocate nothing.
 *
 * <p>A window begins by waiting until most of the calls that came under an earlier limit have left; measuring at once
 * would prefer calls that are short by chance. Then 100 ms and a hundred calls are measured, or 1.5 s and twenty, whichever
 * is over first, but no less than the mean time of a call, since calls that came together leave together.
 *
 * <p>There is a queue if calls met no place free, as many as a tenth of those served or more, and ten times as many as met
 * less than a quarter of the places taken: a burst on an idle server is none. While there is a queue,
 * tenants that flood or hold the most give way to others ({@link FairShares}), who get in beyond the limit, up to twice as
 * many. Who floods gets as many places as keep the server busy ({@link Limit#enough}), less those that others hold.
 *
 * <p>Calls that go on without a thread keep their places, but do not make a queue of those that have one.
 *
 * <p>Thread-safe.
 */
public final class Limiter {

    private static final int ENOUGH = 100;
    private static final long SHORTEST_NANOS = TimeUnit.MILLISECONDS.toNanos(100);
    private static final int FEW = 20;
    private static final long PATIENCE_NANOS = TimeUnit.MILLISECONDS.toNanos(1_500);
    private static final long LONGEST_NANOS = TimeUnit.SECONDS.toNanos(3);
    private static final long LONG_NANOS = TimeUnit.SECONDS.toNanos(1);

    /** When only one of so many calls of earlier windows is left, their effect is small. */
    private static final int MAX_HAVE_LEFT = 8;

    /** So many times the mean time of a call, but a second at least, is the longest wait for calls to end. */
    private static final int HANGING = 8;

    private static final long LONGEST_HANGING_NANOS = TimeUnit.SECONDS.toNanos(30);

    /** One place of so many is kept for tenants that hold few while there is a queue. */
    private static final int KEPT = 16;

    /** But so many, unless that were more than half: fewer are taken by chance before one is free again. */
    private static final int FEWEST_KEPT = 12;

    private final Limit limit;
    private final int servedAtOnce;
    private final FairShares shares;
    private final AtomicInteger inside = new AtomicInteger();
    private final AtomicInteger elsewhere = new AtomicInteger(); // of these, those that hold no thread
    private volatile int present;
    private volatile int kept;
    private volatile int crowdedFrom;
    private volatile int askedFrom; // as many calls inside as leave the next one to be asked who sent it
    private volatile int beyond; // as many as get in by being behind others
    private volatile int sparseBelow;
    private volatile boolean overloaded; // there was a queue in the last window

    // The present window. Races between its end and calls that leave blur it by a call or two.
    private final AtomicBoolean turning = new AtomicBoolean(); // guards limit, and the writes that end a phase
    private final AtomicInteger before = new AtomicInteger(); // calls of earlier windows that are still inside
    private final AtomicInteger ended = new AtomicInteger();
    private final AtomicInteger endedOfBefore = new AtomicInteger();
    private final AtomicLong nanos = new AtomicLong();
    private final AtomicInteger crowded = new AtomicInteger(); // calls that met no place free
    private final AtomicInteger sparse = new AtomicInteger(); // calls that met few places taken
    private volatile long begun;
    private volatile int fewBefore;
    private volatile boolean measuring;
    private volatile long phaseBegun;
    private volatile int most;
    private volatile long shortestNanos = SHORTEST_NANOS;
    private volatile long hangingAfterNanos = LONG_NANOS;

    /**
     * @param limit used by nobody else
     * @param servedAtOnce how many threads serve; calls beyond wait, but for those that need none
     */
    public Limiter(Limit limit, int servedAtOnce, NanoClock clock) {
        this.limit = limit;
        this.servedAtOnce = servedAtOnce;
        this.shares = new FairShares(clock);
        limitTo(limit.first());
        begin(clock.nanoTime());
    }

    private void limitTo(int wanted) {
        int places = Math.min(wanted, servedAtOnce);
        int kept = Math.max(places / KEPT, Math.min(FEWEST_KEPT, places / 2));
        present = wanted;
        beyond = wanted + Math.min(wanted, servedAtOnce);
        this.kept = overloaded ? kept : 0;
        crowdedFrom = places - this.kept;
        askedFrom = overloaded && shares.isAnybodyFlooding() ? Math.min(crowdedFrom, limit.enough()) : crowdedFrom;
        sparseBelow = Math.min(places, askedFrom) / 4;
    }

    /** Calls inside. */
    public int inside() {
        return inside.get();
    }

    /** Most calls that are let in at present. */
    public int limit() {
        return present;
    }

    /** For people: {@code adaptive, 4 to 600}. */
    public String describe() {
        return limit.describe();
    }

    /**
     * Lets a call in or not. Each that was let in leaves once.
     *
     * @param share of its tenant; null when tenants do not matter
     * @return null, or why not
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
        if (met >= most) {
            most = met + 1;
        }
        if (share != null) {
            share.entered();
        }
        return null;
    }

    private @Nullable Refusal crowded(@Nullable Share share, int met, long now) {
        int without = elsewhere.get();
        boolean free = without > 0 && met < present - kept && met - without < servedAtOnce - kept;
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
        // Calls of earlier windows may be more than a limit that has just shrunk; nobody else waits for them to leave.
        boolean full = met >= present && !(met - Math.max(0, before.get()) < beyond && shares.isBehind(share, met));
        return full ? Refusal.LIMIT : null;
    }

    /** A call that was let in has left. */
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
            turn(false, now); // by time, if a call that came at the very turn was counted among those before
        }
    }

    private boolean isOver(int calls, long measured) {
        return measured >= shortestNanos && (calls >= ENOUGH || measured >= PATIENCE_NANOS);
    }

    /** A call that is inside goes on without one of the threads that serve; to be taken back before it leaves. */
    public void threadLeaves(@Nullable Share share) {
        elsewhere.incrementAndGet();
        if (share != null) {
            share.threadLeaves();
        }
    }

    /** Takes {@link #threadLeaves} back. */
    public void threadStays(@Nullable Share share) {
        elsewhere.decrementAndGet();
        if (share != null) {
            share.threadStays();
        }
    }

    /** A call that was let in has left without being served: what it took tells nothing. */
    public void leaveUnserved(@Nullable Share share, long entered) {
        free(share);
        if (entered - begun < 0) {
            before.decrementAndGet();
        }
    }

    private void free(@Nullable Share share) {
        if (share != null) {
            share.left(); // first, so that nobody seems to hold more than there is
        }
        inside.decrementAndGet();
    }

    /** The given phase is over, unless somebody else has ended it. */
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
        int present = inside.get();
        before.set(present);
        fewBefore = present / MAX_HAVE_LEFT;
    }

    private void forget() {
        ended.set(0);
        endedOfBefore.set(0);
        nanos.set(0);
        crowded.set(0);
        sparse.set(0);
        most = 0;
    }

    private Limit.Window look(long now) {
        int calls = ended.get();
        int met = crowded.get();
        int places = Math.min(present, servedAtOnce + Math.max(0, elsewhere.get()));
        overloaded = met * 10L >= calls && sparse.get() * 10L <= met;
        int reached = Math.min(places, most);
        shares.windowEnds();
        if (calls < FEW) {
            hangingAfterNanos = Math.min(2 * hangingAfterNanos, LONGEST_HANGING_NANOS);
            return new Limit.Window(0, 0, 0, reached, overloaded, false);
        }
        double mean = (double) nanos.get() / calls;
        shortestNanos = Math.max(SHORTEST_NANOS, Math.min(LONGEST_NANOS, (long) mean));
        hangingAfterNanos = Math.max(LONG_NANOS, (long) (HANGING * mean));
        double perSecond = (calls + endedOfBefore.get()) * 1e9 / Math.max(1, now - phaseBegun);
        boolean flooded = overloaded && askedFrom < crowdedFrom && most < crowdedFrom;
        return new Limit.Window(calls, mean, perSecond, reached, overloaded, flooded);
    }
}
