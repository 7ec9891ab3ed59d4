package tern.rpc.diagnosis;

import static org.assertj.core.api.Assertions.assertThat;
import static tern.rpc.diagnosis.Shop.first;

import java.time.Duration;
import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tern.rpc.Phase;
import tern.rpc.pool.PoolKind;
import tern.rpc.pool.PoolSetting;
import tern.rpc.pool.PoolSnapshot;

/** Tests a Redis pool whose connections nobody returns, for example because pipelines are not closed. */
class LostRedisConnectionsTest {

    private final Shop shop = new Shop();

    /** An exception with the same simple name as the exception that Jedis throws if its pool is exhausted. */
    private static final class JedisExhaustedPoolException extends RuntimeException {
        private static final long serialVersionUID = 1;

        JedisExhaustedPoolException() {
            super("Could not get a resource since the pool is exhausted");
        }
    }

    /** The diagnosis may read the pool when no call waits, because each call waits only for a short time. */
    @ParameterizedTest
    @ValueSource(ints = {0, 2})
    void connectionsThatNoCallUsesAreLostAndRedisIsNotSilent(int waiting) {
        boolean[] full = {false};
        PoolSetting max = new PoolSetting("rpc.pools.jedis.max", "50", PoolSetting.Source.USER, PoolSetting.Use.MAX);
        shop.pools.add(() -> PoolSnapshot.builder("jedis", PoolKind.REDIS, 50)
                .now(full[0] ? 50 : 2, full[0] ? 0 : 48, full[0] ? waiting : 0)
                .counts(4_000, full[0] ? shop.now() / 100_000_000 : 0)
                .sums(Duration.ZERO, Duration.ofMillis(44_000))
                .settings(List.of(max))
                .build());
        shop.healthy(call -> call.own(2).in(Phase.REDIS, "INCR number:*", 1));
        full[0] = true;
        for (int second = 0; second < 8; second++) {
            shop.second(() -> {
                for (int i = 0; i < 20; i++) {
                    shop.call(
                            Shop.PLACE,
                            0,
                            new JedisExhaustedPoolException(),
                            call -> call.own(2).in(Phase.REDIS_CONNECTION, "jedis", 200));
                }
                for (int i = 0; i < 40; i++) {
                    shop.call("OrderService.list", 0, call -> call.own(2));
                }
            });
        }

        Diagnosis miss = shop.diagnosis();

        assertThat(first(miss).title()).as(miss.text()).isEqualTo("NOT GIVEN BACK: jedis");
        assertThat(miss.text()).doesNotContain("does not answer");
    }
}
