package tern.rpc.diagnosis;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import tern.rpc.Phase;
import tern.rpc.diagnosis.cause.Cause;
import tern.rpc.pool.PoolKind;
import tern.rpc.pool.PoolSnapshot;

/**
 * Tests the diagnosis if calls wait for an executor or a data source whose state is unknown. A healthy pool must not be
 * named as the cause.
 */
class UnknownPoolsTest {

    private final Shop shop = new Shop();

    @BeforeEach
    void addAHealthyPool() {
        long[] taken = new long[1];
        shop.pools.add(() -> PoolSnapshot.builder("druid", PoolKind.JDBC, 20)
                .now(1, 19, 0)
                .counts(taken[0] += 100, 0)
                .sums(Duration.ZERO, Duration.ofMillis(taken[0] * 3))
                .settings(List.of())
                .build());
        shop.healthy(Shop.USUAL);
    }

    @Test
    void executorIsNotTakenForThePoolOfTheDatabase() {
        Diagnosis miss = shop.miss(call -> call.own(2).in(Phase.EXECUTOR, "single", 300));

        Cause first = Shop.first(miss);
        assertThat(first.kind() + ": " + first.name()).as(miss.text()).isEqualTo("EXECUTOR TOO SMALL: single");
        assertThat(first.change().text())
                .contains("more threads for \"single\"")
                .contains("wait 300 ms for a thread");
        assertThat(miss.causes()).noneMatch(cause -> cause.name().equals("druid"));
    }

    @Test
    void schedulerOfReactorIsEnlargedByItsProperty() {
        Diagnosis miss = shop.miss(call -> call.own(2).in(Phase.EXECUTOR, "reactor", 300));

        assertThat(Shop.first(miss).change().text())
                .contains("\"reactor\" (-Dreactor.schedulers.defaultBoundedElasticSize)");
    }

    @Test
    void dataSourceWithoutAPoolIsNotTakenForThePoolOfAnotherOne() {
        Diagnosis miss = shop.miss(call -> call.own(2).in(Phase.JDBC_CONNECTION, "reports", 200));

        Cause first = Shop.first(miss);
        assertThat(first.kind() + ": " + first.name()).as(miss.text()).isEqualTo("CONNECTIONS OPEN SLOWLY: reports");
        assertThat(first.change().text()).contains("a connection pool for the data source \"reports\"");
        assertThat(miss.causes()).noneMatch(cause -> cause.name().equals("druid"));
    }
}
