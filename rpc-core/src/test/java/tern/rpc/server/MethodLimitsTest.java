package tern.rpc.server;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import tern.rpc.limit.FixedLimit;
import tern.rpc.limit.Share;

class MethodLimitsTest {

    private static final MethodLimits.Key KEY = new MethodLimits.Key("Orders", "place");

    private final MethodLimits limits = new MethodLimits(Map.of(), 200, () -> 0);
    private final Share tenant = new Share("tenant");

    private MethodLimiter set(int limit) {
        return Objects.requireNonNull(limits.set(KEY, new FixedLimit(limit)));
    }

    @Test
    void runningCallsCountAfterTheLimitIsRemovedAndSetAgain() {
        MethodPlace running = Objects.requireNonNull(set(1).enter(tenant, 0));

        assertThat(limits.set(KEY, null)).isNull();
        MethodLimiter again = set(1);

        assertThat(again.enter(tenant, 0)).isNull();
        running.leave(0);
        assertThat(again.enter(tenant, 0)).isNotNull();
    }
}
