package tern.rpc.diagnosis;

import static org.assertj.core.api.Assertions.assertThat;
import static tern.rpc.diagnosis.Shop.first;

import java.net.ConnectException;
import java.net.http.HttpConnectTimeoutException;
import java.net.http.HttpTimeoutException;
import java.sql.SQLException;
import java.sql.SQLTransientConnectionException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeoutException;
import java.util.function.IntFunction;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import shop.Tickets;
import tern.rpc.Phase;
import tern.rpc.diagnosis.account.Part;
import tern.rpc.diagnosis.account.Sample;
import tern.rpc.diagnosis.cause.Cause;
import tern.rpc.diagnosis.failure.TimeLimit;
import tern.rpc.pool.PoolKind;
import tern.rpc.pool.PoolSetting;
import tern.rpc.pool.PoolSnapshot;

/** Tests that the diagnosis distinguishes a timeout that is too short from a slow operation. */
class ShortTimeOutsTest {

    private static final String STOCK = "GET stock:80";
    private static final Throwable LATE = new HttpTimeoutException("request timed out");

    private final Shop shop = new Shop();

    /**
     * Serves 60 calls a second. The function returns the time of each call's HTTP exchange. If the time is negative,
     * the exchange times out.
     */
    private void seconds(int count, IntFunction<Double> exchange) {
        for (int i = 0; i < count; i++) {
            shop.second(() -> {
                for (int call = 0; call < 60; call++) {
                    double millis = exchange.apply(call);
                    shop.call(
                            Shop.PLACE,
                            0,
                            millis < 0 ? LATE : null,
                            steps -> steps.own(2).in(Phase.HTTP, STOCK, Math.abs(millis)));
                }
            });
        }
    }

    private Cause firstCause() {
        return first(shop.diagnosis());
    }

    private String title() {
        return DiagnosisText.title(firstCause());
    }

    @Test
    void timeoutThatHasAlwaysCutOffTheSlowerAnswersIsTooShort() {
        seconds(75, call -> call % 3 == 0 ? -50.0 : 30.0 + call % 20);

        assertThat(title()).as(shop.diagnosis().text()).isEqualTo("TIMEOUT TOO SHORT: " + STOCK);
        assertThat(firstCause().change().text())
                .contains("it ends after 50 ms and takes")
                .contains("(p50)")
                .endsWith("(p90) when it ends in time");
        assertThat(firstCause().change().where()).isEqualTo(Cause.Where.CODE);
    }

    @Test
    void timeoutThatHasAlwaysEndedMostCallsIsTooShortFromTheFirstDiagnosisOn() {
        seconds(58, call -> call % 9 == 0 ? 46.0 : -50.0);

        for (int i = 0; i < 6; i++) {
            seconds(1, call -> call % 9 == 0 ? 46.0 : -50.0);
            if (shop.diagnosis().state() == Diagnosis.State.MISS) {
                assertThat(title()).as(shop.diagnosis().text()).isEqualTo("TIMEOUT TOO SHORT: " + STOCK);
            }
        }
        assertThat(shop.diagnosis().state()).isEqualTo(Diagnosis.State.MISS);
    }

    /** Serves calls that run two statements of 20 ms, and then wait for an exchange on the thread of a client. */
    private void secondsWithBlockedExchange(int count, Throwable failure, double exchangeMillis) {
        for (int i = 0; i < count; i++) {
            shop.second(() -> {
                for (int call = 0; call < 60; call++) {
                    shop.call(
                            Shop.PLACE,
                            0,
                            failure,
                            steps -> steps.own(2)
                                    .in(Phase.SQL, "select stock", 20)
                                    .in(Phase.SQL, "select user", 20)
                                    .in(Phase.HTTP, STOCK, exchangeMillis));
                }
            });
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "Timeout on blocking read for 10000000 NANOSECONDS",
                "Did not observe any item or terminal signal within 10ms in 'flatMap'",
                "Waited 10 milliseconds (plus 4 milliseconds, 111 nanoseconds delay) for SettableFuture"
            })
    void limitOfAReactiveWaitEndsTheExchangeThatTookAsLong(String message) {
        secondsWithBlockedExchange(90, null, 14);
        secondsWithBlockedExchange(6, new IllegalStateException(message, new TimeoutException(message)), 10);

        assertThat(title()).as(shop.diagnosis().text()).isEqualTo("TIMEOUT TOO SHORT: " + STOCK);
        assertThat(firstCause().change().text()).contains("it ends after 10 ms and usually takes 14 ms");
    }

    /** Serves calls that run two statements, begin asynchronous exchanges, and give up after 10 ms. */
    private String titleOfGivenUp(String... exchanges) {
        secondsWithBlockedExchange(90, null, 14);
        for (int i = 0; i < 6; i++) {
            shop.second(() -> {
                for (int call = 0; call < 60; call++) {
                    shop.call(Shop.PLACE, 0, new TimeoutException(), steps -> {
                        steps.own(2).in(Phase.SQL, "select stock", 20).in(Phase.SQL, "select user", 20);
                        for (String exchange : exchanges) {
                            steps.ledger.begin(Phase.HTTP, () -> exchange);
                        }
                        steps.own(10);
                    });
                }
            });
        }
        return title();
    }

    @Test
    void codeThatGivesUpWaitsForTheExchangeThatIsStillRunning() {
        assertThat(titleOfGivenUp(STOCK)).contains(STOCK);
    }

    @Test
    void nothingShowsForWhichOfSeveralExchangesCodeWaits() {
        assertThat(titleOfGivenUp(STOCK, "POST audit:80")).startsWith("TIMEOUT TOO SHORT: TimeoutException");
    }

    @Test
    void limitOfCodeWhoseOperationIsUnknownIsNotTheTimeOfTheWholeCall() {
        String message = "Timeout on blocking read for 3 MILLISECONDS";
        secondsWithBlockedExchange(90, null, 14);
        secondsWithBlockedExchange(6, new IllegalStateException(message, new TimeoutException(message)), 10);

        assertThat(title()).as(shop.diagnosis().text()).startsWith("TIMEOUT TOO SHORT: TimeoutException");
        assertThat(firstCause().change().text())
                .contains("it gives up after 3.0 ms; the whole calls end after 52 ms, and usually take 56 ms");
    }

    @Test
    void limitThatEndsAllCallsFromTheStartIsInTheChange() {
        shop.limits.add(new TimeLimit(Phase.HTTP, "spring.http.clients.read-timeout", Duration.ofMillis(50)));
        seconds(70, call -> -50.0);

        assertThat(firstCause().change().text())
                .contains("a longer response timeout than 50 ms (spring.http.clients.read-timeout)");
    }

    /**
     * Serves calls whose exchange is ended by a time limit. In the given share of the calls, the client is still
     * connecting.
     */
    private void secondsWithLimit(int count, int connectingOf10, double millis) {
        HttpConnectTimeoutException connecting = new HttpConnectTimeoutException("HTTP connect timed out");
        connecting.initCause(new ConnectException("HTTP connect timed out"));
        for (int i = 0; i < count; i++) {
            shop.second(() -> {
                for (int call = 0; call < 60; call++) {
                    shop.call(
                            Shop.PLACE,
                            0,
                            call % 10 < connectingOf10 ? connecting : LATE,
                            steps -> steps.own(2).in(Phase.HTTP, STOCK, millis));
                }
            });
        }
    }

    @Test
    void limitOfTheWholeExchangeThatEndsWhileTheClientConnectsIsATimeout() {
        seconds(90, call -> 15.0 + call % 10);
        secondsWithLimit(6, 4, 10);

        assertThat(title()).as(shop.diagnosis().text()).isEqualTo("TIMEOUT TOO SHORT: " + STOCK);
        assertThat(shop.diagnosis().causes()).hasSize(1);
        assertThat(firstCause().change().text()).contains("it ends after 10 ms and usually takes");
    }

    @Test
    void peerThatAcceptsNoConnectionInTimeStaysTheCause() {
        seconds(90, call -> 15.0 + call % 10);
        secondsWithLimit(6, 10, 10);

        assertThat(title()).isEqualTo("PEER FAILS: " + STOCK + ": connections are not accepted in time");
    }

    @Test
    void peerThatUsuallyAnswersAtOnceAndSometimesHangsIsTheCause() {
        seconds(75, call -> call % 3 == 0 ? -50.0 : 4.0);

        assertThat(title()).as(shop.diagnosis().text()).isEqualTo("SLOW HTTP PEER: " + STOCK);
    }

    @Test
    void peerThatBecomesSlowerThanTheUnchangedTimeoutIsTheCause() {
        seconds(90, call -> 40.0 + call % 10);
        seconds(6, call -> -50.0);

        assertThat(title()).as(shop.diagnosis().text()).isEqualTo("SLOW HTTP PEER: " + STOCK);
    }

    @Test
    void peerThatIsSlowerInTheCallsThatDoNotTimeOutIsTheCause() {
        seconds(90, call -> 40.0);
        seconds(6, call -> call % 2 == 0 ? -40.0 : 90.0); // the second half of the calls has a longer timeout

        assertThat(title()).as(shop.diagnosis().text()).isEqualTo("SLOW HTTP PEER: " + STOCK);
    }

    @Test
    void timeoutThatEndsAsManyCallsAsTheUsualTimesLetExpectIsTooShort() {
        seconds(90, call -> 40.0 + call % 10);
        seconds(6, call -> call % 10 >= 7 ? -47.0 : 40.0 + call % 10);

        assertThat(title()).as(shop.diagnosis().text()).isEqualTo("TIMEOUT TOO SHORT: " + STOCK);
        assertThat(firstCause().evidence()).anyMatch(line -> line.matches("answers  4\\d ms \\(p50\\) and 4\\d ms .*"));
    }

    @Test
    void timeoutThatIsMeasuredALittleLongerThanTheUsualSlowAnswersIsTooShort() {
        seconds(90, call -> 40.0 + call % 10);
        seconds(6, call -> call % 10 >= 6 ? -51.0 : 40.0 + call % 10);

        assertThat(title()).as(shop.diagnosis().text()).isEqualTo("TIMEOUT TOO SHORT: " + STOCK);
    }

    @Test
    void peerThatTakesLongerThanTheUsualSlowAnswersInManyCallsIsTheCause() {
        seconds(90, call -> 40.0 + call % 10);
        seconds(6, call -> call % 10 >= 6 ? -58.0 : 40.0 + call % 10);

        assertThat(title()).as(shop.diagnosis().text()).isEqualTo("SLOW HTTP PEER: " + STOCK);
    }

    /** A timeout whose exception was created in the given line of application code. */
    private static HttpTimeoutException thrownIn(String type, String method, int line) {
        HttpTimeoutException late = new HttpTimeoutException("request timed out");
        late.setStackTrace(new StackTraceElement[] {new StackTraceElement(type, method, "Naps.java", line)});
        return late;
    }

    private static String changeWithSamplesIn(Throwable failure, String method, int line) {
        List<StackTraceElement> path = List.of(new StackTraceElement("shop.Naps", method, "Naps.java", line));
        return new SampledCalls()
                .usually(Shop.PLACE, Phase.HTTP, STOCK, 120)
                .quick(Shop.PLACE, Phase.HTTP, STOCK, 90)
                .failing(failure)
                .calls(
                        Shop.PLACE,
                        Phase.HTTP,
                        110,
                        samples -> samples.add(new Sample(
                                0,
                                Phase.HTTP,
                                new Part(Part.Kind.HTTP, ""),
                                path,
                                "SocketInputStream.read",
                                null,
                                null,
                                false,
                                null,
                                -1,
                                -1)))
                .causes()
                .get(0)
                .change()
                .text();
    }

    @Test
    void placeOfATimeoutIsWhereItsExceptionWasThrown() {
        assertThat(changeWithSamplesIn(thrownIn("shop.Discounts", "percent", 35), "lock", 23))
                .contains("set a longer timeout for " + STOCK + ", called in Discounts.percent:35: it ends after");
    }

    @Test
    void placeOfATimeoutWhoseExceptionShowsNoApplicationCodeIsSampled() {
        assertThat(changeWithSamplesIn(thrownIn("java.net.http.Other", "send", 5), "ask", 23))
                .contains("called in Naps.ask:23");
    }

    @Test
    void timeoutThatIsShorterThanTheUsualSlowAnswersIsTooShort() {
        seconds(90, call -> call % 7 == 0 ? 30.0 : 5.0);
        seconds(12, call -> call % 7 == 0 ? -20.0 : 5.0);

        assertThat(title()).as(shop.diagnosis().text()).isEqualTo("TIMEOUT TOO SHORT: " + STOCK);
        assertThat(firstCause().change().text())
                .containsPattern(
                        "it ends after 20 ms and usually takes [78]\\.\\d ms, and (28|29|30) ms in the slowest tenth");
    }

    @Test
    void peerThatHangsInMoreCallsThanUsualIsTheCauseOfItsTimeouts() {
        seconds(90, call -> call % 7 == 0 ? 30.0 : 5.0);
        seconds(6, call -> call % 2 == 0 ? -20.0 : 5.0);

        assertThat(title()).as(shop.diagnosis().text()).isEqualTo("SLOW HTTP PEER: " + STOCK);
    }

    /** Serves calls. Every seventh call retries the exchange after timeouts of 20 ms, and then succeeds or fails. */
    private void secondsWithRepeatedExchanges(int count, int timeOuts, boolean fail) {
        for (int i = 0; i < count; i++) {
            shop.second(() -> {
                for (int call = 0; call < 60; call++) {
                    boolean isSlow = call % 7 == 0;
                    shop.call(Shop.PLACE, 0, isSlow && fail ? LATE : null, steps -> {
                        for (int attempt = 0; isSlow && attempt < timeOuts; attempt++) {
                            steps.in(Phase.HTTP, STOCK, 20);
                        }
                        steps.in(Phase.HTTP, STOCK, isSlow && fail ? 20 : 5);
                    });
                }
            });
        }
    }

    @Test
    void peerThatHangsAgainWhenCallsRepeatTheExchangeIsTheCause() {
        secondsWithRepeatedExchanges(90, 1, false);
        secondsWithRepeatedExchanges(6, 2, true);

        assertThat(title()).as(shop.diagnosis().text()).isEqualTo("SLOW HTTP PEER: " + STOCK);
    }

    /** Serves calls, each of which attempts the HTTP exchange four times. */
    private void tryFourTimes(double millis) {
        for (int i = 0; i < 6; i++) {
            shop.second(() -> {
                for (int call = 0; call < 60; call++) {
                    shop.call(Shop.PLACE, 0, LATE, steps -> {
                        for (int attempt = 0; attempt < 4; attempt++) {
                            steps.in(Phase.HTTP, STOCK, millis);
                        }
                    });
                }
            });
        }
    }

    @Test
    void timeoutOfEachAttemptIsTooShortAlthoughTheCallIsLate() {
        seconds(90, call -> 40.0);
        tryFourTimes(30);

        assertThat(title()).as(shop.diagnosis().text()).isEqualTo("TIMEOUT TOO SHORT: " + STOCK);
        assertThat(firstCause().change().text()).contains("it ends after 30 ms and usually takes 40 ms");
    }

    @Test
    void peerThatIsSlowerInEachAttemptIsTheCause() {
        seconds(90, call -> 10.0);
        tryFourTimes(30);

        assertThat(title()).as(shop.diagnosis().text()).isEqualTo("SLOW HTTP PEER: " + STOCK);
    }

    private static String titleOfAttemptsWithPauses(double usualMillis) {
        Part sleep = new Part(Part.Kind.SLEEP, "Naps.pause");
        List<StackTraceElement> path = List.of(new StackTraceElement("shop.Naps", "pause", "Naps.java", 22));
        Cause first = new SampledCalls()
                .usually(Shop.PLACE, Phase.HTTP, STOCK, usualMillis)
                .quick(Shop.PLACE, Phase.HTTP, STOCK, usualMillis)
                .failing(LATE)
                .repeatingExchange(
                        Shop.PLACE,
                        STOCK,
                        3,
                        30,
                        200,
                        samples -> samples.add(
                                new Sample(0, Phase.OWN, sleep, path, "Thread.sleep", null, null, false, null, -1, -1)))
                .causes()
                .get(0);
        return DiagnosisText.title(first);
    }

    @Test
    void pausesBetweenAttemptsThatTimeOutBelongToTheTimeout() {
        assertThat(titleOfAttemptsWithPauses(40)).isEqualTo("TIMEOUT TOO SHORT: " + STOCK);
    }

    @Test
    void pausesBetweenAttemptsOfASlowPeerBelongToThePeer() {
        assertThat(titleOfAttemptsWithPauses(5)).isEqualTo("SLOW HTTP PEER: " + STOCK);
    }

    @Test
    void propertyThatSetsTheTimeoutIsInTheChange() {
        shop.limits.add(new TimeLimit(Phase.HTTP, "spring.http.clients.read-timeout", Duration.ofMillis(20)));
        shop.limits.add(
                new TimeLimit(Phase.HTTP, "spring.http.serviceclient.other.read-timeout", Duration.ofSeconds(5)));
        shop.limits.add(new TimeLimit(Phase.REDIS, "spring.data.redis.timeout", Duration.ofMillis(20)));
        seconds(90, call -> 40.0);
        seconds(6, call -> -22.0);

        assertThat(title()).as(shop.diagnosis().text()).isEqualTo("TIMEOUT TOO SHORT: " + STOCK);
        assertThat(firstCause().change().text())
                .endsWith("usually takes 40 ms; the timeout is 20 ms (spring.http.clients.read-timeout)");
    }

    @Test
    void limitThatDoesNotFitTheTimeIsNotNamed() {
        shop.limits.add(new TimeLimit(Phase.HTTP, "spring.http.clients.read-timeout", Duration.ofSeconds(5)));
        seconds(90, call -> 40.0);
        seconds(6, call -> -22.0);

        assertThat(firstCause().change().text()).endsWith("usually takes 40 ms");
    }

    private void failing(Throwable failure, Phase phase, String name, double millis) {
        for (int i = 0; i < 6; i++) {
            shop.second(() -> {
                for (int call = 0; call < 60; call++) {
                    shop.call(Shop.PLACE, 0, failure, steps -> steps.own(2).in(phase, name, millis));
                }
            });
        }
    }

    @Test
    void lineThatStopsWaitingForAResultIsInTheChange() {
        seconds(90, call -> 40.0);
        failing(Tickets.gaveUp(), Phase.HTTP, STOCK, 20);

        assertThat(title()).as(shop.diagnosis().text()).isEqualTo("TIMEOUT TOO SHORT: " + STOCK);
        assertThat(firstCause().change().text()).contains("; the timeout is set in Tickets.gaveUp:");
    }

    private void statementThatTheDatabaseCancels(double millis) {
        shop.healthy(call -> call.own(2).in(Phase.SQL, "select stock", 40));
        failing(
                new SQLException("ERROR: canceling statement due to user request", "57014"),
                Phase.SQL,
                "select stock (failed 57014)",
                millis);
    }

    @Test
    void timeoutOfACancelledStatementIsTooShort() {
        statementThatTheDatabaseCancels(20);

        assertThat(title()).as(shop.diagnosis().text()).isEqualTo("TIMEOUT TOO SHORT: select stock");
    }

    @Test
    void statementThatIsCancelledBecauseItIsSlowerThanUsualIsTheCause() {
        statementThatTheDatabaseCancels(90);

        assertThat(title()).as(shop.diagnosis().text()).startsWith("SLOW STATEMENT: select stock");
    }

    /** An exception with the simple name of the exception that Spring throws for a transaction timeout. */
    private static final class TransactionTimedOutException extends RuntimeException {
        private static final long serialVersionUID = 1;

        TransactionTimedOutException() {
            super("Transaction timed out: deadline was Sun Nov 29 06:00:00 UTC 2026");
        }
    }

    @Test
    void timeoutOfATransactionIsNamedWithThePlaceWhereItIsSet() {
        shop.healthy(call -> call.own(40));
        for (int i = 0; i < 6; i++) {
            shop.second(() -> {
                for (int call = 0; call < 60; call++) {
                    shop.call(Shop.PLACE, 0, new TransactionTimedOutException(), steps -> steps.own(30));
                }
            });
        }

        assertThat(title()).as(shop.diagnosis().text()).startsWith("TIMEOUT TOO SHORT: TransactionTimedOutException");
        assertThat(firstCause().change().text()).contains("spring.transaction.default-timeout");
    }

    /** An application exception about the timeout of a session, not of the call. */
    private static final class SessionTimedOutException extends RuntimeException {
        private static final long serialVersionUID = 1;
    }

    @Test
    void exceptionOfTheApplicationWithASimilarNameIsNoTimeout() {
        shop.healthy(call -> call.own(40));
        for (int i = 0; i < 6; i++) {
            shop.second(() -> {
                for (int call = 0; call < 60; call++) {
                    shop.call(Shop.PLACE, 0, new SessionTimedOutException(), steps -> steps.own(30));
                }
            });
        }

        assertThat(title()).as(shop.diagnosis().text()).startsWith("FAILURE: SessionTimedOutException");
    }

    /**
     * Serves calls that make one HTTP exchange each. The function returns the time of each exchange. If the time is
     * negative, the code of the call throws its own exception after the exchange.
     */
    private void secondsWithOwnExceptions(IntFunction<Double> exchange) {
        for (int i = 0; i < 6; i++) {
            shop.second(() -> {
                for (int call = 0; call < 60; call++) {
                    double millis = exchange.apply(call);
                    shop.call(
                            Shop.PLACE,
                            0,
                            millis < 0 ? new IllegalStateException("no stock") : null,
                            steps -> steps.own(2).in(Phase.HTTP, STOCK, Math.abs(millis)));
                }
            });
        }
    }

    @Test
    void timeoutThatTheCodeHidesIsTooShort() {
        seconds(90, call -> 30.0 + call % 20);
        secondsWithOwnExceptions(call -> call % 20 >= 17 ? -47.0 : 30.0 + call % 20);

        assertThat(title()).as(shop.diagnosis().text()).isEqualTo("TIMEOUT TOO SHORT: " + STOCK);
        assertThat(firstCause().change().text()).contains("it ends after 47 ms and usually takes 41 ms");
    }

    @Test
    void exceptionAfterAnAnswerThatTakesTheUsualTimeIsTheFailure() {
        seconds(90, call -> 40.0);
        secondsWithOwnExceptions(call -> call % 4 == 0 ? -40.0 : 40.0);

        assertThat(firstCause().kind()).as(shop.diagnosis().text()).isEqualTo("FAILURE");
    }

    @Test
    void exceptionAfterAQuickerAnswerIsTheFailure() {
        seconds(90, call -> 40.0);
        secondsWithOwnExceptions(call -> call % 4 == 0 ? -30.0 : 40.0);

        assertThat(firstCause().kind()).as(shop.diagnosis().text()).isEqualTo("FAILURE");
    }

    @Test
    void exceptionAfterAnswersOfDifferentDurationsIsTheFailure() {
        seconds(90, call -> 30.0 + call % 20);
        secondsWithOwnExceptions(call -> call % 4 == 0 ? -(30.0 + call % 20) : 30.0 + call % 20);

        assertThat(firstCause().kind()).as(shop.diagnosis().text()).isEqualTo("FAILURE");
    }

    /** Serves calls that get no connection within 20 ms. */
    private void connectionsInTime(double usualMillis, int refusedPerSecond) {
        shop.healthy(call ->
                call.own(2).in(Phase.JDBC_CONNECTION, "druid", usualMillis).in(Phase.SQL, "select stock", 5));
        long[] seconds = {0};
        shop.pools.add(() -> PoolSnapshot.builder("druid", PoolKind.JDBC, 4)
                .now(4, 0, 3)
                .counts(100 * ++seconds[0], refusedPerSecond * seconds[0])
                .sums(Duration.ofMillis(2_000 * seconds[0]), Duration.ofMillis(2_000 * seconds[0]))
                .settings(List.of(new PoolSetting(
                        "spring.datasource.druid.max-wait",
                        "20ms",
                        PoolSetting.Source.USER,
                        PoolSetting.Use.WAIT_LIMIT)))
                .build());
        failing(new SQLTransientConnectionException("no connection"), Phase.JDBC_CONNECTION, "druid", 20);
    }

    @Test
    void limitOfAPoolThatIsShorterThanTheUsualWaitIsTooShort() {
        connectionsInTime(30, 60);

        assertThat(title()).as(shop.diagnosis().text()).isEqualTo("TIMEOUT TOO SHORT: druid");
        assertThat(firstCause().change().text())
                .isEqualTo("set a longer spring.datasource.druid.max-wait than 20ms, or use a larger pool: calls stop"
                        + " waiting for"
                        + " a connection of \"druid\" after 20 ms, and usually wait 30 ms");
    }

    @Test
    void poolForWhichCallsUsuallyDoNotWaitIsItselfTheCause() {
        connectionsInTime(1, 60);

        assertThat(firstCause().kind()).as(shop.diagnosis().text()).isNotEqualTo("TIMEOUT TOO SHORT");
    }
}
