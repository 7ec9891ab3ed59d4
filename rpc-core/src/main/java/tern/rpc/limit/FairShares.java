package tern.rpc.limit;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import tern.rpc.NanoClock;

/**
 * Decides which tenant must wait if the free permits of a {@link Limiter} are not enough for all tenants. It handles
 * only calls that find few free permits.
 *
 * <p>A tenant floods the server if it sent more than two thirds of these calls in one measurement window of the
 * limiter. A flooding tenant's calls must wait, unless the tenant holds less than a sixteenth of all permits in use.
 * The calls of all other tenants are admitted, even beyond the limit. A majority vote in constant space finds the
 * flooding tenant (R. Boyer, J Moore, 1981).
 *
 * <p>If no tenant floods, the tenant that holds the most permits must wait. Some permits are reserved for tenants with
 * fewer calls, for as long as these tenants send calls. The calls of these tenants are admitted even beyond the limit
 * while another tenant holds more than twice as many permits, so that the larger tenant loses permits. If many tenants
 * hold one or two permits each, no call is admitted beyond the limit. The largest tenant is found without sorting: a
 * tenant that holds more permits than the largest known tenant replaces it.
 *
 * <p>If there is only one tenant, no permit is reserved. Thread-safe. A race may cause a single call to be wrongly
 * admitted or refused.
 */
final class FairShares {

    /** How long permits stay reserved after another tenant's last call. */
    private static final long OTHERS_NANOS = TimeUnit.SECONDS.toNanos(1);

    /**
     * A tenant floods if its votes exceed the votes against it by more than 1/{@value} of the calls, that is, if it
     * sent more than two thirds of the calls.
     */
    private static final int CALLS_FOR_A_VOTE = 3;

    /** A flooding tenant need not wait while it has less than 1/{@value} of all admitted calls. */
    private static final int MUCH = 16;

    private volatile @Nullable Share largest;

    private volatile @Nullable Share other; // The last tenant that did not have to yield to other tenants.
    private volatile long othersUntil;

    private volatile @Nullable Share flooding;
    private volatile @Nullable Share candidate;
    private final AtomicInteger votes = new AtomicInteger();
    private final AtomicInteger calls = new AtomicInteger();

    FairShares(NanoClock clock) {
        this.othersUntil = clock.nanoTime();
    }

    /** Counts a call that found few free permits. In the majority vote, the call is a vote for its tenant. */
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

    /**
     * Called at the end of a measurement window. A tenant that flooded the server in this window is limited during
     * the next window.
     */
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
     * Returns whether a call that finds few free permits must be refused for the benefit of other tenants.
     *
     * @param inside the number of admitted calls of all tenants
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

    /**
     * Returns whether other tenants send calls. After the other tenants have stopped, {@code other} may contain the
     * tenant itself.
     */
    private boolean othersWantIn(Share asking, long now) {
        return asking != other && now - othersUntil < 0;
    }

    /**
     * Returns whether the tenant has few admitted calls. Counting arrivals would not be enough: a tenant with many fast
     * calls sends the most calls, but a few slow calls of another tenant may occupy all permits for a long time.
     */
    private static boolean holdsLittle(Share share, int inside) {
        return (long) share.held() * MUCH < inside;
    }

    /**
     * Returns whether another tenant floods the server, or would have more than twice as many admitted calls even if
     * this tenant had one more.
     *
     * @param inside the number of admitted calls of all tenants
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
