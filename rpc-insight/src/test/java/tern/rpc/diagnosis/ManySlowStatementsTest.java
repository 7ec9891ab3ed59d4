package tern.rpc.diagnosis;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tern.rpc.Phase;
import tern.rpc.diagnosis.cause.Cause;

/** Tests statements that are new or many, together with a slow network or without an index. */
class ManySlowStatementsTest {

    private final Shop shop = new Shop();

    private static Consumer<Shop.Steps> rows(Phase phase, int count, double millis, double delay) {
        return call -> {
            call.own(2).in(phase, "select bill", 2 + delay).in(phase, "select customer", 1 + delay);
            for (int i = 0; i < count; i++) {
                call.in(phase, "select line", millis + delay);
            }
        };
    }

    private Diagnosis after(Consumer<Shop.Steps> usual, Consumer<Shop.Steps> now) {
        return shop.healthy(usual).miss(now);
    }

    @ParameterizedTest
    @CsvSource({
        "SQL, 40, 5, 4, MANY STATEMENTS: select line, SLOW DATABASE: every statement",
        "SQL, 20, 1, 12, SLOW DATABASE: every statement, MANY STATEMENTS: select line",
        "SQL, 30, 3, 30, SLOW DATABASE: every statement, MANY STATEMENTS: select line",
        "REDIS, 40, 5, 4, MANY COMMANDS: select line, SLOW REDIS: every command"
    })
    void manyOperationsAndASlowNetworkAreTwoCausesOrderedByTheirTime(
            Phase phase, int count, double millis, double delay, String first, String second) {
        Diagnosis miss = after(rows(phase, 1, millis, 0), rows(phase, count, millis, delay));

        assertThat(miss.causes().stream().map(DiagnosisText::title))
                .as(miss.text())
                .containsExactly(first, second);
    }

    @Test
    void timeOfTheNumberIsThatOfTheAdditionalStatementsAtTheirUsualDuration() {
        Diagnosis miss = after(rows(Phase.SQL, 1, 5, 0), rows(Phase.SQL, 41, 5, 4));

        Cause many = miss.causes().get(0);
        Cause network = miss.causes().get(1);
        // 40 statements of 5 ms in addition to the usual ones
        assertThat(many.ms()).as(miss.text()).isBetween(195.0, 205.0);
        assertThat(network.ms()).isBetween(167.0, 177.0); // 43 statements that take 4 ms longer than usual
    }

    @Test
    void newStatementForEachRowAndASlowNetworkAreTwoCauses() {
        Diagnosis miss = after(rows(Phase.SQL, 0, 0, 0), rows(Phase.SQL, 40, 5, 4));

        assertThat(miss.causes().stream().map(DiagnosisText::title))
                .as(miss.text())
                .containsExactly("MANY STATEMENTS: select line", "SLOW DATABASE: every statement");
    }

    @Test
    void manyStatementsOnAQuickDatabaseAreOneCause() {
        Diagnosis miss = after(rows(Phase.SQL, 1, 5, 0), rows(Phase.SQL, 40, 5, 0));

        assertThat(miss.causes().stream().map(DiagnosisText::title))
                .as(miss.text())
                .containsExactly("MANY STATEMENTS: select line");
    }

    @Test
    void slowDatabaseOfChattyCallsIsOneCause() {
        Diagnosis miss = after(rows(Phase.SQL, 20, 2, 0), rows(Phase.SQL, 20, 2, 9));

        assertThat(miss.causes().stream().map(DiagnosisText::title))
                .as(miss.text())
                .containsExactly("SLOW DATABASE: every statement");
    }

    @ParameterizedTest
    @CsvSource({"select * from claims where lower(ref)=?", "update claims set seen=? where lower(ref)=?"})
    void newSlowStatementIsCheckedForItsPlanAndNotForACache(String statement) {
        Diagnosis miss = after(
                rows(Phase.SQL, 1, 2, 0), call -> rows(Phase.SQL, 1, 2, 0).accept(call.in(Phase.SQL, statement, 240)));

        Cause first = miss.causes().get(0);
        assertThat(DiagnosisText.title(first)).as(miss.text()).isEqualTo("SLOW STATEMENT: " + statement);
        assertThat(first.change().text())
                .contains("its plan, its indexes", "calls do not usually run it", "new code runs it", "EXPLAIN")
                .doesNotContain("cache");
    }

    @Test
    void newSlowStatementThatSomeCallsRunIsCheckedForItsPlanAndNotForACache() {
        String statement = "select * from claims where lower(ref)=?";
        shop.healthy(rows(Phase.SQL, 1, 2, 0));
        int[] number = {0};
        for (int i = 0; i < 6; i++) {
            shop.evenSecond(40, () -> {
                boolean searches = number[0]++ % 4 == 0;
                return call -> rows(Phase.SQL, 1, 2, 0).accept(searches ? call.in(Phase.SQL, statement, 2_000) : call);
            });
        }

        Cause first = shop.diagnosis().causes().get(0);
        assertThat(DiagnosisText.title(first)).as(shop.diagnosis().text()).isEqualTo("SLOW STATEMENT: " + statement);
        assertThat(first.change().text()).contains("its plan, its indexes").doesNotContain("cache");
    }
}
