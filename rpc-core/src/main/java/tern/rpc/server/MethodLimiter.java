package tern.rpc.server;

import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import tern.rpc.limit.Limit;
import tern.rpc.limit.Limiter;
import tern.rpc.limit.Share;

/**
 * Limits the running calls to one method, and divides the permitted number of calls among tenants. While there is only
 * one tenant, it may make all permitted calls. A call may be refused although its tenant has less than an equal share
 * of the running calls. Tenants with an equal share or more may then start no more calls for one second. When their
 * calls end, the permits are available to the refused tenant. Thread-safe. A race can cause a single call to be wrongly
 * accepted or refused.
 */
final class MethodLimiter {

    private static final long YIELD_NANOS = TimeUnit.SECONDS.toNanos(1);

    private final Limiter limiter;

    /** The number of running calls of each tenant to this method. */
    private final CallCounts<Share> held = new CallCounts<>();

    // the last refused tenant that had less than an equal share of the running calls
    private volatile @Nullable Need need;

    private record Need(Share tenant, long untilNanos) {}

    MethodLimiter(Limiter limiter) {
        this.limiter = limiter;
    }

    /**
     * Admits a call to the method if the number of running calls is below the limit.
     *
     * @param tenant counts the admitted calls of the call's tenant; null if the transport does not distinguish tenants
     * @return the call's permit, or null if the call is refused
     */
    @Nullable
    MethodPlace enter(@Nullable Share tenant, long now) {
        if (tenant != null && yields(tenant, now)) {
            return null;
        }
        if (limiter.enter(null, now) != null) {
            if (tenant != null && !hasEqualShare(tenant, null)) {
                need = new Need(tenant, now + YIELD_NANOS);
            }
            return null;
        }
        if (tenant != null) {
            held.add(tenant);
        }
        return new MethodPlace(this, tenant, now);
    }

    private boolean yields(Share tenant, long now) {
        Need other = need;
        return other != null
                && other.tenant != tenant
                && now - other.untilNanos < 0
                && hasEqualShare(tenant, other.tenant);
    }

    /** @param other another tenant to count, even if it has no running call; may be null */
    private boolean hasEqualShare(Share tenant, @Nullable Share other) {
        int tenants = held.keys();
        if (!held.hasAny(tenant)) {
            tenants++;
        }
        if (other != null && !held.hasAny(other)) {
            tenants++;
        }
        return (long) held.of(tenant) * tenants >= limiter.limit();
    }

    void leave(@Nullable Share tenant, long entered, long now) {
        free(tenant);
        limiter.leave(null, entered, now);
    }

    void leaveUnserved(@Nullable Share tenant, long entered) {
        free(tenant);
        limiter.leaveUnserved(null, entered);
    }

    private void free(@Nullable Share tenant) {
        if (tenant != null) {
            held.remove(tenant);
        }
    }

    int inside() {
        return limiter.inside();
    }

    int limit() {
        return limiter.limit();
    }

    /**
     * Returns a description of the limit for error messages.
     *
     * @param property the property that sets the limit, unless another place has set it
     */
    String describe(String property) {
        return limiter.describe(property);
    }

    /** Replaces the limit. Running calls keep their permits. */
    void change(Limit next, long now) {
        limiter.change(next, now);
    }
}
