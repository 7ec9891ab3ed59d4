package tern.rpc.diagnosis;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import tern.rpc.Phase;

/** Tests calls that read the rows of a result in small portions. */
class RowReadsTest {

    private static ThreadLook look(boolean waits, String... frames) {
        StackTraceElement[] stack = Stream.of(frames)
                .map(frame -> frame.split("/"))
                .map(parts -> new StackTraceElement(parts[0], parts[1], null, waits ? -2 : 7))
                .toArray(StackTraceElement[]::new);
        return new ThreadLook("worker-1", 7, Thread.State.RUNNABLE, stack, null, null, -1, -1);
    }

    private static Cause first(ThreadLook thread) {
        return new SampledCalls()
                .calls("OrderService.export", Phase.SQL, 300, samples -> {
                    samples.add(SampledCalls.sample(Phase.SQL, thread));
                    samples.addStack(Phase.SQL, thread);
                })
                .causes()
                .get(0);
    }

    @Test
    void rowsThatAreFetchedInSmallPortionsNeedALargerFetchSize() {
        Cause first = first(look(
                true,
                "sun.nio.ch.SocketDispatcher/read0",
                "org.postgresql.core.v3.QueryExecutorImpl/fetch",
                "org.postgresql.jdbc.PgResultSet/next",
                "shop.Orders/export"));

        assertThat(first.kind()).isEqualTo("SLOW STATEMENT");
        assertThat(first.change().text()).startsWith("a larger fetch size");
    }

    @Test
    void statementThatTheServerExecutesSlowlyIsSlowItself() {
        Cause first = first(look(
                true,
                "sun.nio.ch.SocketDispatcher/read0",
                "org.postgresql.core.v3.QueryExecutorImpl/execute",
                "org.postgresql.jdbc.PgPreparedStatement/executeQuery",
                "shop.Orders/export"));

        assertThat(first.change().text()).startsWith("this statement: its plan");
    }

    @Test
    void resultWhoseRowsAreDecodedIsLarge() {
        Cause first = first(look(
                false, "org.postgresql.core.Tuple/get", "org.postgresql.jdbc.PgResultSet/next", "shop.Orders/export"));

        assertThat(first.change().text()).startsWith("this statement returns much");
    }
}
