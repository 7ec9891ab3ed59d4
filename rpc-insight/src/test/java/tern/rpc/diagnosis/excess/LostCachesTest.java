package tern.rpc.diagnosis.excess;

import static org.assertj.core.api.Assertions.assertThat;
import static tern.rpc.diagnosis.Shop.first;

import java.util.Random;
import java.util.function.Consumer;
import java.util.function.DoubleSupplier;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tern.rpc.Phase;
import tern.rpc.diagnosis.Diagnosis;
import tern.rpc.diagnosis.DiagnosisText;
import tern.rpc.diagnosis.Shop;
import tern.rpc.diagnosis.cause.Cause;

/** Tests calls that find less in a cache than usual, although each load takes about as long as usual. */
class LostCachesTest {

    private final Shop shop = new Shop();
    private final Random random = new Random(1);

    private DoubleSupplier between(double from, double to) {
        return () -> from + random.nextDouble() * (to - from);
    }

    private void seconds(int count, int calls, double share, Phase phase, String name, DoubleSupplier millis) {
        Supplier<Consumer<Shop.Steps>> next = () -> {
            boolean loads = random.nextDouble() < share;
            double took = millis.getAsDouble();
            return call -> {
                call.own(2).in(phase, "quick operation", 1);
                if (loads) {
                    call.in(phase, name, took);
                }
            };
        };
        for (int i = 0; i < count; i++) {
            shop.evenSecond(calls, next);
        }
    }

    private Cause assertFirst(String title) {
        Diagnosis diagnosis = shop.diagnosis();
        Cause first = first(diagnosis);
        assertThat(DiagnosisText.title(first)).as(diagnosis.text()).isEqualTo(title);
        return first;
    }

    @ParameterizedTest
    @CsvSource({
        "SQL, select rate, MORE STATEMENTS",
        "REDIS, HGETALL rate:*, MORE COMMANDS",
        "HTTP, GET rates:80/rates, MORE HTTP CALLS",
        "RPC, Rates.of at rates-1:20880, MORE REMOTE CALLS"
    })
    void loadsOfACacheThatIsNeverHitAreMoreThanUsualAlthoughOnlyTheirSlowestAreLate(
            Phase phase, String name, String kind) {
        seconds(120, 8, 0.3, phase, name, between(40, 99));
        seconds(12, 8, 1, phase, name, between(40, 110));

        Cause first = assertFirst(kind + ": " + name);
        assertThat(first.change().text()).contains("no longer holds its values", "who empties it");
        assertThat(first.evidence()).anyMatch(fact -> fact.startsWith("often    1.0 per call, usually 0."));
    }

    @ParameterizedTest
    @CsvSource({"SQL, select rate, MORE STATEMENTS", "HTTP, GET rates:80/rates, MORE HTTP CALLS"})
    void loadsOfACacheThatIsOftenEmptiedAreMoreThanUsual(Phase phase, String name, String kind) {
        seconds(120, 50, 0.05, phase, name, between(20, 60));
        for (int i = 0; i < 8; i++) {
            seconds(1, 50, 0.9, phase, name, between(50, 120));
            seconds(1, 50, 0.3, phase, name, between(20, 60));
            seconds(1, 50, 0.1, phase, name, between(20, 60));
        }

        assertFirst(kind + ": " + name);
    }

    @ParameterizedTest
    @CsvSource({"SQL, select rate, MORE STATEMENTS", "HTTP, GET rates:80/rates, MORE HTTP CALLS"})
    void secondsBeforeTheMissAreNotUsual(Phase phase, String name, String kind) {
        seconds(100, 16, 0.1, phase, name, between(20, 60));
        seconds(15, 16, 1, phase, name, between(20, 90)); // the cache is lost, and calls still meet the target
        seconds(10, 16, 1, phase, name, between(20, 120));

        assertFirst(kind + ": " + name);
    }

    @ParameterizedTest
    @CsvSource({
        "SQL, select rate, MORE STATEMENTS, SLOW STATEMENT",
        "HTTP, GET rates:80/rates, MORE HTTP CALLS, SLOW HTTP PEER"
    })
    void operationThatTakesItsUsualTimeIsNotCalledSlow(Phase phase, String name, String kind, String slow) {
        seconds(120, 50, 0.1, phase, name, () -> 60);
        for (int i = 0; i < 8; i++) {
            shop.evenSecond(50, () -> {
                boolean loads = random.nextDouble() < 0.1;
                return call -> (loads ? call.in(phase, name, 60) : call).own(45);
            });
        }

        assertThat(shop.diagnosis().causes())
                .as(shop.diagnosis().text())
                .extracting(Cause::kind)
                .doesNotContain(slow);
    }

    @Test
    void slowerOperationIsStillSlow() {
        seconds(120, 50, 0.3, Phase.HTTP, "GET rates:80/rates", between(20, 60));
        seconds(10, 50, 0.3, Phase.HTTP, "GET rates:80/rates", between(120, 300));

        assertFirst("SLOW HTTP PEER: GET rates:80/rates");
    }
}
