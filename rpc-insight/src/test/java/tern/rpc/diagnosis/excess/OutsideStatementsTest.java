package tern.rpc.diagnosis.excess;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import tern.rpc.Phase;
import tern.rpc.diagnosis.DiagnosisText;
import tern.rpc.diagnosis.SampledCalls;
import tern.rpc.diagnosis.account.Part;
import tern.rpc.diagnosis.account.Sample;
import tern.rpc.diagnosis.calls.Baseline;
import tern.rpc.diagnosis.cause.Cause;
import tern.rpc.diagnosis.sample.TaskWatch;
import tern.rpc.diagnosis.stack.ThreadSnapshot;
import tern.rpc.pool.OutsideOperations;

/** Tests statements of a thread that serves no call, while calls wait for the result of this thread. */
class OutsideStatementsTest {

    private static final String INSERT = "insert into hold values (?, ?)";
    private static final String UPDATE = "update seat set state = ? where id = ?";
    private static final int SECONDS = 20;

    @AfterEach
    void forget() {
        OutsideOperations.clear();
    }

    private static StackTraceElement frame(String type, String method) {
        return new StackTraceElement(type, method, null, 7);
    }

    /**
     * Simulates a thread that writes for all calls and runs a statement for the given time. Returns the cause that the
     * diagnosis names first.
     */
    private static Cause firstCause(String statement, double millis, double usualMillis) throws InterruptedException {
        TaskWatch tasks = new TaskWatch();
        StackTraceElement[] writes = {
            frame("sun.nio.ch.NioSocketImpl", "park"),
            frame("org.h2.jdbc.JdbcPreparedStatement", "executeBatch"),
            frame("depot.Writer", "flush"),
            frame("java.util.concurrent.ThreadPoolExecutor$Worker", "run")
        };
        for (int i = 0; i < 10; i++) {
            tasks.add(new ThreadSnapshot("writer-1", 9, Thread.State.WAITING, writes, null, null, -1, -1));
        }
        Thread writer =
                new Thread(() -> OutsideOperations.ran(Phase.SQL, statement, (long) (millis * 1e6)), "writer-1");
        writer.start();
        writer.join();
        SampledCalls calls = new SampledCalls().tasks(tasks);
        String key = new OutsideOperations.Timed(Phase.SQL, statement, "writer-1", 0).key();
        for (int second = 0; second < SECONDS; second++) {
            calls.usualFigure(Baseline.OUTSIDE + key, usualMillis * 1e6);
        }
        return calls.calls(
                        "Seats.hold",
                        Phase.OWN,
                        900,
                        samples -> samples.add(new Sample(
                                0,
                                Phase.OWN,
                                new Part(Part.Kind.RESULT, "Writer.write"),
                                List.of(frame("depot.Writer", "write")),
                                "CompletableFuture.get",
                                null,
                                null,
                                false,
                                null,
                                -1,
                                -1)))
                .causes()
                .get(0);
    }

    @Test
    void insertThatSuddenlyTakesLongWaitsForALockOfItsTable() throws InterruptedException {
        Cause cause = firstCause(INSERT, 2_000, 1);

        assertThat(DiagnosisText.title(cause)).isEqualTo("TABLE LOCK: " + INSERT);
        assertThat(cause.change().text())
                .contains("locks the table hold")
                .contains("ALTER TABLE")
                .contains("which thread writer* runs");
        assertThat(cause.evidence()).contains("outside  takes 2000 ms in thread writer*, usually 1.0 ms");
    }

    @Test
    void updateThatSuddenlyTakesLongWaitsForARow() throws InterruptedException {
        assertThat(DiagnosisText.title(firstCause(UPDATE, 2_000, 1))).isEqualTo("ROW LOCK: " + UPDATE);
    }

    @Test
    void statementThatIsAFewTimesSlowerIsNamed() throws InterruptedException {
        assertThat(DiagnosisText.title(firstCause(INSERT, 300, 60))).isEqualTo("SLOW STATEMENT: " + INSERT);
    }
}
