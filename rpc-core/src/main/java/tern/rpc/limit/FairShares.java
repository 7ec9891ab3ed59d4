package tern.rpc.limit;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import tern.rpc.NanoClock;

/**
 * Decides which tenant must wait if a {@link Limiter} does not have enough free permits for all tenants. The limiter
 * uses this class only for calls that find few free permits.
 *
 * <p>A tenant floods the server if it sent more than two thirds of the calls that found few free permits, in one
 * measurement window of the limiter. A flooding tenant's calls must wait, unless the tenant holds less than a sixteenth
 * of all permits in use. The calls from all other tenants are admitted, even beyond the limit. The flooding tenant is
 * found by a majority vote in constant space, in which each call is a vote for its tenant (R. Boyer, J Moore, 1981).
 *
 * <p>The number of calls that a tenant sends does not show how much of the server the tenant occupies. For example, one
 * tenant can send the most calls, all of them fast, while a few slow calls from another tenant occupy all permits for a
 * long time. A tenant that is crowded out therefore never waits and never floods. A tenant is crowded out if two
 * conditions hold. First, the largest other tenant holds more than an equal share of the permits. Second, the tenant
 * itself holds less than an equal share, or less than half as many permits as the largest other tenant.
 *
 * <p>If no tenant floods, the tenant that holds the most permits must wait. Some permits are reserved for tenants with
 * fewer calls than the largest tenant, while these tenants send calls. The calls from such a tenant are admitted even
 * beyond the limit while another tenant holds more than twice as many permits. The larger tenant therefore loses
 * permits. If many tenants hold one or two permits each, no call is admitted beyond the limit. The largest tenant is
 * found without sorting: a tenant that holds more permits than the largest known tenant replaces it.
 *
 * <p>If there is only one tenant, no permit is reserved. Thread-safe. A race can cause a single call to be wrongly
 * admitted or refused.
 */
final class FairShares {

    /**
     * How long permits stay reserved after the last call from a tenant that has fewer calls than the largest tenant.
     */
    private static final long OTHERS_NANOS = TimeUnit.SECONDS.toNanos(1);

    /**
     * In the majority vote, a tenant floods the server if it has more calls than all other tenants together, by more
     * than 1/{@value} of all calls. Such a tenant sent more than two thirds of the calls.
     */
    private static final int CALLS_FOR_A_VOTE = 3;

    /**
     * A tenant that floods the server (sends most of the calls) need not wait while it has less than 1/{@value} of all
     * admitted calls.
     */
    private static final int MUCH = 16;

    private volatile int places;
    private volatile @Nullable Share largest;

    // The first count is the number of tenants with admitted calls, without single connections. Such tenants are client
    // addresses, for example. The second count is the number of connections with admitted calls. Both counts are
    // needed, because a connection counts as a tenant only until a connection from a second address arrives.
    private final AtomicInteger wholeTenants = new AtomicInteger();
    private final AtomicInteger connectionTenants = new AtomicInteger();

    // The tenant that permits were last reserved for, and the end of the reservation.
    private volatile @Nullable Share other;
    private volatile long othersUntil;

    private volatile @Nullable Share flooding;
    private volatile @Nullable Share candidate;
    private final AtomicInteger votes = new AtomicInteger();
    private final AtomicInteger calls = new AtomicInteger();

    /**
     * @param places the number of permits that all tenants together may hold without waiting, while the limit is not
     *     reduced
     */
    FairShares(int places, NanoClock clock) {
        this.places = places;
        this.othersUntil = clock.nanoTime();
    }

    /** Sets the number of permits that all tenants together may hold without waiting. */
    void places(int changed) {
        places = changed;
    }

    /** Counts an admitted call from a tenant. */
    void entered(Share share) {
        for (Share each = share; each != null; each = each.whole()) {
            if (each.entered() == 1) {
                tenantsLike(each).incrementAndGet();
            }
        }
        Share known = largest;
        if (known == null || known == share.whole() || (share != known && share.held() > known.held())) {
            largest = share;
        }
    }

    /** Removes a call from the counts. Must be called once for each call of {@link #entered}. */
    void left(Share share) {
        for (Share each = share; each != null; each = each.whole()) {
            if (each.left() == 0) {
                tenantsLike(each).decrementAndGet();
            }
        }
    }

    private AtomicInteger tenantsLike(Share share) {
        return share.isPart() ? connectionTenants : wholeTenants;
    }

    /**
     * Returns the number of tenants that have admitted calls and are of the same kind as the given tenant. There are
     * two kinds of tenants: single connections, and all other tenants, such as client addresses.
     */
    int tenants(Share share) {
        return tenantsLike(share).get();
    }

    /** Returns the tenant that holds the most permits, among the tenants that have been compared so far. */
    @Nullable
    Share largest() {
        return largest;
    }

    /**
     * Counts a call that found few free permits. In the majority vote, which finds the tenant that sent most of the
     * calls, the call is a vote for its tenant. If a larger tenant crowds out this tenant, the call only counts as a
     * vote against the current candidate.
     */
    void vote(@Nullable Share share) {
        calls.incrementAndGet();
        if (share != null && isCrowdedOut(share)) {
            if (votes.get() > 0) {
                votes.decrementAndGet();
            }
        } else if (share == candidate) {
            votes.incrementAndGet();
        } else if (votes.get() <= 0) {
            candidate = share;
            votes.set(1);
        } else {
            votes.decrementAndGet();
        }
    }

    /**
     * Determines which tenant flooded the server in the measurement window that is ending. This tenant is limited
     * during the next window.
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
     * Returns whether a call must be refused so that calls from other tenants can be admitted. Called for calls that
     * find few free permits.
     *
     * @param inside the number of admitted calls from all tenants
     */
    boolean yields(@Nullable Share share, long now, int inside) {
        if (share == null) {
            return false;
        }
        if (isCrowdedOut(share)) {
            wantsIn(share, now);
            return false;
        }
        Share flood = flooding;
        if (flood != null && !isCrowdedOut(flood)) {
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
     * Returns whether any tenant other than the given tenant has recently sent calls. A closed connection from the same
     * address does not count as another tenant.
     */
    private boolean othersWantIn(Share asking, long now) {
        Share current = other;
        return asking != current && now - othersUntil < 0 && !asking.isAllThatIsLeftOf(current);
    }

    /** Returns whether the tenant has few admitted calls. */
    private static boolean holdsLittle(Share share, int inside) {
        return (long) share.held() * MUCH < inside;
    }

    private boolean isCrowdedOut(Share share) {
        Share known = largest;
        return known != null
                && known != share.whole()
                && isCrowdedOut(share.held(), known.held(), tenants(share), places);
    }

    /**
     * Returns whether a tenant is crowded out by the largest tenant. Two conditions must hold. First, the largest
     * tenant holds more than an equal share. Second, the given tenant holds less than an equal share, or less than half
     * as much as the largest tenant.
     *
     * @param held the number of calls or threads that the tenant holds
     * @param largest the number that the largest tenant holds
     * @param places the number that all tenants together may hold without waiting
     */
    static boolean isCrowdedOut(int held, int largest, int tenants, int places) {
        long equalPart = places; // an equal share, multiplied by the number of tenants to avoid a division
        return (long) largest * tenants > equalPart
                && largest > held
                && (held * (long) tenants < equalPart || isFarLess(held, largest));
    }

    private static boolean isFarLess(int held, int largest) {
        return 2 * (held + 1) < largest;
    }

    /**
     * Returns whether a call from this tenant may be admitted beyond the limit. If another tenant floods the server
     * (sends most of the calls), the call may be admitted. If this tenant floods the server, its call may be admitted
     * only if the tenant has few admitted calls or is crowded out by a larger tenant. If no tenant floods the server,
     * the call may be admitted only if the largest other tenant has more than twice as many admitted calls as this
     * tenant. The new call counts as a call of this tenant.
     *
     * @param inside the number of admitted calls from all tenants
     */
    boolean isBehind(@Nullable Share share, int inside) {
        Share flood = flooding;
        if (flood != null && share != null) {
            return share != flood || holdsLittle(share, inside) || isCrowdedOut(share);
        }
        Share known = largest;
        return share != null && known != null && known != share.whole() && isFarLess(share.held(), known.held());
    }
}
