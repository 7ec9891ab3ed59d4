package tern.rpc.diagnosis;

import static org.assertj.core.api.Assertions.assertThat;
import static tern.rpc.diagnosis.Shop.USUAL;
import static tern.rpc.diagnosis.Shop.first;

import java.util.List;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import tern.rpc.Phase;
import tern.rpc.RpcException;
import tern.rpc.StatusCode;
import tern.rpc.diagnosis.cause.Cause;
import tern.rpc.pool.PoolKind;
import tern.rpc.pool.PoolSetting;
import tern.rpc.pool.PoolSnapshot;

/** Tests refusals by limits of the application. */
class RefusedCallsTest {

    private static final Consumer<Shop.Steps> SLOW = call -> call.own(2).in(Phase.SQL, "select stock", 300);

    private final Shop shop = new Shop().healthy(USUAL);

    private Diagnosis refusing(String reason, long refused, int served, Consumer<Shop.Steps> calls) {
        for (int i = 0; i < 6; i++) {
            shop.refused.merge(reason, refused, Long::sum);
            shop.second(served, calls);
        }
        return shop.diagnosis();
    }

    @ParameterizedTest
    @ValueSource(strings = {"status 503", "status 429", "method", "connection"})
    void callsThatALimitRefusesBecauseOthersAreSlowAreASymptom(String reason) {
        Diagnosis miss = refusing(reason, 80, 20, SLOW);

        assertThat(DiagnosisText.title(first(miss))).as(miss.text()).isEqualTo("SLOW STATEMENT: select stock");
        assertThat(miss.text()).contains("calls are refused (" + reason + ")");
    }

    @Test
    void limitThatRefusesMoreCallsThanUsualIsTheCause() {
        Diagnosis miss = refusing("status 503", 300, 20, SLOW);

        assertThat(DiagnosisText.title(first(miss))).as(miss.text()).isEqualTo("LIMIT: status 503");
    }

    @Test
    void limitThatRefusesUsualCallsIsTheCause() {
        Diagnosis miss = refusing("status 429", 50, 50, USUAL);

        assertThat(DiagnosisText.title(first(miss))).as(miss.text()).isEqualTo("LIMIT: status 429");
    }

    @Test
    void limitOfOneCallerThatSendsTooMuchIsNoMiss() {
        Diagnosis diagnosis = refusing("status 429", 200, 100, USUAL);

        assertThat(diagnosis.state()).as(diagnosis.text()).isEqualTo(Diagnosis.State.HEALTHY);
    }

    @Test
    void limitOfOneCallerDoesNotHideTheCauseOfAMiss() {
        refusing("status 429", 200, 100, USUAL);
        Diagnosis miss = refusing("status 429", 200, 100, SLOW);

        assertThat(DiagnosisText.title(first(miss))).as(miss.text()).isEqualTo("SLOW STATEMENT: select stock");
        assertThat(miss.causes()).noneMatch(cause -> cause.kind().equals("LIMIT"));
    }

    private void workers(int active, int waiting, String maxConcurrency) {
        PoolSnapshot workers = PoolSnapshot.builder("workers", PoolKind.WORKERS, 200)
                .now(active, 200 - active, waiting)
                .settings(
                        List.of(new PoolSetting("rpc.server.max-concurrency", maxConcurrency, PoolSetting.Source.USER)))
                .build();
        shop.pools.add(() -> workers);
    }

    @ParameterizedTest
    @ValueSource(strings = {"limit", "share"})
    void limitOfTheServerThatLeavesWorkersIdleIsTheCause(String reason) {
        workers(1, 0, "1");
        Diagnosis miss = refusing(reason, 5, 95, USUAL);

        assertThat(miss.causes())
                .as(miss.text())
                .extracting(DiagnosisText::title)
                .containsExactly("LIMIT: rpc.server.max-concurrency=1");
        assertThat(first(miss).change().text())
                .startsWith("raise rpc.server.max-concurrency=1, or set rpc.server.max-concurrency=adaptive");
        assertThat(first(miss).evidence()).contains("workers  1 of 200 busy, 0 calls wait");
    }

    @Test
    void limitOfTheServerThatIsHigherThanTheNumberOfWorkersMeansThatWorkersAreBusy() {
        workers(200, 100, "300");
        Diagnosis miss = refusing("limit", 20, 80, SLOW);

        assertThat(DiagnosisText.title(first(miss))).as(miss.text()).isEqualTo("SLOW STATEMENT: select stock");
    }

    @Test
    void deadlineThatHasPassedWhileWorkersAreIdleIsTooShort() {
        workers(2, 0, "adaptive");
        Diagnosis miss = refusing("deadline", 5, 95, USUAL);

        assertThat(miss.causes())
                .as(miss.text())
                .extracting(DiagnosisText::title)
                .containsExactly("TIMEOUT TOO SHORT: deadline of the caller");
        assertThat(first(miss).change().text()).startsWith("set a longer timeout in the callers");
    }

    @Test
    void deadlineThatHasPassedWhileCallsWaitForAWorkerIsALackOfWorkers() {
        workers(200, 40, "adaptive");
        Diagnosis miss = refusing("deadline", 5, 95, USUAL);

        assertThat(first(miss).kind()).as(miss.text()).isNotEqualTo("TIMEOUT TOO SHORT");
    }

    private static RpcException refusedByItsMethod() {
        return RpcException.refusal(
                StatusCode.RESOURCE_EXHAUSTED,
                "OrderService/place refused the call: 4 of 4 are running (fixed, set by"
                        + " rpc.server.services.<name>.methods.place.max-concurrency)",
                RpcException.Executed.NO);
    }

    /** Simulates seconds in which the limit of a method refuses some of its calls. */
    private Diagnosis refusingByMethod(int served, int refused) {
        for (int i = 0; i < 6; i++) {
            shop.refused.merge("method", (long) refused, Long::sum);
            shop.second(() -> {
                for (int call = 0; call < served; call++) {
                    shop.call(Shop.PLACE, 0, USUAL);
                }
                for (int call = 0; call < refused; call++) {
                    shop.call(Shop.PLACE, 0, refusedByItsMethod(), steps -> {
                        steps.caller = "10.0.0.7";
                    });
                }
            });
        }
        return shop.diagnosis();
    }

    @Test
    void callsThatTheLimitOfTheirMethodRefusesHaveNotFailed() {
        Diagnosis miss = refusingByMethod(60, 40);

        assertThat(DiagnosisText.title(first(miss))).as(miss.text()).isEqualTo("LIMIT: method OrderService.place");
        assertThat(miss.causes()).hasSize(1);
        assertThat(miss.miss().failed()).isZero();
        assertThat(miss.miss().refused()).isPositive();
        assertThat(miss.text()).contains("same     rate");
    }

    @Test
    void callerThatSendsMoreThanTheLimitOfAMethodAllowsIsTheCause() {
        Diagnosis miss = refusingByMethod(100, 400);

        assertThat(DiagnosisText.title(first(miss)))
                .as(miss.text())
                .isEqualTo("MORE CALLS: callers of OrderService.place");
        assertThat(first(miss).change().text())
                .containsPattern("^the caller 10\\.0\\.0\\.7 sends [45] times the usual calls of OrderService.place")
                .contains(
                        "or raise the limit of the method (rpc.server.services.<name>.methods.place.max-concurrency)");
    }

    /** Simulates seconds in which reports are called more often, and the limit of another method refuses its calls. */
    private Diagnosis moreReports(Consumer<Shop.Steps> placed) {
        for (int i = 0; i < 90; i++) {
            shop.second(() -> calls(10, 100, 0, USUAL));
        }
        for (int i = 0; i < 6; i++) {
            shop.refused.merge("method", 40L, Long::sum);
            shop.second(() -> calls(100, 60, 40, placed));
        }
        return shop.diagnosis();
    }

    private void calls(int reports, int served, int refused, Consumer<Shop.Steps> placed) {
        for (int call = 0; call < reports; call++) {
            shop.call("ReportService.sales", 0, steps -> steps.own(1).in(Phase.SQL, "select sum from sales", 60));
        }
        for (int call = 0; call < served; call++) {
            shop.call(Shop.PLACE, 0, placed);
        }
        for (int call = 0; call < refused; call++) {
            shop.call(Shop.PLACE, 0, refusedByItsMethod(), steps -> {});
        }
    }

    @Test
    void methodWithoutALimitIsNotNamedForTheRefusalsOfAnotherMethod() {
        Diagnosis miss = moreReports(USUAL);

        assertThat(DiagnosisText.title(first(miss))).as(miss.text()).isEqualTo("LIMIT: method OrderService.place");
        assertThat(first(miss).change().text())
                .startsWith("raise the limit of OrderService.place"
                        + " (rpc.server.services.<name>.methods.place.max-concurrency)");
    }

    @Test
    void callsThatSlowDownALimitedMethodAreNamedWithoutALimitToRaise() {
        Diagnosis miss = moreReports(call -> call.own(130));

        Cause limit = miss.causes().stream()
                .filter(cause -> cause.name().equals("callers of ReportService.sales"))
                .findFirst()
                .orElseThrow(() -> new AssertionError(miss.text()));
        assertThat(limit.change().text())
                .contains("they slow down OrderService.place, whose limit refuses calls meanwhile")
                .doesNotContain("raise the limit");
    }

    @Test
    void refusalByTheLimitOfAnotherServerIsAFailureOfThatServer() {
        RpcException refused = RpcException.refusal(
                StatusCode.RESOURCE_EXHAUSTED,
                "StockService/find at stock-1:20880: StockService/find refused the call: 4 of 4 are running",
                RpcException.Executed.NO);
        for (int i = 0; i < 6; i++) {
            shop.second(() -> {
                for (int call = 0; call < 40; call++) {
                    shop.call(
                            Shop.PLACE,
                            0,
                            refused,
                            steps -> steps.in(Phase.RPC, "StockService.find at stock-1:20880", 2));
                }
            });
        }

        Diagnosis miss = shop.diagnosis();
        assertThat(DiagnosisText.title(first(miss)))
                .as(miss.text())
                .isEqualTo("PEER FAILS: StockService.find at stock-1:20880: RESOURCE_EXHAUSTED");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "the call was refused: 1 calls are running or waiting; the limit is 1 (fixed, set by"
                        + " rpc.server.max-concurrency) | 1 (fixed, set by rpc.server.max-concurrency)",
                "StockService/find refused the call: 4 of 4 are running (fixed, set by @RpcMethod of find)"
                        + " | 4 (fixed, set by @RpcMethod of find)",
                "the call was refused: no worker was free within 50 ms, 200 of 200 are busy (set by"
                        + " rpc.server.max-queue-wait and rpc.server.threads)"
                        + " | 200 (set by rpc.server.max-queue-wait and rpc.server.threads)"
            })
    void limitOfTheProviderThatRefusesCallsIsInTheChange(String message, String limit) {
        RpcException refused = RpcException.refusal(
                StatusCode.RESOURCE_EXHAUSTED,
                "StockService/find at stock-1:20880: " + message,
                RpcException.Executed.NO);
        for (int i = 0; i < 6; i++) {
            shop.second(() -> {
                for (int call = 0; call < 40; call++) {
                    shop.call(
                            Shop.PLACE,
                            0,
                            refused,
                            steps -> steps.in(Phase.RPC, "StockService.find at stock-1:20880", 2));
                }
            });
        }

        assertThat(first(shop.diagnosis()).change().text())
                .as(shop.diagnosis().text())
                .endsWith("it refuses calls because a limit is reached: " + limit);
    }
}
