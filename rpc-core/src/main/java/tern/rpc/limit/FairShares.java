package tern.rpc.limit;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import tern.rpc.NanoClock;

/**
 * Who has to wait when there is no room for all. It is asked only about calls that find few places left.
 *
 * <p>A tenant who sent more than two thirds of these in a window floods: he is the one who waits, and all others get in
 * even beyond the limit, unless he holds less than a sixteenth of all calls. A majority vote in constant space tells who it
 * is (R. Boyer, J Moore, 1981).
 *
 * <p>Where nobody floods it is the tenant that holds the most. Places are kept for tenants that hold fewer, for as long as
 * there are any that want in; and these get in even beyond the limit while somebody holds more than twice as much, so that
 * he shrinks until he does not. Where many hold one or two each, nobody gets in beyond the limit. Nobody is counted or
 * sorted: whoever turns out to hold more than the one that is known to hold the most takes its place.
 *
 * <p>With one tenant nothing is kept free. Thread-safe; a race costs one call the wrong answer.
 */
final class FairShares {

    /** How long after the last call of another tenant places are kept for such calls. */
    private static final long OTHERS_NANOS = TimeUnit.SECONDS.toNanos(1);

    /** Of so many calls the votes for one tenant exceed those against him by one or more where he sent two thirds. */
    private static final int CALLS_FOR_A_VOTE = 3;

    /** Who holds one of so many calls or more can be in the way of others. */
    private static final int MUCH = 16;

    private volatile @Nullable Share largest;

    private volatile @Nullable Share other; // the last one that asked and was not the one to wait
    private volatile long othersUntil;

    private volatile @Nullable Share flooding;
    private volatile @Nullable Share candidate;
    private final AtomicInteger votes = new AtomicInteger();
    private final AtomicInteger calls = new AtomicInteger();

    FairShares(NanoClock clock) {
        this.othersUntil = clock.nanoTime();
    }

    /** A call found few places left. */
    void vote(@Nullable Share share) {
        calls.incrementAndGet();
        if (share == candidate) {
            votes.incrementAndGet();
        } else if (votes.get() <= 0) {
            candidate = share;
            votes.set(1);
        } else {
            votes.decrementAndGet();
        }
    }

    /** A window is over: who flooded in it is held to. */
    void windowEnds() {
        int all = calls.getAndSet(0);
        int surplus = votes.getAndSet(0);
        flooding = all > 0 && surplus * CALLS_FOR_A_VOTE > all ? candidate : null;
    }

    boolean isAnybodyFlooding() {
        return flooding != null;
    }

    boolean isFlooding(@Nullable Share share) {
        return share != null && share == flooding;
    }

    /**
     * Whether a call that finds few places left is to be refused, so that others get them.
     *
     * @param inside calls of all tenants
     */
    boolean yields(@Nullable Share share, long now, int inside) {
        if (share == null) {
            return false;
        }
        Share flood = flooding;
        if (flood != null) {
            if (share != flood) {
                wantsIn(share, now);
                return false;
            }
            return !holdsLittle(share, inside) && othersWantIn(share, now);
        }
        Share known = largest;
        int held = share.held();
        if (share != known) {
            if (known != null && held < known.held()) {
                wantsIn(share, now);
                return false;
            }
            largest = share;
        }
        return held > 0 && othersWantIn(share, now);
    }

    private void wantsIn(Share asking, long now) {
        other = asking;
        othersUntil = now + OTHERS_NANOS;
    }

    /** A tenant alone may have been the other one itself, beside one that has left since. */
    private boolean othersWantIn(Share asking, long now) {
        return asking != other && now - othersUntil < 0;
    }

    /** A tenant with many quick calls sends the most beside one whose few calls hold all places for long. */
    private static boolean holdsLittle(Share share, int inside) {
        return (long) share.held() * MUCH < inside;
    }

    /**
     * Whether another floods, or would hold more than twice as much even if this one held one more.
     *
     * @param inside calls of all tenants
     */
    boolean isBehind(@Nullable Share share, int inside) {
        Share flood = flooding;
        if (flood != null && share != null) {
            return share != flood || holdsLittle(share, inside);
        }
        Share known = largest;
        return share != null && known != null && 2 * (share.held() + 1) < known.held();
    }
}
