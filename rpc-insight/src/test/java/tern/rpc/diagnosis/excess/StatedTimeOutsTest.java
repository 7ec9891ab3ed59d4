package tern.rpc.diagnosis.excess;

import static org.assertj.core.api.Assertions.assertThat;
import static tern.rpc.diagnosis.Shop.first;

import java.net.SocketTimeoutException;
import java.sql.SQLTimeoutException;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tern.rpc.Phase;
import tern.rpc.RpcException;
import tern.rpc.StatusCode;
import tern.rpc.diagnosis.DiagnosisText;
import tern.rpc.diagnosis.Shop;
import tern.rpc.diagnosis.cause.Cause;

/** Tests timeouts whose exceptions state the limit or the operation. */
class StatedTimeOutsTest {

    @Test
    void statedTimeoutOfOneOfSeveralRemoteCallsIsTooShortAlthoughTheMeasuredTimesAreLonger() {
        String quote = "RateDesk.quote at 127.0.0.1:9303";
        Consumer<Shop.Steps> search = call -> {
            call.own(2);
            for (int i = 0; i < 4; i++) {
                call.in(Phase.RPC, "ReservationDesk.availability at 127.0.0.1:9201", 6)
                        .in(Phase.RPC, quote, 4);
            }
        };
        Shop calling = new Shop().healthy(search);
        RpcException late = RpcException.refusal(
                StatusCode.DEADLINE_EXCEEDED,
                "RateDesk/quote: no answer from 127.0.0.1:9303 within 3 ms (CallOptions.timeout)",
                RpcException.Executed.MAYBE);
        for (int i = 0; i < 6; i++) {
            calling.second(() -> {
                for (int call = 0; call < 40; call++) {
                    boolean isLate = call % 2 == 0; // the machine is busy, so some calls are late for another reason
                    calling.call(Shop.PLACE, 0, late, steps -> {
                        steps.own(isLate ? 60 : 2);
                        for (int n = 0; n < 3; n++) {
                            steps.in(Phase.RPC, "ReservationDesk.availability at 127.0.0.1:9201", 6)
                                    .in(Phase.RPC, quote, 14);
                        }
                    });
                    calling.call(Shop.PLACE, 0, search);
                }
            });
        }

        Cause first = first(calling.diagnosis());
        assertThat(DiagnosisText.title(first)).as(calling.diagnosis().text()).isEqualTo("TIMEOUT TOO SHORT: " + quote);
        assertThat(first.change().text())
                .startsWith("set a longer timeout for " + quote)
                .contains("it ends after 3.0 ms and usually takes 4.0 ms")
                .contains("the timeout is 3 ms (CallOptions.timeout)");
        assertThat(first.evidence())
                .contains("usually  4.0 ms (p50) and 4.0 ms (p99) before calls began to miss the target");
    }

    /** An exception with the same simple name as the one that Spring's HTTP clients throw. */
    private static final class RestClientException extends RuntimeException {
        private static final long serialVersionUID = 1;

        RestClientException(String message) {
            super(message, new SocketTimeoutException("Read timed out"));
        }
    }

    @Test
    void exchangeThatTheExceptionNamesHasTimedOutAlthoughAnotherOneTookLonger() {
        Shop calling = new Shop()
                .healthy(call ->
                        call.own(2).in(Phase.HTTP, "GET stock:80", 40).in(Phase.HTTP, "GET rates:80/quote", 20));
        for (int i = 0; i < 6; i++) {
            calling.second(() -> {
                for (int call = 0; call < 40; call++) {
                    calling.call(
                            Shop.PLACE,
                            0,
                            new RestClientException(
                                    "I/O error on GET request for \"http://rates/quote/17\": Read timed out"),
                            steps -> steps.own(2)
                                    .in(Phase.HTTP, "GET stock:80", 40)
                                    .in(Phase.HTTP, "GET rates:80/quote", 5));
                }
            });
        }

        assertThat(calling.diagnosis().causes())
                .as(calling.diagnosis().text())
                .extracting(DiagnosisText::title)
                .containsExactly("TIMEOUT TOO SHORT: GET rates:80/quote");
    }

    @Test
    void statementThatTheExceptionNamesHasTimedOutAlthoughAnotherOneTookLonger() {
        Shop querying = new Shop()
                .healthy(call -> call.own(2)
                        .in(Phase.SQL, "select * from room where id=?", 40)
                        .in(Phase.SQL, "select * from rate where room=?", 20));
        SQLTimeoutException late = new SQLTimeoutException(
                "PreparedStatementCallback; SQL [select * from rate where room=?]; canceling statement");
        for (int i = 0; i < 6; i++) {
            querying.second(() -> {
                for (int call = 0; call < 40; call++) {
                    querying.call(
                            Shop.PLACE,
                            0,
                            late,
                            steps -> steps.own(2)
                                    .in(Phase.SQL, "select * from room where id=?", 40)
                                    .in(Phase.SQL, "select * from rate where room=?", 5));
                }
            });
        }

        assertThat(DiagnosisText.title(first(querying.diagnosis())))
                .as(querying.diagnosis().text())
                .isEqualTo("TIMEOUT TOO SHORT: select * from rate where room=?");
    }

    @ParameterizedTest
    @CsvSource({
        "max_statement_time, Query execution was interrupted (max_statement_time exceeded)",
        "max_execution_time, 'Query execution was interrupted, maximum statement execution time exceeded'",
        "statement_timeout, ERROR: canceling statement due to statement timeout",
    })
    void settingOfTheDatabaseThatEndsStatementsIsNamed(String setting, String message) {
        Shop querying =
                new Shop().healthy(call -> call.own(2).in(Phase.SQL, "select sum(total) from invoice where a=?", 20));
        for (int i = 0; i < 6; i++) {
            querying.second(() -> {
                for (int call = 0; call < 40; call++) {
                    querying.call(
                            Shop.PLACE,
                            0,
                            new SQLTimeoutException(message),
                            steps -> steps.own(2).in(Phase.SQL, "select sum(total) from invoice where a=?", 3));
                }
            });
        }

        Cause first = first(querying.diagnosis());

        assertThat(first.kind()).as(querying.diagnosis().text()).isEqualTo("TIMEOUT TOO SHORT");
        assertThat(first.change().text()).contains("the setting " + setting + " of the database");
    }

    private static class RedisException extends RuntimeException {
        private static final long serialVersionUID = 1;

        RedisException(String message) {
            super(message);
        }
    }

    /** An exception with the same simple name as the one that Lettuce throws. */
    private static final class RedisCommandTimeoutException extends RedisException {
        private static final long serialVersionUID = 1;

        RedisCommandTimeoutException(String message) {
            super(message);
        }
    }

    @Test
    void statedTimeoutOfARedisCommandIsComparedWithItsUsualTime() {
        Shop caching = new Shop().healthy(call -> call.own(2).in(Phase.REDIS, "GET user:*", 8));
        for (int i = 0; i < 6; i++) {
            caching.second(() -> {
                for (int call = 0; call < 40; call++) {
                    caching.call(
                            Shop.PLACE,
                            0,
                            new RedisCommandTimeoutException("Command timed out after 3 millisecond(s)"),
                            steps -> steps.own(2).in(Phase.REDIS, "GET user:*", 14));
                }
            });
        }

        Cause first = first(caching.diagnosis());
        assertThat(DiagnosisText.title(first))
                .as(caching.diagnosis().text())
                .isEqualTo("TIMEOUT TOO SHORT: GET user:*");
        assertThat(first.change().text()).contains("it ends after 3.0 ms and usually takes 8.0 ms");
    }
}
