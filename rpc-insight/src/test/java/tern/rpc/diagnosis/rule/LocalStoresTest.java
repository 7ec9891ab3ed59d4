package tern.rpc.diagnosis.rule;

import static org.assertj.core.api.Assertions.assertThat;
import static tern.rpc.diagnosis.Shop.first;

import java.util.List;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import tern.rpc.Phase;
import tern.rpc.diagnosis.Diagnosis;
import tern.rpc.diagnosis.DiagnosisText;
import tern.rpc.diagnosis.Shop;
import tern.rpc.diagnosis.cause.Cause;
import tern.rpc.diagnosis.machine.BusyProcesses.Busiest;
import tern.rpc.diagnosis.machine.Machine;

/** Tests processors that a database or Redis server of this machine keeps busy for the calls of this process. */
class LocalStoresTest {

    private static final String REPORT = "select product, sum(n) from line group by product";

    private final Shop shop = new Shop();

    private static Machine machine(double others, String program) {
        return new Machine(2, 0.3, others, 0, 0, 0.2, null, 10e6, -1, List.of(), 0, null, List.of())
                .busyWith(new Busiest(program, 1, 0.8 * others, false));
    }

    /**
     * Simulates calls that miss the target while the given program keeps the processors busy. Returns the diagnosis.
     */
    private Diagnosis miss(String program, Consumer<Shop.Steps> usual, Consumer<Shop.Steps> late) {
        shop.machine = machine(0.2, program);
        shop.healthy(usual);
        shop.machine = machine(1.6, program);
        return shop.miss(late);
    }

    private static Consumer<Shop.Steps> steps(double sqlMillis, double httpMillis) {
        return call -> call.own(2).in(Phase.SQL, "select stock", sqlMillis).in(Phase.HTTP, "GET bank:80", httpMillis);
    }

    @ParameterizedTest
    @ValueSource(strings = {"mariadbd", "mysqld", "postgres"})
    void newStatementForWhichTheDatabaseOfThisMachineWorksIsTheCause(String program) {
        Diagnosis miss = miss(
                program,
                steps(3, 4),
                call -> call.own(30)
                        .in(Phase.SQL, REPORT, 120)
                        .in(Phase.SQL, "select stock", 20)
                        .in(Phase.HTTP, "GET bank:80", 50));

        assertThat(first(miss).name()).as(miss.text()).isEqualTo(REPORT);
        assertThat(miss.causes()).extracting(Cause::kind).doesNotContain("PROCESSORS");
    }

    @Test
    void newCommandForWhichTheRedisOfThisMachineWorksIsTheCause() {
        Diagnosis miss = miss(
                "redis-server",
                call -> call.own(2).in(Phase.REDIS, "GET user:*", 1).in(Phase.HTTP, "GET bank:80", 4),
                call -> call.own(30)
                        .in(Phase.REDIS, "GET user:*", 6)
                        .in(Phase.REDIS, "ZUNIONSTORE top:*", 110)
                        .in(Phase.HTTP, "GET bank:80", 50));

        assertThat(first(miss).name()).as(miss.text()).isEqualTo("ZUNIONSTORE top:*");
        assertThat(miss.causes()).extracting(Cause::kind).doesNotContain("PROCESSORS");
    }

    @Test
    void statementThatRunsSeveralTimesAsOftenIsTheCause() {
        Diagnosis miss = miss(
                "postgres",
                call -> call.own(2).in(Phase.SQL, "select stock", 3).in(Phase.HTTP, "GET bank:80", 4),
                call -> {
                    call.own(30).in(Phase.HTTP, "GET bank:80", 30);
                    for (int i = 0; i < 20; i++) {
                        call.in(Phase.SQL, "select stock", 6);
                    }
                });

        assertThat(first(miss).name()).as(miss.text()).isEqualTo("select stock");
    }

    @ParameterizedTest
    @CsvSource({"javac", "redis-server"})
    void programThatDoesNotWorkForTheStatementsTakesTheProcessorsItself(String program) {
        Diagnosis miss = miss(
                program,
                steps(3, 4),
                call -> call.own(30).in(Phase.SQL, "select stock", 60).in(Phase.HTTP, "GET bank:80", 70));

        assertThat(DiagnosisText.title(first(miss))).as(miss.text()).isEqualTo("PROCESSORS: other processes");
    }

    @Test
    void databaseThatWorksForOthersTakesTheProcessorsIfTheUsualStatementsAreNotMainlySlower() {
        Diagnosis miss = miss(
                "mariadbd",
                steps(3, 4),
                call -> call.own(30).in(Phase.SQL, "select stock", 60).in(Phase.HTTP, "GET bank:80", 70));

        assertThat(DiagnosisText.title(first(miss))).as(miss.text()).isEqualTo("PROCESSORS: other processes");
        assertThat(first(miss).change().text())
                .contains("mariadbd (1 process, 1.3 processors); find the most expensive work of this server");
    }

    @ParameterizedTest
    @CsvSource({
        "jdbc:mariadb://db-1:3306/shop, PROCESSORS",
        "jdbc:mariadb://127.0.0.1:3306/shop, SLOW STATEMENT",
        "jdbc:postgresql://localhost/shop, SLOW STATEMENT",
        "jdbc:postgresql://[::1]:5432/shop, SLOW STATEMENT",
    })
    void databaseOfAnotherMachineDoesNotTakeTheProcessorsOfThisOne(String server, String kind) {
        shop.servers.put("hikari", server);

        Diagnosis miss = miss(
                "mariadbd",
                steps(3, 4),
                call -> call.own(30)
                        .in(Phase.SQL, REPORT, 60)
                        .in(Phase.SQL, "select stock", 20)
                        .in(Phase.HTTP, "GET bank:80", 70));

        assertThat(first(miss).kind()).as(miss.text()).isEqualTo(kind);
    }
}
