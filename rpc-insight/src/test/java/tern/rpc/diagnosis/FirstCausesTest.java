package tern.rpc.diagnosis;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.ConnectException;
import java.net.SocketTimeoutException;
import java.net.UnknownHostException;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.UnresolvedAddressException;
import java.sql.SQLTransientConnectionException;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import tern.rpc.Phase;
import tern.rpc.diagnosis.cause.Cause;

/** Tests the first cause and the recommended change for typical failures. */
class FirstCausesTest {

    private static final Consumer<Shop.Steps> USUAL = call -> call.own(2)
            .in(Phase.SQL, "select stock", 3)
            .in(Phase.REDIS, "GET user:*", 1)
            .in(Phase.HTTP, "GET carrier:80", 5);

    private static Arguments late(String title, String change, Consumer<Shop.Steps> calls) {
        return Arguments.of(title, change, null, calls);
    }

    private static Arguments failed(String title, String change, Throwable failure, Consumer<Shop.Steps> calls) {
        return Arguments.of(title, change, failure, calls);
    }

    /** Returns the exception with a stack trace like that of an exception from a provider. */
    private static Throwable thrownByProvider(Throwable failure) {
        failure.setStackTrace(new StackTraceElement[] {
            new StackTraceElement("shop.TariffService", "price", "on 10.0.0.7:20880", -1),
            new StackTraceElement("shop.Orders", "place", "Orders.java", 12)
        });
        return failure;
    }

    static Stream<Arguments> faults() {
        return Stream.of(
                late(
                        "SLOW STATEMENT: select report",
                        "plan",
                        call -> call.in(Phase.SQL, "select stock", 3).in(Phase.SQL, "select report", 250)),
                late("SLOW COMMIT: commit", "log disk", call -> call.in(Phase.SQL, "commit", 200)),
                late(
                        "SLOW DATABASE: every statement",
                        "network to the database",
                        call -> call.in(Phase.SQL, "select stock", 63)
                                .in(Phase.SQL, "select user", 61)
                                .in(Phase.SQL, "update user", 60)),
                late(
                        "SLOW REDIS COMMAND: KEYS *",
                        "use SCAN instead of KEYS",
                        call -> call.in(Phase.REDIS, "KEYS *", 180)),
                late(
                        "SLOW REDIS COMMAND: BLPOP jobs",
                        "do not send a blocking command",
                        call -> call.in(Phase.REDIS, "BLPOP jobs", 500)),
                late("MANY COMMANDS: GET user:*", "MGET or a pipeline", call -> {
                    for (int i = 0; i < 60; i++) {
                        call.in(Phase.REDIS, "GET user:*", 3);
                    }
                }),
                late(
                        "SLOW HTTP PEER: GET carrier:80",
                        "find out why GET carrier:80 is slow",
                        call -> call.in(Phase.HTTP, "GET carrier:80", 160)),
                late(
                        "SLOW NETWORK: every HTTP peer",
                        "became slow together",
                        call -> call.in(Phase.HTTP, "GET carrier:80", 70).in(Phase.HTTP, "GET rates:80", 75)),
                late(
                        "SLOW HTTP PEER: GET carrier:80/rates",
                        "find out why GET carrier:80/rates is slow",
                        call -> call.in(Phase.HTTP, "GET carrier:80/levels", 70)
                                .in(Phase.HTTP, "GET carrier:80/rates", 75)),
                late(
                        "PEER: StockService.reserve at stock-2:20880",
                        "provider of StockService.reserve",
                        call -> call.in(Phase.RPC, "StockService.reserve at stock-2:20880", 148)),
                late("MANY REMOTE CALLS: StockService.reserve", "one remote call instead of 24", call -> {
                    for (int i = 0; i < 12; i++) {
                        call.in(Phase.RPC, "StockService.reserve at stock-1:20880", 8)
                                .in(Phase.RPC, "StockService.reserve at stock-2:20880", 5);
                    }
                }),
                late("MANY REMOTE CALLS: StockService.reserve", "one remote call instead of 30", call -> {
                    for (int i = 0; i < 30; i++) {
                        call.in(Phase.RPC, "StockService.reserve at stock-2:20880", 5);
                    }
                }),
                late("MANY HTTP CALLS: GET carrier:80", "one request instead of 20", call -> {
                    for (int i = 0; i < 20; i++) {
                        call.in(Phase.HTTP, "GET carrier:80", 8);
                    }
                }),
                late(
                        "PEER FAILS: GET carrier:80 (503)",
                        "find out why GET carrier:80 (503) fails",
                        call -> call.in(Phase.HTTP, "GET carrier:80 (503)", 160)),
                late("PEER FAILS: GET carrier:80 (503)", "find out why GET carrier:80 (503) fails", call -> {
                    for (int i = 0; i < 12; i++) {
                        call.in(Phase.HTTP, "GET carrier:80 (503)", 12);
                    }
                }),
                late("PEER FAILS: StockService.find at stock-1:20880: UNAVAILABLE", "check the log of", call -> {
                    for (int i = 0; i < 12; i++) {
                        call.in(Phase.RPC, "StockService.find at stock-1:20880 (failed UNAVAILABLE)", 12);
                    }
                }),
                late("SLOW LOG: log appenders", "fewer lines", call -> call.in(Phase.LOGGING, null, 150)),
                failed(
                        "PEER FAILS: GET carrier:80: Connection refused",
                        "start the process at carrier:80",
                        new IOException("I/O error", new ConnectException("Connection refused")),
                        call -> call.in(Phase.HTTP, "GET carrier:80", 1)),
                failed(
                        "PEER FAILS: GET carrier:80: Connection refused",
                        "start the process at carrier:80",
                        new IOException("I/O error", byJdkClient(new ClosedChannelException())),
                        call -> call.in(Phase.HTTP, "GET carrier:80", 1)),
                failed(
                        "PEER FAILS: GET carier:80: name cannot be resolved",
                        "correct the host name",
                        new IOException("I/O error", byJdkClient(new UnresolvedAddressException())),
                        call -> call.in(Phase.HTTP, "GET carier:80", 1)),
                failed(
                        "PEER FAILS: HTTP peer at carrier:8080: Connection refused",
                        "start the process at carrier:8080",
                        new ConnectException("Connect to http://carrier:8080 failed: Connection refused"),
                        call -> call.in(Phase.HTTP_CONNECTION, null, 0.01)),
                failed(
                        "PEER FAILS: database at db-1:5432: Connection refused",
                        "start the process at db-1:5432",
                        new SQLTransientConnectionException(
                                "Connection is not available",
                                new ConnectException("Connection to db-1:5432 refused: Connection refused")),
                        call -> call.in(Phase.JDBC_CONNECTION, "hikari", 30)),
                failed(
                        "PEER FAILS: TariffService.price at 10.0.0.7:20880: IllegalStateException",
                        "read the diagnosis and the log of TariffService.price at 10.0.0.7:20880",
                        thrownByProvider(new IllegalStateException("no tariff for zone 7")),
                        call -> call.in(Phase.RPC, "TariffService.price at 10.0.0.7:20880", 2)),
                failed(
                        "PEER FAILS: carrier.invalid: name cannot be resolved",
                        "correct the host name",
                        new UnknownHostException("carrier.invalid"),
                        call -> call.own(1)),
                failed(
                        "PEER FAILS: peer of OrderService.place: connections are not accepted in time",
                        "does not accept connections",
                        new SocketTimeoutException("Connect timed out"),
                        call -> call.own(1)),
                failed(
                        "FAILURE: IOException (No space left on device)",
                        "free space",
                        new IOException("/var/data/x: No space left on device"),
                        call -> call.own(1)),
                failed(
                        "WAIT AT POOL: hikari",
                        "Tern does not measure this pool",
                        new SQLTransientConnectionException("Connection is not available"),
                        call -> call.in(Phase.JDBC_CONNECTION, "hikari", 90)));
    }

    /** Returns the failure that the JDK's HTTP client reports if it cannot connect. */
    private static IOException byJdkClient(Exception reason) {
        IOException failure = new ConnectException();
        failure.initCause(reason);
        return failure;
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("faults")
    void trueCauseIsFirst(String title, String change, Throwable failure, Consumer<Shop.Steps> calls) {
        Shop shop = new Shop();
        shop.healthy(USUAL);
        for (int i = 0; i < 6; i++) {
            shop.second(() -> {
                for (int call = 0; call < 40; call++) {
                    shop.call(Shop.PLACE, 0, failure, calls);
                }
            });
        }

        Diagnosis diagnosis = shop.diagnosis();
        assertThat(diagnosis.state()).isEqualTo(Diagnosis.State.MISS);
        Cause first = diagnosis.causes().get(0);
        assertThat(first.kind() + ": " + first.name()).as(diagnosis.text()).startsWith(title);
        assertThat(first.change().text()).as(diagnosis.text()).contains(change);
        assertThat(first.change().property()).isNull();
        double account = diagnosis.accountMs().values().stream()
                .mapToDouble(Double::doubleValue)
                .sum();
        double took = shop.lastTookMillis();
        assertThat(account).isBetween(took - 0.1, took + 0.1);
    }
}
