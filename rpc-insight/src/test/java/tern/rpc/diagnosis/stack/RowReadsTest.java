package tern.rpc.diagnosis.stack;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tern.rpc.Phase;
import tern.rpc.diagnosis.SampledCalls;
import tern.rpc.diagnosis.cause.Cause;

/** Tests calls that read the rows of a result in small portions. */
class RowReadsTest {

    private static ThreadSnapshot look(boolean waits, String... frames) {
        StackTraceElement[] stack = Stream.of(frames)
                .map(frame -> frame.split("/"))
                .map(parts -> new StackTraceElement(parts[0], parts[1], null, waits ? -2 : 7))
                .toArray(StackTraceElement[]::new);
        return new ThreadSnapshot("worker-1", 7, Thread.State.RUNNABLE, stack, null, null, -1, -1);
    }

    private static Cause first(ThreadSnapshot thread) {
        return new SampledCalls()
                .calls("OrderService.export", Phase.SQL, 300, samples -> {
                    samples.add(SampledCalls.sample(Phase.SQL, thread));
                    samples.addStack(Phase.SQL, thread, false);
                })
                .causes()
                .get(0);
    }

    @Test
    void rowsThatAreFetchedInPortionsNeedABetterPlanOrALargerFetchSize() {
        Cause first = first(look(
                true,
                "sun.nio.ch.SocketDispatcher/read0",
                "org.postgresql.core.v3.QueryExecutorImpl/fetch",
                "org.postgresql.jdbc.PgResultSet/next",
                "shop.Orders/export"));

        assertThat(first.kind()).isEqualTo("SLOW STATEMENT");
        assertThat(first.change().text())
                .startsWith("check this statement's plan and indexes")
                .contains("a larger fetch size");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "com.mysql.cj.protocol.a.result.ResultsetRowsStreaming/next"
                        + " com.mysql.cj.jdbc.result.ResultSetImpl/next",
                "org.mariadb.jdbc.client.result.StreamingResult/next com.zaxxer.hikari.pool.HikariProxyResultSet/next",
                "com.microsoft.sqlserver.jdbc.TDSReader/readPacket"
                        + " com.microsoft.sqlserver.jdbc.SQLServerResultSet/next"
            })
    void streamOfRowsNeedsNoFetchSize(String frames) {
        String[] stack = ("sun.nio.ch.SocketDispatcher/read0 " + frames + " shop.Orders/export").split(" ");

        Cause first = first(look(true, stack));

        assertThat(first.change().text())
                .startsWith("check this statement: its plan")
                .doesNotContain("fetch size");
    }

    @Test
    void statementThatTheServerExecutesSlowlyIsSlowItself() {
        Cause first = first(look(
                true,
                "sun.nio.ch.SocketDispatcher/read0",
                "org.postgresql.core.v3.QueryExecutorImpl/execute",
                "org.postgresql.jdbc.PgPreparedStatement/executeQuery",
                "shop.Orders/export"));

        assertThat(first.change().text()).startsWith("check this statement: its plan");
    }

    @Test
    void resultWhoseRowsAreDecodedIsLarge() {
        Cause first = first(look(
                false, "org.postgresql.core.Tuple/get", "org.postgresql.jdbc.PgResultSet/next", "shop.Orders/export"));

        assertThat(first.change().text()).startsWith("read fewer rows or columns, or read in pages");
    }
}
