package tern.rpc.spring.autoconfigure.pool;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class StatementTextTest {

    private static final String COLUMNS = IntStream.range(0, 40)
            .mapToObj(i -> "o1_0.column_" + (char) ('a' + i % 26))
            .collect(Collectors.joining(","));

    @Test
    void valuesAreLeftOut() {
        assertThat(StatementText.of("select id from orders where name = 'Ann''s' and id in (1, 2,3)"))
                .isEqualTo("select id from orders where name = ? and id in (?, ...)");
    }

    @Test
    void longListOfColumnsIsShortenedAndTheRestRemains() {
        assertThat(StatementText.of("select " + COLUMNS + " from orders o1_0 where o1_0.id=? for update"))
                .isEqualTo("select o1_0.column_a, ... from orders o1_0 where o1_0.id=? for update");
        assertThat(StatementText.of("insert into orders (" + COLUMNS + ") values (?,?,?)"))
                .isEqualTo("insert into orders (o1_0.column_a, ...) values (?, ...)");
        assertThat(StatementText.of("update orders set a=?," + COLUMNS.replace(",", "=?,") + "=? where id=?"))
                .isEqualTo("update orders set a=?, ... where id=?");
    }

    @Test
    void columnsInFunctionsAndSubqueriesAreNotTakenForTheEndOfTheList() {
        assertThat(StatementText.of("select coalesce(a,(select b from other)), " + COLUMNS + " from orders where id=?"))
                .isEqualTo("select coalesce(a,(select b from other)), ... from orders where id=?");
    }

    @Test
    void longStatementKeepsItsBeginningAndItsEnd() {
        String conditions = IntStream.range(0, 40).mapToObj(i -> "c" + i + "=?").collect(Collectors.joining(" and "));
        assertThat(StatementText.of("select id from orders where " + conditions + " for update"))
                .startsWith("select id from orders where ")
                .contains(" ... ")
                .endsWith(" for update")
                .hasSize(205);
    }

    @Test
    void statementWithoutTheExpectedPartsIsOnlyCut() {
        String text = "call report(" + COLUMNS + ")";
        assertThat(StatementText.of(text)).startsWith("call report(").hasSize(205);
        assertThat(StatementText.of("insert into t " + COLUMNS)).hasSize(205);
    }

    /** Runs the code on a thread whose stack is as small as that of a thread that is deep in other code. */
    private static void onASmallStack(Runnable code) throws InterruptedException {
        AtomicReference<Throwable> failure = new AtomicReference<>();
        Thread thread = new Thread(null, code, "small stack", 200_000);
        thread.setUncaughtExceptionHandler((of, thrown) -> failure.set(thrown));
        thread.start();
        thread.join();
        assertThat(failure.get()).isNull();
    }

    @ParameterizedTest
    @ValueSource(strings = {"?,", "?, ", "7,", "'it''s',", "(?,?),", "--\n", "/**/", "''", "-", "a.b1 ", " , ?"})
    void longStatementNeedsNoDeepStack(String element) throws InterruptedException {
        String sql = "select p from parcel p where p.id in (" + element.repeat(7_000) + "?)";

        onASmallStack(() -> assertThat(StatementText.of(sql)).startsWith("select p from parcel p"));
    }
}
