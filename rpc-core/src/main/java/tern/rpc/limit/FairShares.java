package tern.rpc.limit;

import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import tern.rpc.NanoClock;

/**
 * Who has to wait when there is no room for all: the tenant that holds the most. It is asked only about calls that find
 * few places left. Those are kept for tenants that hold fewer, for as long as there are any that want in; and these get in
 * even beyond the limit while somebody holds more than twice as much, so that he shrinks until he does not. Where many hold
 * one or two each, nobody gets in beyond the limit. Nobody is counted or sorted: whoever turns out to hold more than the one
 * that is known to hold the most takes its place.
 *
 * <p>With one tenant nothing is kept free. Thread-safe; a race costs one call the wrong answer.
 */
final class FairShares {

    /** How long after the last call of another tenant places are kept for such calls. */
    private static final long OTHERS_NANOS = TimeUnit.SECONDS.toNanos(1);

    private volatile @Nullable Share largest;
    private volatile long othersUntil;

    FairShares(NanoClock clock) {
        this.othersUntil = clock.nanoTime();
    }

    /** Whether a call that finds few places left is to be refused, so that others get them. */
    boolean yields(@Nullable Share share, long now) {
        if (share == null) {
            return false;
        }
        Share known = largest;
        if (share != known) {
            if (known != null) {
                othersUntil = now + OTHERS_NANOS;
                if (share.held() < known.held()) {
                    return false;
                }
            }
            largest = share;
        }
        return now - othersUntil < 0;
    }

    /** Whether somebody would hold more than twice as much even if this one held one more. */
    boolean isBehind(@Nullable Share share) {
        Share known = largest;
        return share != null && known != null && 2 * (share.held() + 1) < known.held();
    }
}
