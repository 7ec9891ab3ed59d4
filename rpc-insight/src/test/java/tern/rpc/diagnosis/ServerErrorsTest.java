package tern.rpc.diagnosis;

import static org.assertj.core.api.Assertions.assertThat;
import static tern.rpc.diagnosis.Shop.first;

import java.io.IOException;
import java.net.ProtocolException;
import java.net.SocketException;
import java.sql.SQLException;
import java.sql.SQLNonTransientConnectionException;
import java.sql.SQLTransientConnectionException;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import tern.rpc.Phase;
import tern.rpc.diagnosis.cause.Cause;

/** Tests errors of databases, Redis and HTTP clients whose exceptions hide the reason, or report it under another one. */
class ServerErrorsTest {

    private static final String EXCHANGE = "GET carrier:80";

    private final Shop shop = new Shop();

    /** Stands in for Spring's exception, which has the same simple name. */
    private static final class RedisSystemException extends RuntimeException {
        private static final long serialVersionUID = 1;

        RedisSystemException(Throwable cause) {
            super("Error in execution", cause);
        }
    }

    /** Stands in for Lettuce's exception, which has the same simple name. */
    private static final class RedisException extends RuntimeException {
        private static final long serialVersionUID = 1;

        RedisException(String message) {
            super(message);
        }
    }

    /** Stands in for the base class of Jedis's exceptions, which has the same simple name. */
    private static class JedisException extends RuntimeException {
        private static final long serialVersionUID = 1;

        JedisException(String message) {
            super(message);
        }
    }

    private static final class JedisConnectionException extends JedisException {
        private static final long serialVersionUID = 1;

        JedisConnectionException(String message) {
            super(message);
        }
    }

    /** Stands in for Spring's exception, which has the same simple name. */
    private static final class RestClientException extends RuntimeException {
        private static final long serialVersionUID = 1;

        RestClientException(Throwable cause) {
            super("I/O error on GET request", cause);
        }
    }

    private static Arguments sql(String title, String change, String state, String message, String statement) {
        return Arguments.of(
                title,
                change,
                new IllegalStateException("statement failed", new SQLException(message, state)),
                (Consumer<Shop.Steps>) call -> call.own(1).in(Phase.SQL, statement, 3));
    }

    private static Arguments redis(String title, String change, Throwable failure) {
        return Arguments.of(title, change, failure, (Consumer<Shop.Steps>)
                call -> call.own(1).in(Phase.REDIS, "SET user:*", 1));
    }

    private static Arguments http(String title, String change, IOException failure) {
        return Arguments.of(title, change, new RestClientException(failure), (Consumer<Shop.Steps>)
                call -> call.own(1).in(Phase.HTTP, EXCHANGE, 60));
    }

    private static IOException thrownBy(String library, IOException failure) {
        failure.setStackTrace(new StackTraceElement[] {new StackTraceElement(library, "execute", null, 1)});
        return failure;
    }

    static Stream<Arguments> errors() {
        return Stream.of(
                sql(
                        "PEER FAILS: database: disk full (HY000)",
                        "free space on the disk of database",
                        "HY000",
                        "The table 'track_event' is full",
                        "insert into track_event (failed HY000)"),
                sql(
                        "PEER FAILS: database: disk full (HY000)",
                        "free space on the disk of database",
                        "HY000",
                        "(conn=5) Got error 28 \"No space left on device\" from storage engine InnoDB",
                        "insert into track_event (failed HY000)"),
                sql(
                        "PEER FAILS: database: packet too large (08S01)",
                        "raise max_allowed_packet",
                        "08S01",
                        "Packet for query is too large (68 > 64). You can change this value on the server by setting"
                                + " the 'max_allowed_packet' variable.",
                        "insert into image (failed 08S01)"),
                sql(
                        "FAILURE: SQLException (Lock wait timeout exceeded) 40001 of update stock",
                        "shorten the transaction that holds the row",
                        "40001",
                        "Lock wait timeout exceeded; try restarting transaction",
                        "update stock"),
                sql(
                        "FAILURE: SQLException 08003 of select stock",
                        "who closes this connection",
                        "08003",
                        "Connection is closed",
                        "select stock (failed 08003)"),
                Arguments.of(
                        "PEER FAILS: database: connection lost (HY000)",
                        "why it ends connections",
                        new SQLNonTransientConnectionException("Socket is broken", "HY000"),
                        (Consumer<Shop.Steps>) call -> call.own(1).in(Phase.SQL, "select stock (failed HY000)", 3)),
                sql(
                        "PEER FAILS: database: limit of the user reached (42000)",
                        "MAX_QUERIES_PER_HOUR",
                        "42000",
                        "(conn=9) User 'fleet' has exceeded the 'max_queries_per_hour' resource (current value: 250)",
                        "select price from rate where day = ? (failed 42000)"),
                sql(
                        "FAILURE: SQLException 22001 of insert user",
                        "make the column longer",
                        "22001",
                        "Data too long for column 'name' at row 1",
                        "insert user"),
                sql(
                        "FAILURE: SQLException 42000 of select stok",
                        "correct the text of this statement",
                        "42000",
                        "You have an error in your SQL syntax",
                        "select stok (failed 42000)"),
                redis(
                        "PEER FAILS: Redis: answers OOM",
                        "raise maxmemory",
                        new RedisSystemException(
                                new RedisException("OOM command not allowed when used memory > 'maxmemory'."))),
                redis(
                        "PEER FAILS: Redis: unexpected end of stream",
                        "closes connections",
                        new JedisConnectionException("Unexpected end of stream.")),
                redis(
                        "PEER FAILS: Redis: unexpected end of stream",
                        "closes connections",
                        new RedisSystemException(new RedisException("Connection closed"))),
                http(
                        "PEER FAILS: " + EXCHANGE + ": redirects without end",
                        "call the final address directly",
                        thrownBy(
                                "org.apache.hc.client5.http.impl.classic.RedirectExec",
                                new IOException("Maximum redirects (50) exceeded"))),
                http(
                        "PEER FAILS: " + EXCHANGE + ": redirects without end",
                        "call the final address directly",
                        thrownBy(
                                "sun.net.www.protocol.http.HttpURLConnection",
                                new ProtocolException("Server redirected too many  times (20)"))));
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("errors")
    void reasonThatTheServerGivesIsNamedWithItsChange(
            String title, String change, Throwable failure, Consumer<Shop.Steps> calls) {
        Cause first = firstOf(failure, calls);

        assertThat(DiagnosisText.title(first)).as(shop.diagnosis().text()).isEqualTo(title);
        assertThat(first.change().text()).contains(change);
    }

    private Cause firstOf(Throwable failure, Consumer<Shop.Steps> calls) {
        shop.healthy(call -> Shop.USUAL.accept(call.in(Phase.HTTP, EXCHANGE, 5)));
        for (int i = 0; i < 6; i++) {
            shop.second(() -> {
                for (int call = 0; call < 40; call++) {
                    shop.call(Shop.PLACE, 0, failure, calls);
                }
            });
        }
        return first(shop.diagnosis());
    }

    static Stream<Throwable> exhausted() {
        return Stream.of(
                new SQLTransientConnectionException(
                        "HikariPool-1 - Connection is not available, request timed out after 3000ms",
                        new SQLException(
                                "Communications link failure", "08S01", new SocketException("Too many open files"))),
                new IllegalStateException(
                        new OutOfMemoryError("unable to create native thread: possibly out of memory")));
    }

    @ParameterizedTest
    @MethodSource("exhausted")
    void waitForAPoolIsASymptomOfTheLimitOfThisProcess(Throwable failure) {
        Cause first = firstOf(failure, call -> call.own(1).in(Phase.JDBC_CONNECTION, "hikari", 3_000));

        assertThat(first.kind()).as(shop.diagnosis().text()).isEqualTo("FAILURE");
        assertThat(first.change().text()).containsAnyOf("limit of open files", "limit of threads");
        assertThat(shop.diagnosis().causes()).hasSize(1);
    }
}
