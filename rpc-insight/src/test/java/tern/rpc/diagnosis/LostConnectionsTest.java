package tern.rpc.diagnosis;

import static org.assertj.core.api.Assertions.assertThat;
import static tern.rpc.diagnosis.Shop.first;

import java.sql.SQLNonTransientConnectionException;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import tern.rpc.Phase;
import tern.rpc.diagnosis.cause.Cause;
import tern.rpc.pool.PoolKind;
import tern.rpc.pool.PoolSnapshot;

/** Tests pools whose open connections are cut, and whose new connections open slowly. */
class LostConnectionsTest {

    private final Shop shop = new Shop();
    private long taken;

    @Test
    void callsWaitForNewConnectionsAfterAllConnectionsWereLost() {
        shop.healthy(call -> call.own(2).in(Phase.JDBC_CONNECTION, "druid", 0.1).in(Phase.SQL, "select stock", 3));
        shop.pools.add(() -> PoolSnapshot.builder("druid", PoolKind.JDBC, 64)
                .now(3, 0, 5)
                .counts(taken += 50, 0)
                .sums(Duration.ZERO, Duration.ofMillis(taken * 4))
                .settings(List.of())
                .build());
        for (int second = 0; second < 6; second++) {
            long begun = shop.now();
            shop.call(
                    Shop.PLACE,
                    0,
                    new SQLNonTransientConnectionException("connection broken", "90067"),
                    call -> call.own(1).in(Phase.SQL, "select stock (failed 90067)", 1));
            shop.evenSecond(50, () -> {
                double waits = Math.max(0.1, 250 - (shop.now() - begun) / 1e6);
                return call ->
                        call.own(2).in(Phase.JDBC_CONNECTION, "druid", waits).in(Phase.SQL, "select stock", 3);
            });
        }

        Cause first = first(shop.diagnosis());

        assertThat(first.title()).as(shop.diagnosis().text()).isEqualTo("CONNECTIONS OPEN SLOWLY: druid");
        assertThat(shop.diagnosis().causes()).anyMatch(cause -> cause.title().contains("connection lost"));
    }
}
