package tern.rpc.diagnosis.excess;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import tern.rpc.diagnosis.pool.ObservedPool;
import tern.rpc.diagnosis.pool.PoolVerdict;
import tern.rpc.pool.Holders;
import tern.rpc.pool.PoolKind;
import tern.rpc.pool.PoolSnapshot;

/** Tests which statements of threads that serve no call may load a database. */
class BackgroundStatementsTest {

    private static String longest(PoolKind kind, String operation) {
        Holders holders = new Holders();
        holders.taken(System.nanoTime() - TimeUnit.SECONDS.toNanos(3)).begins(operation);
        PoolSnapshot now = PoolSnapshot.builder("pool", kind, 4)
                .now(1, 0, 0)
                .counts(0, 0)
                .sums(Duration.ZERO, Duration.ZERO)
                .settings(List.of())
                .build();
        PoolVerdict pool = new PoolVerdict(
                ObservedPool.of(now, null, holders, Set.of(), -1, null),
                PoolVerdict.Reason.UNKNOWN,
                null,
                null,
                List.of());
        return BackgroundStatements.longest(Map.of("pool", pool), "");
    }

    @Test
    void statementOfAJobMayLoadTheDatabase() {
        assertThat(longest(PoolKind.JDBC, "delete from old")).contains("check its statement first: delete from old");
    }

    @Test
    void commandOfRedisDoesNotLoadTheDatabase() {
        assertThat(longest(PoolKind.REDIS, "KEYS resv:*")).isEmpty();
    }
}
