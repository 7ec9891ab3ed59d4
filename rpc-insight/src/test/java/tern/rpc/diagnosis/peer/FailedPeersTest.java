package tern.rpc.diagnosis.peer;

import static org.assertj.core.api.Assertions.assertThat;
import static tern.rpc.diagnosis.Shop.USUAL;
import static tern.rpc.diagnosis.Shop.first;

import java.io.IOException;
import java.net.ConnectException;
import java.net.SocketException;
import java.net.SocketTimeoutException;
import java.nio.channels.ClosedByInterruptException;
import java.nio.channels.ClosedChannelException;
import java.sql.SQLException;
import java.sql.SQLTransientConnectionException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import tern.rpc.Phase;
import tern.rpc.RunningCall;
import tern.rpc.diagnosis.Diagnosis;
import tern.rpc.diagnosis.DiagnosisText;
import tern.rpc.diagnosis.Shop;
import tern.rpc.diagnosis.account.Part;
import tern.rpc.diagnosis.cause.Cause;
import tern.rpc.diagnosis.failure.FailurePart;
import tern.rpc.pool.Holders;
import tern.rpc.pool.PoolKind;
import tern.rpc.pool.PoolSnapshot;
import tern.rpc.pool.PoolSource;

/** Tests waits that end because nothing accepts connections, or because a server refuses the application. */
class FailedPeersTest {

    private final Shop shop = new Shop();

    private static Throwable poolTimeout(Throwable cause) {
        return new SQLTransientConnectionException(
                "HikariPool-1 - Connection is not available, request timed out after 3000ms", cause);
    }

    /** Adds a pool that has no connection, because it cannot open one. */
    private void emptyPool() {
        shop.pools.add(PoolSource.of(
                () -> PoolSnapshot.builder("hikari", PoolKind.JDBC, 10)
                        .now(0, 0, 8)
                        .counts(0, 8)
                        .sums(Duration.ZERO, Duration.ZERO)
                        .settings(List.of())
                        .build(),
                new Holders()));
    }

    private Diagnosis failing(Throwable failure, Consumer<Shop.Steps> calls) {
        for (int i = 0; i < 6; i++) {
            shop.second(() -> {
                for (int call = 0; call < 40; call++) {
                    shop.call(Shop.PLACE, 0, failure, calls);
                }
            });
        }
        return shop.diagnosis();
    }

    @Test
    void waitForAPoolIsASymptomOfTheDatabaseThatRefusesConnections() {
        shop.healthy(USUAL);
        emptyPool();

        Diagnosis miss = failing(
                poolTimeout(new SQLException(
                        "Connection to db-1:5432 refused.", "08001", new ConnectException("Connection refused"))),
                call -> call.own(1).in(Phase.JDBC_CONNECTION, "hikari", 3_000));

        assertThat(DiagnosisText.title(first(miss)))
                .as(miss.text())
                .isEqualTo("PEER FAILS: database at db-1:5432: Connection refused");
        assertThat(first(miss).ms()).isGreaterThan(3_000);
        assertThat(first(miss).saves()).isEqualTo(1);
        assertThat(first(miss).symptoms())
                .anyMatch(line -> line.startsWith("calls wait for a connection of \"hikari\" until it fails"));
        assertThat(miss.causes()).extracting(Cause::kind).doesNotContain("CONNECTIONS OPEN SLOWLY");
    }

    /** An exception with the same simple name as the exceptions of Jedis. */
    private static final class JedisException extends RuntimeException {
        private static final long serialVersionUID = 1;

        JedisException(String message) {
            super(message);
        }
    }

    @Test
    void suppressedTimeoutOfAConnectionIsTheReasonWhyRedisFails() {
        Throwable failure = new JedisException("Failed to connect to redis-1:6379.");
        failure.addSuppressed(new SocketTimeoutException("Connect timed out"));
        shop.healthy(USUAL);

        Diagnosis miss = failing(failure, call -> call.own(1).in(Phase.REDIS_CONNECTION, "jedis", 500));

        assertThat(first(miss).title())
                .as(miss.text())
                .isEqualTo("PEER FAILS: Redis at redis-1:6379: connections are not accepted in time");
    }

    @Test
    void callsThatStillWaitHaveTheReasonOfTheCallsThatFailed() {
        shop.healthy(USUAL);
        emptyPool();
        for (int i = 0; i < 12; i++) {
            Shop.Steps steps = shop.new Steps(0);
            steps.ledger.enter(i % 2 == 0 ? Phase.JDBC_CONNECTION : Phase.SQL);
            shop.running.add(new RunningCall(
                    Shop.PLACE, RunningCall.NO_THREAD, Phase.SQL, shop.now(), 20_000_000_000L, steps.ledger));
        }
        shop.pass(20_000);

        Diagnosis miss = failing(
                poolTimeout(new ConnectException("Connection to db-1:5432 refused: Connection refused")),
                call -> call.own(1).in(Phase.JDBC_CONNECTION, "hikari", 3_000));

        assertThat(miss.causes())
                .as(miss.text())
                .extracting(DiagnosisText::title)
                .containsExactly("PEER FAILS: database at db-1:5432: Connection refused");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "28P01 | FATAL: password authentication failed | login refused (28P01)  | correct the user",
                "53300 | FATAL: sorry, too many clients already | too many connections (53300) | fewer connections",
                "57P03 | the database system is starting up     | starting or shutting down (57P03) | who stops",
                "08006 | the server closed the connection       | connection lost (08006) | check whether database",
                "08004 | Too many connections                   | too many connections (08004)   | fewer connections",
            })
    void reasonWhyAPoolHasNoConnectionIsItsCause(String state, String message, String failure, String change) {
        shop.healthy(USUAL);
        emptyPool();

        Diagnosis miss = failing(
                poolTimeout(new SQLException(message, state)),
                call -> call.own(1).in(Phase.JDBC_CONNECTION, "hikari", 3_000));

        assertThat(DiagnosisText.title(first(miss))).as(miss.text()).isEqualTo("PEER FAILS: database: " + failure);
        assertThat(first(miss).change().text()).contains(change);
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void databaseThatDoesNotAnswerTheLoginOfAPoolDoesNotCloseConnections(boolean isCause) {
        SQLException closed = new SQLException(
                "Socket fail to connect to db-1:3306", "08000", new SocketTimeoutException("Read timed out"));
        SQLTransientConnectionException failure = new SQLTransientConnectionException(
                "hikari - Connection is not available, request timed out after 3000ms", isCause ? closed : null);
        if (!isCause) {
            failure.setNextException(closed);
        }
        shop.healthy(USUAL);
        emptyPool();

        Diagnosis miss = failing(failure, call -> call.own(1).in(Phase.JDBC_CONNECTION, "hikari", 3_000));

        assertThat(DiagnosisText.title(first(miss)))
                .as(miss.text())
                .startsWith("PEER FAILS: database")
                .endsWith(": does not answer");
        assertThat(first(miss).change().text()).contains("stopped, paused or unreachable");
    }

    @ParameterizedTest
    @CsvSource({"57P01, starting or shutting down", "53100, disk full", "08S01, connection lost"})
    void statementThatTheServerEndsIsTheFailureOfTheServer(String state, String failure) {
        shop.healthy(USUAL);

        Diagnosis miss =
                failing(new SQLException("ended", state), call -> call.own(1).in(Phase.SQL, "select 1", 2));

        assertThat(DiagnosisText.title(first(miss))).isEqualTo("PEER FAILS: database: " + failure + " (" + state + ")");
    }

    @Test
    void statementThatTheServerEndedIsTheReasonForItsRepetition() {
        assertThat(FailurePart.ofOperation(Phase.SQL, "select stock (failed 57P01)"))
                .isEqualTo(new Part(Part.Kind.PEER_FAILS, "database: starting or shutting down (57P01)"));
    }

    @Test
    void connectionThatIsLostBecauseAStatementTookTooLongIsASymptomOfTheStatement() {
        shop.healthy(USUAL);

        Diagnosis miss = failing(
                new SQLException("I/O error", "08006", new SocketTimeoutException("Read timed out")),
                call -> call.own(1).in(Phase.SQL, "select report", 400));

        assertThat(DiagnosisText.title(first(miss))).isEqualTo("SLOW STATEMENT: select report");
    }

    @Test
    void failedRollbackDoesNotHideTheStatementThatClosedItsConnection() {
        shop.healthy(USUAL);

        Diagnosis miss =
                failing(rollbackOnClosedConnection(), call -> call.own(1).in(Phase.SQL, "select report", 400));

        assertThat(DiagnosisText.title(first(miss))).isEqualTo("SLOW STATEMENT: select report");
    }

    @Test
    void statementThatLostItsConnectionIsTheReasonOfAFailedRollback() {
        shop.healthy(USUAL);

        Diagnosis miss = failing(
                rollbackOnClosedConnection(), call -> call.own(1).in(Phase.SQL, "select report (failed 08S01)", 3));

        assertThat(DiagnosisText.title(first(miss))).isEqualTo("PEER FAILS: database: connection lost (08S01)");
    }

    /** The exception of Spring's JdbcTransactionManager, which does not contain the exception of the statement. */
    private static Throwable rollbackOnClosedConnection() {
        SQLException closed = new SQLException("(conn=71) Connection is closed", "08000");
        closed.setStackTrace(new StackTraceElement[] {
            new StackTraceElement("org.mariadb.jdbc.Connection", "checkNotClosed", "Connection.java", 702),
            new StackTraceElement("org.mariadb.jdbc.Connection", "rollback", "Connection.java", 248)
        });
        return new IllegalStateException("JDBC rollback; (conn=71) Connection is closed", closed);
    }

    /** Stands in for the base class of the MongoDB client's exceptions, which has the same simple name. */
    private static class MongoException extends RuntimeException {
        private static final long serialVersionUID = 1;

        MongoException(String message) {
            super(message);
        }
    }

    private static final class MongoTimeoutException extends MongoException {
        private static final long serialVersionUID = 1;

        MongoTimeoutException(String message) {
            super(message);
        }
    }

    @Test
    void reasonThatAClientOnlyMentionsIsTheCauseOfItsTimeout() {
        shop.healthy(USUAL);

        Diagnosis miss = failing(
                new MongoTimeoutException("Timed out while waiting for a server. Client view of cluster state is"
                        + " {servers=[{address=mongo-1:27017, exception={Exception opening socket}, caused by"
                        + " {java.net.ConnectException: Connection refused}}]"),
                call -> call.own(1));

        assertThat(DiagnosisText.title(first(miss)))
                .isEqualTo("PEER FAILS: database at mongo-1:27017: Connection refused");
    }

    @Test
    void reasonThatIsSuppressedIsTheCauseOfATimeout() {
        shop.healthy(USUAL);
        SQLTransientConnectionException failure = new SQLTransientConnectionException("no connection");
        failure.setNextException(new SQLException("denied", "28000"));

        Diagnosis miss = failing(failure, call -> call.own(1).in(Phase.JDBC_CONNECTION, "hikari", 3_000));

        assertThat(DiagnosisText.title(first(miss))).isEqualTo("PEER FAILS: database: login refused (28000)");
    }

    @Test
    void exchangeThatWaitsForAConnectionIsASymptomOfThePeerThatAcceptsNone() {
        shop.healthy(USUAL);

        Diagnosis miss = failing(
                new IOException("I/O error", new SocketTimeoutException("Connect timed out")),
                call -> call.own(1).in(Phase.HTTP, "GET carrier:80", 2_000));

        assertThat(DiagnosisText.title(first(miss)))
                .isEqualTo("PEER FAILS: GET carrier:80: connections are not accepted in time");
        assertThat(miss.causes()).hasSize(1);
    }

    @Test
    void exchangeThatIsAcceptedLateIsNoSecondCauseOfTheSamePeer() {
        shop.healthy(USUAL);
        for (int i = 0; i < 6; i++) {
            shop.second(() -> {
                for (int call = 0; call < 40; call++) {
                    if (call % 4 == 0) {
                        shop.call(Shop.PLACE, 0, steps -> steps.in(Phase.HTTP, "GET carrier:80/parcels", 1_000));
                    } else {
                        Throwable failure =
                                new SocketTimeoutException("Connect to http://carrier:80 failed: Connect timed out");
                        shop.call(Shop.PLACE, 0, failure, steps -> steps.in(Phase.HTTP_CONNECTION, "http", 1_000));
                    }
                }
            });
        }

        assertThat(shop.diagnosis().causes())
                .as(shop.diagnosis().text())
                .extracting(DiagnosisText::title)
                .containsExactly("PEER FAILS: HTTP peer at carrier:80: connections are not accepted in time");
    }

    @Test
    void waitOfWhichFewCallsFailIsNotASymptomOfTheirFailure() {
        shop.healthy(USUAL);
        for (int i = 0; i < 6; i++) {
            shop.second(() -> {
                for (int call = 0; call < 40; call++) {
                    Throwable failure = call % 5 == 0 ? new ConnectException("Connection refused") : null;
                    shop.call(Shop.PLACE, 0, failure, steps -> steps.in(Phase.HTTP, "GET carrier:80", 3_000));
                }
            });
        }

        assertThat(DiagnosisText.title(first(shop.diagnosis())))
                .as(shop.diagnosis().text())
                .isEqualTo("SLOW HTTP PEER: GET carrier:80");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "Max requests queued per destination 1024 exceeded for HttpDestination[http://carrier:80]",
                "too many concurrent streams",
                "Acquire operation took longer than the configured maximum time."
            })
    void clientThatHasNoFreeConnectionIsNoFailedPeer(String message) {
        shop.healthy(USUAL);

        Diagnosis miss = failing(
                new RejectedExecutionException(message), call -> call.own(1).in(Phase.HTTP, "GET carrier:80", 1));

        assertThat(DiagnosisText.title(first(miss))).as(miss.text()).isEqualTo("WAIT AT POOL: http");
        assertThat(first(miss).change().text())
                .contains("allow more connections in the application's own HTTP client", "pendingAcquireMaxCount");
    }

    /** An exception with the simple name of the exception that Tomcat's pool throws to end a wait. */
    private static final class PoolExhaustedException extends SQLException {
        private static final long serialVersionUID = 1;

        PoolExhaustedException(String message) {
            super(message);
        }
    }

    static List<SQLException> poolsWithoutAFreeConnection() {
        return List.of(
                new PoolExhaustedException("Timeout: Pool empty. Unable to fetch a connection in 1 seconds"),
                new SQLException("Cannot get a connection, pool error Timeout waiting for idle object"),
                new SQLException("An attempt by a client to checkout a Connection has timed out."),
                new SQLException("Sorry, acquisition timeout!"));
    }

    @ParameterizedTest
    @MethodSource("poolsWithoutAFreeConnection")
    void poolWithoutAFreeConnectionIsTheReasonForTheFailureOfATransaction(SQLException failure) {
        shop.healthy(USUAL);

        Diagnosis miss = failing(
                new IllegalStateException("Could not open JPA EntityManager for transaction", failure),
                call -> call.own(1).in(Phase.SQL, "select stock", 2).in(Phase.JDBC_CONNECTION, "orders", 1_000));

        assertThat(first(miss).kind()).as(miss.text()).isNotEqualTo("FAILURE");
        assertThat(first(miss).name()).isEqualTo("orders");
    }

    static List<Throwable> exhaustedLimits() {
        return List.of(
                new SQLException("The connection attempt failed.", "08001", new SocketException("Too many open files")),
                new RedisConnectionFailureException(new SocketException("Too many open files")),
                new RedisConnectionFailureException(new OutOfMemoryError("unable to create native thread: possibly out"
                        + " of memory or process/resource limits reached")));
    }

    /** An exception with the simple name of the exception that Spring wraps around failures of Redis connections. */
    private static final class RedisConnectionFailureException extends RuntimeException {
        private static final long serialVersionUID = 1;

        RedisConnectionFailureException(Throwable cause) {
            super("Unable to connect to Redis", cause);
        }
    }

    @ParameterizedTest
    @MethodSource("exhaustedLimits")
    void exhaustedLimitOfTheProcessIsNoFailureOfThePeer(Throwable failure) {
        shop.healthy(USUAL);

        Diagnosis miss = failing(failure, USUAL);

        assertThat(DiagnosisText.title(first(miss))).as(miss.text()).startsWith("FAILURE: ");
        assertThat(first(miss).change().text()).contains("limit of");
    }

    @Test
    void limitOfAnotherProcessThatItsAnswerMentionsIsNotOfThisProcess() {
        shop.healthy(USUAL);

        Diagnosis miss = failing(new SQLException("could not open file: Too many open files", "53000"), USUAL);

        assertThat(DiagnosisText.title(first(miss))).as(miss.text()).contains("53000 of select stock");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"Connection timed out", "HTTP connect timed out", "connection timed out: carrier/10.1.1.1:80"})
    void peerThatAnswersNoConnectionAttemptIsRecognizedByTheMessage(String message) {
        shop.healthy(USUAL);

        Diagnosis miss = failing(
                new IOException("I/O error", new ConnectException(message)),
                call -> call.in(Phase.HTTP, "GET carrier:80", 9));

        assertThat(DiagnosisText.title(first(miss)))
                .isEqualTo("PEER FAILS: GET carrier:80: connections are not accepted in time");
    }

    private static Throwable thrownIn(String type, Exception failure) {
        failure.setStackTrace(new StackTraceElement[] {
            new StackTraceElement(type, "read", null, 7), new StackTraceElement("shop.Orders", "find", null, 41)
        });
        return failure;
    }

    static List<Throwable> closedByThisProcess() {
        return List.of(
                thrownIn("sun.nio.ch.FileChannelImpl", new ClosedChannelException()),
                thrownIn("sun.nio.ch.SocketChannelImpl", new ClosedByInterruptException()),
                thrownIn("sun.nio.ch.NioSocketImpl", new SocketException("Socket closed")),
                thrownIn("sun.nio.ch.NioSocketImpl", new SocketException("Closed by interrupt")));
    }

    @ParameterizedTest
    @MethodSource("closedByThisProcess")
    void channelThatThisProcessClosesIsNoFailureOfAPeer(Throwable failure) {
        shop.healthy(USUAL);

        Diagnosis miss = failing(failure, call -> call.own(1).in(Phase.HTTP, "GET carrier:80", 2));

        assertThat(DiagnosisText.title(first(miss))).as(miss.text()).matches("FAILURE: .* in Orders.find:41");
        assertThat(first(miss).change().text()).doesNotStartWith("fix the code");
    }

    @Test
    void channelThatThePeerClosesIsAFailureOfThePeer() {
        shop.healthy(USUAL);

        Diagnosis miss = failing(
                thrownIn("sun.nio.ch.SocketChannelImpl", new ClosedChannelException()),
                call -> call.own(1).in(Phase.HTTP, "GET carrier:80", 2));

        assertThat(DiagnosisText.title(first(miss))).isEqualTo("PEER FAILS: GET carrier:80: ClosedChannelException");
    }

    @Test
    void brokerThatCannotBeReachedIsTheReasonForATimeoutOfItsClient() {
        shop.healthy(USUAL);
        Exception timeout = new TimeoutException("Topic orders not present in metadata after 60000 ms.");

        Diagnosis miss = failing(
                new IllegalStateException(
                        "Send failed", thrownIn("org.apache.kafka.clients.producer.KafkaProducer", timeout)),
                call -> call.own(1));

        assertThat(first(miss).kind()).as(miss.text()).isEqualTo("PEER FAILS");
        assertThat(first(miss).change().text()).contains("bootstrap.servers");
    }

    @Test
    void waitForAPoolIsNoSymptomOfAnotherPeer() {
        shop.healthy(USUAL);

        Diagnosis miss = failing(
                new IOException(new ConnectException("Connect to http://carrier:80 failed: Connection refused")),
                call -> call.in(Phase.JDBC_CONNECTION, "hikari", 3_000).in(Phase.HTTP, "GET carrier:80", 2));

        assertThat(first(miss).name()).isEqualTo("hikari");
    }
}
