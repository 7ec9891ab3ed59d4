package tern.rpc.diagnosis;

import static org.assertj.core.api.Assertions.assertThat;
import static tern.rpc.diagnosis.Shop.first;

import java.util.List;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tern.rpc.NamedTimes;
import tern.rpc.Phase;
import tern.rpc.diagnosis.account.Part;
import tern.rpc.diagnosis.account.Sample;
import tern.rpc.diagnosis.cause.Cause;
import tern.rpc.diagnosis.machine.Machine;

/** Tests calls whose code retries a failed operation at once, without a pause. */
class ImmediateRetriesTest {

    private static final int ATTEMPTS = 40;
    private static final String REPEATED = "40 attempts per call, 40 fail, each is repeated at once";

    private static Consumer<Shop.Steps> attempts(Phase phase, String failed, String succeeded, double pauseMillis) {
        return call -> {
            for (int i = 0; i < ATTEMPTS; i++) {
                call.in(phase, failed, 5).own(pauseMillis);
            }
            call.in(phase, succeeded, 5);
        };
    }

    @ParameterizedTest
    @CsvSource({
        "HTTP, GET stock:80, GET stock:80 (503)",
        "RPC, StockService.find at stock-1:20880, StockService.find at stock-1:20880 (failed UNAVAILABLE)",
        "REDIS, SET stock:*, SET stock:* (failed OOM)",
        "SQL, select stock, select stock (failed 57P01)"
    })
    void codeThatRepeatsAFailedOperationWithoutAPauseIsInTheChange(Phase phase, String operation, String failed) {
        Shop shop = new Shop().healthy(call -> call.own(2).in(phase, operation, 5));

        Cause first = first(shop.miss(attempts(phase, failed, operation, 0)));

        assertThat(first.kind()).isEqualTo("PEER FAILS");
        assertThat(first.change().text())
                .startsWith("limit the attempts, and wait longer before each of them (back-off): 41 attempts per call,"
                        + " 40 fail, each is repeated at once; ");
        assertThat(first.evidence()).anySatisfy(line -> assertThat(line).startsWith("retries  "));
    }

    @Test
    void lineThatRepeatsTheExchangeIsNamed() {
        List<StackTraceElement> path =
                List.of(new StackTraceElement("depot.StockClient", "find", "StockClient.java", 31));
        Part part = new Part(Part.Kind.SOCKET, "StockClient.find");
        NamedTimes.Entry exchange = new NamedTimes.Entry(Phase.HTTP, "GET stock:80", 1, 1);
        Sample sample = new Sample(0, Phase.HTTP, part, path, null, null, null, false, null, -1, -1, null, exchange);

        Cause first = new SampledCalls()
                .usually("Quotes.find", Phase.HTTP, "GET stock:80", 8)
                .repeatingExchange("Quotes.find", "GET stock:80 (503)", ATTEMPTS, 8, 0, samples -> samples.add(sample))
                .causes()
                .get(0);

        assertThat(DiagnosisText.title(first)).isEqualTo("PEER FAILS: GET stock:80 (503)");
        assertThat(first.change().text())
                .startsWith("limit the attempts, and wait longer before each of them (back-off) in"
                        + " StockClient.find:31: " + REPEATED);
    }

    @Test
    void waitsForAProcessorBelongToTheFailureIfCallsMakeVeryManyAttempts() {
        String operation = "StockService.find at stock-1:20880";
        Shop shop = new Shop().healthy(call -> call.own(2).in(Phase.RPC, operation, 1));
        shop.machine = new Machine(2, 0.9, 1.1, 0, 0, 0.3, null, 1e6, 1e6, List.of(), 0, null, List.of());

        Cause first = first(shop.miss(attempts(Phase.RPC, operation + " (failed UNAVAILABLE)", operation, 3)));

        assertThat(DiagnosisText.title(first)).startsWith("PEER FAILS: StockService.find at stock-1:20880");
        assertThat(first.change().text()).startsWith("limit the attempts");
    }

    @Test
    void attemptsWithPausesAreNotRepeatedAtOnce() {
        Shop shop = new Shop().healthy(call -> call.own(2).in(Phase.HTTP, "GET stock:80", 5));

        Cause first = first(shop.miss(call -> call.in(Phase.HTTP, "GET stock:80 (503)", 300)));

        assertThat(first.change().text()).doesNotContain("attempts per call");
    }

    @Test
    void manyExchangesOfWhichFewFailAreNoRetries() {
        Shop shop = new Shop().healthy(call -> call.own(2).in(Phase.HTTP, "GET stock:80", 5));

        Cause first = first(shop.miss(call -> {
            for (int i = 0; i < ATTEMPTS; i++) {
                call.in(Phase.HTTP, i % 10 == 0 ? "GET stock:80 (503)" : "GET stock:80", 5);
            }
        }));

        assertThat(first.change().text()).doesNotContain("repeated at once");
    }

    @Test
    void callsThatUsuallyRunAsManyOperationsDoNotRepeatThem() {
        Shop shop = new Shop().healthy(call -> {
            for (int i = 0; i < ATTEMPTS; i++) {
                call.in(Phase.HTTP, "GET stock:80", 1);
            }
        });

        Cause first = first(shop.miss(attempts(Phase.HTTP, "GET stock:80 (503)", "GET stock:80", 0)));

        assertThat(first.change().text()).doesNotContain("repeated at once");
    }
}
