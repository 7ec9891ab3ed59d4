package tern.rpc.diagnosis.failure;

import static org.assertj.core.api.Assertions.assertThat;
import static tern.rpc.diagnosis.Shop.USUAL;
import static tern.rpc.diagnosis.Shop.first;

import com.alibaba.csp.sentinel.slots.block.DegradeException;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import shop.Levels;
import shop.Orders;
import tern.rpc.CallLedger;
import tern.rpc.NanoClock;
import tern.rpc.Phase;
import tern.rpc.diagnosis.Diagnosis;
import tern.rpc.diagnosis.DiagnosisText;
import tern.rpc.diagnosis.Shop;
import tern.rpc.diagnosis.failure.LocalRefusals.Limiter;

/** Tests refusals by circuit breakers, bulkheads and rate limiters in application code. */
class LocalRefusalsTest {

    private static final Exception OPEN = Levels.read(
            () -> new CallNotPermittedException("CircuitBreaker 'stock' is OPEN and does not permit further calls"));
    private static final Exception FULL =
            Levels.read(() -> new BulkheadFullException("Bulkhead 'stock' is full and does not permit further calls"));
    private static final Exception TOO_MANY =
            Levels.read(() -> new RequestNotPermitted("RateLimiter 'stock' does not permit further calls"));
    private static final Exception CLIENT = Levels.read(() -> new IllegalStateException("stock"));

    private static final Consumer<Shop.Steps> SHORT = call -> call.own(1);

    private final Shop shop = new Shop().healthy(USUAL);

    static final class CallNotPermittedException extends RuntimeException {
        private static final long serialVersionUID = 1L;

        CallNotPermittedException(String message) {
            super(message);
        }
    }

    static final class BulkheadFullException extends RuntimeException {
        private static final long serialVersionUID = 1L;

        BulkheadFullException(String message) {
            super(message);
        }
    }

    static final class RequestNotPermitted extends RuntimeException {
        private static final long serialVersionUID = 1L;

        RequestNotPermitted(String message) {
            super(message);
        }
    }

    static final class HystrixRuntimeException extends RuntimeException {
        private static final long serialVersionUID = 1L;

        HystrixRuntimeException(String message) {
            super(message);
        }
    }

    /** An exception with the simple name of a Sentinel exception, but in a different package. */
    static final class FlowException extends Exception {
        private static final long serialVersionUID = 1L;
    }

    private void serve(int seconds, int calls, @Nullable Throwable failure, Consumer<Shop.Steps> steps) {
        for (int i = 0; i < seconds; i++) {
            shop.second(() -> calls(calls, failure, steps));
        }
    }

    private void calls(int calls, @Nullable Throwable failure, Consumer<Shop.Steps> steps) {
        for (int call = 0; call < calls; call++) {
            shop.call(Shop.PLACE, 0, failure, steps);
        }
    }

    private static Consumer<Shop.Steps> in(Phase phase, String name, double millis) {
        return call -> call.own(1).in(phase, name, millis);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "HTTP  | GET stock:8080 (503)        | PEER FAILS: GET stock:8080 (503)",
                "SQL   | select level (failed 08006) | PEER FAILS: database: connection lost (08006)",
                "REDIS | GET level:* (failed OOM)    | PEER FAILS: Redis: answers OOM",
            })
    void openCircuitBreakerIsASymptomOfTheOperationThatOpenedIt(Phase phase, String operation, String title) {
        serve(2, 100, CLIENT, in(phase, operation, 3));
        serve(90, 300, OPEN, SHORT);

        Diagnosis miss = shop.diagnosis();

        assertThat(DiagnosisText.title(first(miss))).as(miss.text()).isEqualTo(title);
        assertThat(miss.causes()).hasSize(1);
        assertThat(miss.text()).contains("calls are refused (circuit breaker stock in Levels.read:");
    }

    @Test
    void callsThatACircuitBreakerAdmitsForATestShowThePeer() {
        for (int i = 0; i < 6; i++) {
            shop.second(() -> {
                calls(2, CLIENT, in(Phase.HTTP, "GET stock:8080 (503)", 3));
                calls(95, OPEN, SHORT);
            });
        }
        Diagnosis miss = shop.diagnosis();

        assertThat(DiagnosisText.title(first(miss))).as(miss.text()).isEqualTo("PEER FAILS: GET stock:8080 (503)");
        assertThat(first(miss).saves()).isGreaterThan(0.9);
    }

    @Test
    void slowOperationExplainsACircuitBreakerIfNothingFailed() {
        serve(2, 100, null, in(Phase.HTTP, "GET stock:8080", 300));
        serve(12, 100, OPEN, SHORT);
        Diagnosis miss = shop.diagnosis();

        assertThat(DiagnosisText.title(first(miss))).as(miss.text()).isEqualTo("SLOW HTTP PEER: GET stock:8080");
    }

    @Test
    void operationThatRefusedCallsStillRunDoesNotExplainACircuitBreaker() {
        serve(2, 100, null, in(Phase.HTTP, "GET stock:8080", 300));
        serve(12, 100, OPEN, in(Phase.HTTP, "GET stock:8080", 4));
        Diagnosis miss = shop.diagnosis();

        assertThat(DiagnosisText.title(first(miss)))
                .as(miss.text())
                .startsWith("LIMIT: circuit breaker stock in Levels.read:");
    }

    @Test
    void failureElsewhereDoesNotExplainACircuitBreaker() {
        serve(2, 100, Orders.closed(), SHORT);
        serve(12, 100, OPEN, SHORT);
        Diagnosis miss = shop.diagnosis();

        assertThat(DiagnosisText.title(first(miss)))
                .as(miss.text())
                .startsWith("LIMIT: circuit breaker stock in Levels.read:");
        assertThat(first(miss).change().text())
                .contains("find out why calls failed before this circuit breaker opened");
    }

    @Test
    void exceptionBelowTheCircuitBreakerExplainsIt() {
        serve(2, 100, Orders.closed(), SHORT);
        serve(2, 20, CLIENT, SHORT);
        serve(12, 100, OPEN, SHORT);
        Diagnosis miss = shop.diagnosis();

        assertThat(DiagnosisText.title(first(miss)))
                .as(miss.text())
                .startsWith("FAILURE: IllegalStateException in Levels.read:");
    }

    private Diagnosis full(int refused, int admitted, Consumer<Shop.Steps> work) {
        for (int i = 0; i < 6; i++) {
            shop.second(() -> {
                calls(refused, FULL, SHORT);
                calls(admitted, null, work);
            });
        }
        return shop.diagnosis();
    }

    @ParameterizedTest
    @ValueSource(doubles = {80, 300})
    void fullBulkheadIsASymptomOfTheSlowWorkThatItAdmits(double millis) {
        Diagnosis miss = full(40, 60, call -> call.own(2).in(Phase.SQL, "select stock", millis));

        assertThat(DiagnosisText.title(first(miss))).as(miss.text()).isEqualTo("SLOW STATEMENT: select stock");
        assertThat(miss.text()).contains("calls are refused (bulkhead stock in Levels.read:");
    }

    @Test
    void fullBulkheadIsTheCauseIfTheAdmittedCallsAreAsQuickAsUsual() {
        Diagnosis miss = full(40, 60, USUAL);

        assertThat(DiagnosisText.title(first(miss)))
                .as(miss.text())
                .startsWith("LIMIT: bulkhead stock in Levels.read:");
        assertThat(first(miss).change().text()).contains("allow more concurrent calls");
    }

    @Test
    void fullBulkheadIsTheCauseIfMoreCallsThanUsualArrive() {
        Diagnosis miss = full(200, 60, call -> call.own(2).in(Phase.SQL, "select stock", 80));

        assertThat(DiagnosisText.title(first(miss)))
                .as(miss.text())
                .startsWith("LIMIT: bulkhead stock in Levels.read:");
        assertThat(first(miss).evidence()).anyMatch(line -> line.endsWith(" per second, usually 100"));
    }

    @Test
    void rateLimiterIsACauseItself() {
        serve(6, 100, TOO_MANY, SHORT);
        Diagnosis miss = shop.diagnosis();

        assertThat(DiagnosisText.title(first(miss)))
                .as(miss.text())
                .startsWith("LIMIT: rate limiter stock in Levels.read:");
        assertThat(first(miss).change().text()).contains("raise the limit of this rate limiter");
    }

    @Test
    void circuitBreakerOfAProviderIsAFailureOfTheProvider() {
        Exception remote = new CallNotPermittedException("CircuitBreaker 'db' is OPEN");
        remote.setStackTrace(
                new StackTraceElement[] {new StackTraceElement("stock.StockService", "find", "on stock-1:20880", -1)});
        serve(6, 100, new IllegalStateException(remote), SHORT);
        Diagnosis miss = shop.diagnosis();

        assertThat(DiagnosisText.title(first(miss)))
                .as(miss.text())
                .isEqualTo("PEER FAILS: StockService.find at stock-1:20880: CallNotPermittedException");
    }

    @Test
    void exceptionsOfLimitersAreKnownByTheirNames() {
        assertThat(LocalRefusals.of(new IllegalStateException(OPEN))).isEqualTo(Limiter.BREAKER);
        assertThat(LocalRefusals.of(new DegradeException())).isEqualTo(Limiter.BREAKER);
        assertThat(LocalRefusals.of(FULL)).isEqualTo(Limiter.BULKHEAD);
        assertThat(LocalRefusals.of(TOO_MANY)).isEqualTo(Limiter.RATE);
        assertThat(LocalRefusals.of(new HystrixRuntimeException("Stock short-circuited and fallback failed.")))
                .isEqualTo(Limiter.BREAKER);
        assertThat(LocalRefusals.of(new HystrixRuntimeException(
                        "Stock could not acquire a semaphore for execution and no fallback available.")))
                .isEqualTo(Limiter.BULKHEAD);
        assertThat(LocalRefusals.of(new HystrixRuntimeException("Stock failed and no fallback available.")))
                .isNull();
        assertThat(LocalRefusals.of(new FlowException())).isNull();
    }

    @Test
    void answerToARefusalIsAFailureUnlessARateLimiterRefused() {
        CallLedger ledger = new CallLedger(NanoClock.SYSTEM);

        assertThat(WebRefusals.isFailure(ledger, OPEN)).isTrue();
        assertThat(WebRefusals.isFailure(ledger, FULL)).isTrue();
        assertThat(WebRefusals.isFailure(ledger, TOO_MANY)).isFalse();
    }
}
