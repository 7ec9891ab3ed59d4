package tern.rpc.diagnosis.rule;

import static org.assertj.core.api.Assertions.assertThat;
import static tern.rpc.diagnosis.Shop.first;

import java.time.Duration;
import java.util.List;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tern.rpc.Phase;
import tern.rpc.diagnosis.Diagnosis;
import tern.rpc.diagnosis.DiagnosisText;
import tern.rpc.diagnosis.Shop;
import tern.rpc.diagnosis.cause.Cause;
import tern.rpc.pool.PoolKind;
import tern.rpc.pool.PoolSnapshot;

/** Tests calls that load the same missing cache entry at the same time. */
class StampedesTest {

    private static final String PRICE = "select price where id=?";
    private static final Consumer<Shop.Steps> HIT = call -> call.own(2).in(Phase.REDIS, "GET user:*", 1);

    private final Shop shop = new Shop();
    private int second;

    private static Consumer<Shop.Steps> load(Phase phase, String name, double millis) {
        return call -> call.own(2).in(Phase.REDIS, "GET user:*", 1).in(phase, name, millis);
    }

    /**
     * Serves 100 calls a second that arrive one after another. Every other second, the first calls find no entry in the
     * cache.
     */
    private void seconds(int count, int misses, Consumer<Shop.Steps> miss) {
        for (int i = 0; i < count; i++) {
            int missing = second++ % 2 == 0 ? misses : 0;
            int[] call = {0};
            shop.evenSecond(100, () -> call[0]++ < missing ? miss : HIT);
        }
    }

    @ParameterizedTest
    @CsvSource({
        "SQL, select price where id=?",
        "REDIS, HGETALL price:*",
        "HTTP, GET prices:80/price",
        "RPC, PriceService.of at prices-1:20880"
    })
    void callsThatLoadAMissingEntryAtOnceAreAStampede(Phase phase, String name) {
        seconds(90, 2, load(phase, name, 20));
        seconds(8, 30, load(phase, name, 300));

        Cause first = first(shop.diagnosis());
        assertThat(DiagnosisText.title(first)).as(shop.diagnosis().text()).isEqualTo("CACHE STAMPEDE: " + name);
        assertThat(first.change().text())
                .startsWith("let one call load a missing entry of the cache")
                .contains("@Cacheable(sync = true)")
                .contains("30 calls run it at the same time, every 2.0 s: " + name);
        assertThat(first.evidence())
                .anyMatch(fact -> fact.matches("bursts   [34], each of about 30 calls, every 2.0 s.*"));
    }

    @Test
    void stampedeThatHappensSinceTheStartIsNamed() {
        seconds(80, 30, load(Phase.SQL, PRICE, 300));

        assertThat(DiagnosisText.title(first(shop.diagnosis())))
                .as(shop.diagnosis().text())
                .isEqualTo("CACHE STAMPEDE: " + PRICE);
    }

    @Test
    void waitsForConnectionsDuringTheBurstsBelongToTheStampede() {
        seconds(90, 2, load(Phase.SQL, PRICE, 20));
        long[] taken = {0};
        shop.pools.add(() -> PoolSnapshot.builder("druid", PoolKind.JDBC, 10)
                .now(10, 0, 20)
                .counts(taken[0] += 30, 0)
                .sums(Duration.ofMillis(taken[0] * 250), Duration.ofMillis(taken[0] * 150))
                .settings(List.of())
                .build());
        seconds(
                8,
                40,
                call -> call.own(2)
                        .in(Phase.REDIS, "GET user:*", 1)
                        .in(Phase.JDBC_CONNECTION, "druid", 250)
                        .in(Phase.SQL, PRICE, 150));

        Cause first = first(shop.diagnosis());
        assertThat(DiagnosisText.title(first)).as(shop.diagnosis().text()).isEqualTo("CACHE STAMPEDE: " + PRICE);
        assertThat(first.symptoms()).anyMatch(symptom -> symptom.contains("druid"));
    }

    @Test
    void otherStatementsThatAreSlowerDuringTheBurstsBelongToTheStampede() {
        Consumer<Shop.Steps> other = call -> call.own(2).in(Phase.SQL, "select stock", 5);
        for (int i = 0; i < 90; i++) {
            int[] call = {0};
            int missing = second++ % 2 == 0 ? 2 : 0;
            shop.evenSecond(100, () -> call[0]++ < missing ? load(Phase.SQL, PRICE, 20) : other);
        }
        for (int i = 0; i < 8; i++) {
            int[] call = {0};
            int missing = second++ % 2 == 0 ? 30 : 0;
            shop.evenSecond(
                    100,
                    () -> call[0]++ < missing
                            ? steps -> load(Phase.SQL, PRICE, 200).accept(steps.in(Phase.SQL, "select stock", 90))
                            : other);
        }

        assertThat(shop.diagnosis().causes())
                .as(shop.diagnosis().text())
                .extracting(DiagnosisText::title)
                .containsExactly("CACHE STAMPEDE: " + PRICE);
    }

    private void assertNoStampede() {
        assertThat(shop.diagnosis().state()).isEqualTo(Diagnosis.State.MISS);
        assertThat(shop.diagnosis().causes())
                .as(shop.diagnosis().text())
                .noneMatch(cause -> cause.kind().equals("CACHE STAMPEDE"));
    }

    @Test
    void statementOfEveryCallThatStallsNowAndThenIsNoStampede() {
        Consumer<Shop.Steps> usual = load(Phase.SQL, PRICE, 5);
        shop.healthy(usual);
        for (int i = 0; i < 8; i++) {
            boolean stalls = i % 2 == 0;
            int[] call = {0};
            shop.evenSecond(100, () -> stalls && call[0]++ < 30 ? load(Phase.SQL, PRICE, 300) : usual);
        }

        assertNoStampede();
    }

    @Test
    void statementOfHalfOfTheCallsThatStallsNowAndThenIsNoStampede() {
        for (int i = 0; i < 98; i++) {
            boolean stalls = i >= 90 && i % 2 == 0;
            int[] number = {0};
            shop.evenSecond(100, () -> {
                int call = number[0]++;
                return call % 10 >= 5 ? HIT : load(Phase.SQL, PRICE, stalls && call < 29 ? 280 : 5);
            });
        }

        assertNoStampede();
    }

    @Test
    void statementOfEveryCallToOneOfSeveralMethodsIsNoStampede() {
        for (int i = 0; i < 98; i++) {
            boolean locked = i >= 90 && i % 2 == 0;
            for (int call = 0; call < 120; call++) {
                double millis = locked && call < 60 ? 480 - 8 * call : 5;
                if (call % 8 == 0) {
                    shop.call("PlanService.of", 0, load(Phase.SQL, PRICE, millis));
                } else {
                    shop.call(Shop.PLACE, 0, millis > 5 ? steps -> steps.own(millis) : HIT);
                }
                shop.pass(1_000.0 / 120);
            }
            shop.diagnostician.second();
        }

        assertNoStampede();
    }

    @Test
    void rareStatementThatBecomesSlowIsNoStampede() {
        int[] call = {0};
        for (int i = 0; i < 90; i++) {
            shop.evenSecond(200, () -> call[0]++ % 9 == 0 ? load(Phase.SQL, PRICE, 20) : HIT);
        }
        for (int i = 0; i < 8; i++) {
            shop.evenSecond(200, () -> call[0]++ % 9 == 0 ? load(Phase.SQL, PRICE, 300) : HIT);
        }

        assertNoStampede();
    }

    @Test
    void callsThatArriveInBurstsAreNoStampede() {
        for (int i = 0; i < 98; i++) {
            double millis = i < 90 ? 20 : 300;
            if (i % 2 == 0) {
                for (int call = 0; call < 60; call++) {
                    // the first 60 calls of the second arrive at the same time
                    shop.call(Shop.PLACE, 0, load(Phase.SQL, PRICE, millis));
                }
            }
            shop.evenSecond(40, () -> HIT);
        }

        assertNoStampede();
    }

    @Test
    void commandOfEveryCallThatIsUsuallyTooShortForItsNameIsNoStampede() {
        Consumer<Shop.Steps> usual = load(Phase.REDIS, "HGETALL price:*", 0.05);
        shop.healthy(usual);
        for (int i = 0; i < 8; i++) {
            boolean stalls = i % 2 == 0;
            int[] call = {0};
            shop.evenSecond(100, () -> stalls && call[0]++ < 30 ? load(Phase.REDIS, "HGETALL price:*", 300) : usual);
        }

        assertNoStampede();
    }

    @Test
    void fewParallelCallsOfOnePageAreNoStampede() {
        for (int i = 0; i < 80; i++) {
            for (int call = 0; i % 2 == 0 && call < 6; call++) {
                shop.call(Shop.PLACE, 0, load(Phase.SQL, PRICE, 300));
            }
            shop.evenSecond(20, () -> HIT);
        }

        assertNoStampede();
    }

    @Test
    void operationThatMostCallsCanDoWithoutIsNoStampede() {
        for (int i = 0; i < 98; i++) {
            boolean probes = i % 2 == 0; // whether the circuit breaker lets some of the calls through
            double millis = i < 90 ? 20 : 300;
            int[] number = {0};
            shop.evenSecond(probes ? 200 : 50, () -> {
                int call = number[0]++;
                return probes && call < 60 && call % 3 == 0 ? load(Phase.HTTP, "GET prices:80/price", millis) : HIT;
            });
        }

        assertNoStampede();
    }

    @Test
    void fewRecordedCallsWithinTheTargetDoNotShowAStampede() {
        for (int i = 0; i < 98; i++) {
            boolean isMissing = i >= 90 && i % 2 == 0;
            int[] call = {0};
            shop.evenSecond(10, () -> isMissing && call[0]++ < 7 ? load(Phase.SQL, PRICE, 700) : HIT);
        }

        assertNoStampede();
    }

    @Test
    void oneCallThatLoadsWhileTheOthersWaitIsNoStampede() {
        seconds(90, 2, load(Phase.SQL, PRICE, 20));
        for (int i = 0; i < 8; i++) {
            int[] call = {0};
            boolean isMissing = second++ % 2 == 0;
            shop.evenSecond(100, () -> {
                int number = call[0]++;
                return !isMissing || number >= 30
                        ? HIT
                        : number == 0 ? load(Phase.SQL, PRICE, 300) : steps -> steps.own(300 - 10 * number);
            });
        }

        assertNoStampede();
    }
}
