package tern.rpc.diagnosis;

import static org.assertj.core.api.Assertions.assertThat;
import static tern.rpc.diagnosis.Shop.PLACE;

import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.DoubleFunction;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tern.rpc.Phase;
import tern.rpc.diagnosis.cause.Cause;
import tern.rpc.pool.PoolKind;
import tern.rpc.pool.PoolSetting;
import tern.rpc.pool.PoolSnapshot;

/**
 * Tests a pool that becomes smaller while a peer or a statement becomes slower. Both changes are reported as causes.
 */
class PoolBesidePeerTest {

    private static final String PEER = "GET bank:80/rates";

    private final Shop shop = new Shop();
    private final double[] freeAt = new double[8]; // for each connection, the time in milliseconds when it becomes free
    private int size = 8;
    private int waiting;
    private long taken;
    private double waited;
    private double held;

    private void pool(PoolKind kind) {
        shop.pools.add(() -> PoolSnapshot.builder("own", kind, size)
                .now(waiting == 0 ? 2 : size, waiting == 0 ? size - 2 : 0, waiting)
                .counts(taken, 0)
                .sums(Duration.ofNanos((long) (waited * 1e6)), Duration.ofNanos((long) (held * 1e6)))
                .settings(List.of(new PoolSetting(
                                "pool.max", Integer.toString(size), PoolSetting.Source.USER, PoolSetting.Use.MAX)
                        .accepting(new PoolSetting.Range(1, 10_000))))
                .build());
    }

    /** Borrows a connection for the given time, and returns the time of the wait for it. */
    private double borrow(double millis) {
        double[] places = Arrays.copyOf(freeAt, size);
        Arrays.sort(places);
        double now = shop.now() / 1e6;
        double wait = Math.max(0, places[0] - now);
        places[0] = now + wait + millis;
        System.arraycopy(places, 0, freeAt, 0, size);
        taken++;
        waited += wait;
        held += millis;
        return wait;
    }

    private void seconds(int seconds, int calls, DoubleFunction<Consumer<Shop.Steps>> call, double hold) {
        for (int i = 0; i < seconds; i++) {
            shop.evenSecond(calls, () -> call.apply(borrow(hold)));
        }
    }

    private List<String> titles() {
        return shop.diagnosis().causes().stream().map(DiagnosisText::title).toList();
    }

    private Cause cause(String kind) {
        return shop.diagnosis().causes().stream()
                .filter(cause -> cause.kind().equals(kind))
                .findFirst()
                .orElseThrow(() -> new AssertionError(shop.diagnosis().text()));
    }

    /** A call holds no connection during the slow exchange. */
    @ParameterizedTest
    @CsvSource({"JDBC, JDBC_CONNECTION, SQL, select stock", "REDIS, REDIS_CONNECTION, REDIS, GET stock:*"})
    void poolThatBecameSmallerAndASlowPeerOutsideOfItAreTwoCauses(
            PoolKind kind, Phase connection, Phase phase, String operation) {
        pool(kind);
        seconds(
                90,
                60,
                wait -> call -> call.own(1)
                        .in(connection, "own", wait)
                        .in(phase, operation, 30)
                        .in(Phase.HTTP, PEER, 5),
                30);
        size = 2;
        waiting = 12;
        seconds(
                8,
                70,
                wait -> call -> call.own(1)
                        .in(connection, "own", Math.min(wait, 400))
                        .in(phase, operation, 30)
                        .in(Phase.HTTP, PEER, 160),
                30);

        assertThat(titles())
                .as(shop.diagnosis().text())
                .containsExactlyInAnyOrder("POOL TOO SMALL: own", "SLOW HTTP PEER: " + PEER);
        assertThat(cause("POOL TOO SMALL").change().text()).contains("its former 8 connections");
        assertThat(cause("SLOW HTTP PEER").change().text()).doesNotContain("connection of \"own\"");
    }

    /** A call holds a connection during the slow exchange. */
    @Test
    void poolThatBecameSmallerAndASlowPeerDuringItsUseAreTwoCauses() {
        pool(PoolKind.JDBC);
        seconds(
                90,
                60,
                wait -> call -> call.own(1)
                        .in(Phase.JDBC_CONNECTION, "own", wait)
                        .in(Phase.SQL, "select stock", 30)
                        .in(Phase.HTTP, PEER, 5),
                35);
        size = 3;
        waiting = 12;
        seconds(
                8,
                70,
                wait -> call -> call.own(1)
                        .in(Phase.JDBC_CONNECTION, "own", Math.min(wait, 800))
                        .in(Phase.SQL, "select stock", 30)
                        .in(Phase.HTTP, PEER, 160),
                190);

        assertThat(titles())
                .as(shop.diagnosis().text())
                .isEqualTo(List.of("SLOW HTTP PEER: " + PEER, "POOL TOO SMALL: own"));
        assertThat(cause("POOL TOO SMALL").change().text()).contains("its former 8 connections");
        assertThat(cause("SLOW HTTP PEER").change().text()).startsWith("do not hold a connection of \"own\"");
    }

    @ParameterizedTest
    @CsvSource({"10", "30"})
    void poolThatBecameSmallerAndASlowStatementAreTwoCauses(int other) {
        pool(PoolKind.JDBC);
        seconds(
                90,
                60,
                wait -> call -> call.own(1)
                        .in(Phase.JDBC_CONNECTION, "own", wait)
                        .in(Phase.SQL, "select stock", 5)
                        .in(Phase.SQL, "select other", other),
                5 + other);
        size = 3;
        waiting = 12;
        seconds(
                8,
                70,
                wait -> call -> call.own(1)
                        .in(Phase.JDBC_CONNECTION, "own", Math.min(wait, 800))
                        .in(Phase.SQL, "select stock", 120)
                        .in(Phase.SQL, "select other", other),
                120 + other);

        assertThat(titles())
                .as(shop.diagnosis().text())
                .isEqualTo(List.of("SLOW STATEMENT: select stock", "POOL TOO SMALL: own"));
        assertThat(cause("POOL TOO SMALL").change().text()).contains("its former 8 connections");
        assertThat(cause("SLOW STATEMENT").change().text()).doesNotContain("a different pool size does not help");
    }

    /** One method uses the pool, and only a different method uses the slow peer. */
    @Test
    void poolThatBecameSmallerAndASlowPeerOfAnotherMethodAreTwoCauses() {
        pool(PoolKind.JDBC);
        for (int i = 0; i < 98; i++) {
            boolean isFault = i >= 90;
            size = isFault ? 2 : 8;
            waiting = isFault ? 10 : 0;
            shop.second(() -> {
                for (int call = 0; call < 40; call++) {
                    taken++;
                    held += 30;
                    waited += isFault ? 150 : 0;
                    shop.call(
                            PLACE,
                            0,
                            steps -> steps.own(1)
                                    .in(Phase.JDBC_CONNECTION, "own", isFault ? 150 : 0)
                                    .in(Phase.SQL, "select stock", 30));
                    shop.call("Rates.of", 0, steps -> steps.own(1).in(Phase.HTTP, PEER, isFault ? 180 : 5));
                }
            });
        }

        assertThat(titles())
                .as(shop.diagnosis().text())
                .containsExactlyInAnyOrder("POOL TOO SMALL: own", "SLOW HTTP PEER: " + PEER);
    }
}
