package tern.rpc.diagnosis.data;

import static org.assertj.core.api.Assertions.assertThat;
import static tern.rpc.diagnosis.Shop.first;

import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import tern.rpc.Phase;
import tern.rpc.diagnosis.DiagnosisText;
import tern.rpc.diagnosis.SampledCalls;
import tern.rpc.diagnosis.Shop;
import tern.rpc.diagnosis.account.Part;
import tern.rpc.diagnosis.account.Sample;
import tern.rpc.diagnosis.calls.Baseline;
import tern.rpc.diagnosis.cause.Cause;
import tern.rpc.diagnosis.sample.SampledCall;
import tern.rpc.pool.ResultRows;

/** Tests statements whose results become large. */
class LargeResultsTest {

    private final Shop shop = new Shop();
    // The counters of rows belong to the process, so each test needs a different statement.
    private final String statement = "select * from visits_" + UUID.randomUUID();

    private void seconds(int count, double sqlMillis, double ownMillis, int rows) {
        for (int i = 0; i < count; i++) {
            shop.second(20, call -> {
                call.in(Phase.SQL, statement, sqlMillis).own(ownMillis);
                for (int row = 0; row < rows; row++) {
                    ResultRows.of(statement).row(row == 0);
                }
            });
        }
    }

    @Test
    void statementThatReturnsManyMoreRowsThanUsualIsALargeResult() {
        seconds(90, 5, 2, 40);
        seconds(8, 180, 2, 2_000);

        Cause first = first(shop.diagnosis());
        assertThat(DiagnosisText.title(first)).as(shop.diagnosis().text()).isEqualTo("LARGE RESULT: " + statement);
        assertThat(first.change().text())
                .startsWith("read fewer rows with this statement: use pages")
                .containsPattern("it returns 2,000 rows a result, usually 4\\d:");
        assertThat(first.evidence()).anyMatch(line -> line.matches("rows     2,000 rows a result, usually 4\\d"));
    }

    private void secondsWithOthers(int count, double sqlMillis, int rows) {
        for (int i = 0; i < count; i++) {
            shop.second(20, call -> {
                call.in(Phase.SQL, statement, sqlMillis)
                        .in(Phase.SQL, "select stock", sqlMillis / 5)
                        .in(Phase.SQL, "select price", sqlMillis / 5);
                for (int row = 0; row < rows; row++) {
                    ResultRows.of(statement).row(row == 0);
                }
            });
        }
    }

    @Test
    void otherStatementsThatBecomeSlowerWithALargeResultAreNotASlowDatabase() {
        secondsWithOthers(90, 5, 40);
        secondsWithOthers(8, 180, 2_000);

        assertThat(DiagnosisText.title(first(shop.diagnosis())))
                .as(shop.diagnosis().text())
                .isEqualTo("LARGE RESULT: " + statement);
    }

    @Test
    void statementThatBecomesSlowerWithItsUsualRowsIsASlowStatement() {
        seconds(90, 5, 2, 2_000);
        seconds(8, 180, 2, 2_000);

        assertThat(first(shop.diagnosis()).kind()).as(shop.diagnosis().text()).isEqualTo("SLOW STATEMENT");
        assertThat(first(shop.diagnosis()).evidence()).contains("rows     2,000 rows a result, usually 2,000");
    }

    /** Simulates calls whose usual statement was replaced with a different one. */
    private Cause replacedBy(double sqlMillis, int rows) {
        shop.healthy(
                call -> call.in(Phase.SQL, "select * from visits limit ?", 5).own(2));
        seconds(8, sqlMillis, 2, rows);
        return first(shop.diagnosis());
    }

    @Test
    void statementWithManyRowsThatReplacesAnotherOneIsALargeResult() {
        Cause first = replacedBy(200, 6_000);

        assertThat(DiagnosisText.title(first)).as(shop.diagnosis().text()).isEqualTo("LARGE RESULT: " + statement);
        assertThat(first.change().text()).startsWith("read fewer rows with this statement");
    }

    @Test
    void replacingStatementWhoseTimeItsRowsDoNotExplainIsASlowStatement() {
        assertThat(replacedBy(300, 1_200).kind()).as(shop.diagnosis().text()).isEqualTo("SLOW STATEMENT");
    }

    private static void look(SampledCall samples, String called) {
        Part computing = new Part(Part.Kind.COMPUTING, "Visits.map");
        List<StackTraceElement> path = List.of(new StackTraceElement("shop.Visits", "map", "Visits.java", 31));
        samples.add(new Sample(0, Phase.OWN, computing, path, called, null, null, false, null, -1, -1));
    }

    private List<Cause> causesOfCode(String called) {
        for (int row = 0; row < 15_000; row++) {
            ResultRows.of(statement).row(row % 5_000 == 0);
        }
        SampledCalls calls = new SampledCalls().usually(Shop.PLACE, Phase.SQL, statement, 4);
        for (int second = 0; second < 20; second++) {
            calls.usualFigure(Baseline.ROWS + statement, 50);
        }
        return calls.running(Shop.PLACE, statement, 30, 200, samples -> look(samples, called))
                .causes();
    }

    @Test
    void codeThatWorksOnTheRowsOfALargeResultIsASymptom() {
        List<Cause> causes = causesOfCode("HikariProxyResultSet.getString");

        assertThat(DiagnosisText.title(causes.get(0))).isEqualTo("LARGE RESULT: " + statement);
        assertThat(causes.get(0).symptoms()).anyMatch(line -> line.contains("work on its rows in Visits.map"));
        assertThat(causes).noneMatch(cause -> cause.kind().equals("CODE COMPUTES"));
    }

    @Test
    void codeThatSearchesAListForEachRowStaysTheCause() {
        List<Cause> causes = causesOfCode("ArrayList.contains");

        assertThat(DiagnosisText.title(causes.get(0))).isEqualTo("CODE COMPUTES: Visits.map");
    }
}
