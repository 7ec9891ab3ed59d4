package tern.rpc.server;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import tern.rpc.limit.FixedLimit;
import tern.rpc.limit.Limiter;
import tern.rpc.limit.Share;

class MethodLimiterTest {

    private static final long SECOND = Duration.ofSeconds(1).toNanos();

    private final MethodLimiter limiter = limiter(10);
    private final Share many = new Share("many");
    private final Share few = new Share("few");
    private final Deque<MethodPlace> ofMany = new ArrayDeque<>();

    private static MethodLimiter limiter(int limit) {
        return new MethodLimiter(new Limiter(new FixedLimit(limit), 200, () -> 0));
    }

    /** Makes calls for the tenant until one is refused, and returns the number of admitted calls. */
    private int fill(Share tenant, long now) {
        int taken = 0;
        for (MethodPlace place = limiter.enter(tenant, now); place != null; place = limiter.enter(tenant, now)) {
            taken++;
            if (tenant == many) {
                ofMany.add(place);
            }
        }
        return taken;
    }

    private void endOne() {
        ofMany.remove().leave(0);
    }

    @Test
    void singleTenantMayUseAllPermits() {
        assertThat(fill(many, 0)).isEqualTo(10);
        endOne();
        assertThat(fill(many, 0)).isEqualTo(1);
    }

    @Test
    void placesThatATenantReturnsAreLeftToARefusedTenantUntilBothHaveAnEqualShare() {
        fill(many, 0);
        assertThat(limiter.enter(few, 0)).isNull();

        for (int i = 0; i < 5; i++) {
            endOne();
            assertThat(limiter.enter(many, 0)).isNull();
            assertThat(fill(few, 0)).isEqualTo(1);
        }

        endOne();
        assertThat(fill(many, 0)).isEqualTo(1);
    }

    @Test
    void placesAreLeftForOneSecond() {
        fill(many, 0);
        assertThat(limiter.enter(few, 0)).isNull();
        endOne();

        assertThat(limiter.enter(many, SECOND - 1)).isNull();
        assertThat(fill(many, SECOND)).isEqualTo(1);
    }

    @Test
    void thirdTenantWithoutCallsIsNotHeldBack() {
        fill(many, 0);
        assertThat(limiter.enter(few, 0)).isNull();
        endOne();

        assertThat(limiter.enter(new Share("third"), 0)).isNotNull();
    }

    @Test
    void placeIsReturnedOnce() {
        MethodPlace place = Objects.requireNonNull(limiter.enter(many, 0));

        place.leave(0);
        place.leaveUnserved();
        place.leave(0);

        assertThat(limiter.inside()).isZero();
        assertThat(fill(many, 0)).isEqualTo(10);
    }

    @Test
    void callsWithoutATenantAreOnlyLimited() {
        MethodLimiter one = limiter(1);
        assertThat(one.enter(null, 0)).isNotNull();
        assertThat(one.enter(null, 0)).isNull();
    }
}
