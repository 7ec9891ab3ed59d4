package tern.rpc.pool;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class LockingStatementsTest {

    private final Holders.Holder holder = new Holders().taken(1);

    private void runs(String statement) {
        holder.begins(statement);
        holder.ends();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "update stock set n = ?",
                "DELETE from stock",
                "insert into stock values (?, ...)",
                "merge into stock using dual",
                "replace into stock values (?, ...)",
                "lock table stock",
                "select n from stock where id = ? for update",
                "SELECT n FROM stock WHERE id = ? FOR UPDATE SKIP LOCKED",
                "select n from stock lock in share mode",
                "select n from stock with (updlock)"
            })
    void statementThatMayLockSomethingIsKeptUntilTheEndOfItsTransaction(String statement) {
        runs(statement);
        runs("select price from prices where id = ?");

        assertThat(holder.locking()).containsExactly(statement);

        runs("commit (data source orders)");
        assertThat(holder.locking()).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(strings = {"select n from stock where id = ?", "show tables", "commit", ""})
    void statementThatLocksNothingIsNotKept(String statement) {
        runs(statement);

        assertThat(holder.locking()).isEmpty();
    }

    @Test
    void lastFourDifferentStatementsAreKept() {
        for (int i = 1; i <= 6; i++) {
            runs("update t" + i);
            runs("update t" + i);
        }

        assertThat(holder.locking()).containsExactly("update t3", "update t4", "update t5", "update t6");
    }
}
