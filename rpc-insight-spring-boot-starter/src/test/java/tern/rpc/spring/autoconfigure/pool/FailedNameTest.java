package tern.rpc.spring.autoconfigure.pool;

import static org.assertj.core.api.Assertions.assertThat;

import java.sql.SQLException;
import java.sql.SQLTimeoutException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class FailedNameTest {

    @ParameterizedTest
    @CsvSource({
        "40001, update stock (failed 40001)",
        "40P01, update stock (failed 40P01)",
        "23505, update stock",
        "22001, update stock",
        "57014, update stock",
        ", update stock (failed)"
    })
    void stateOfTheDatabaseIsPartOfTheName(String state, String name) {
        assertThat(FailedName.ofStatement("update stock", new SQLException("no", state)))
                .isEqualTo(name);
    }

    @ParameterizedTest
    @CsvSource({
        "40001, could not serialize access due to concurrent update, update stock (failed CONFLICT)",
        "40001, Deadlock found when trying to get lock; try restarting transaction, update stock (failed 40001)",
        "S0005, Snapshot isolation transaction aborted due to update conflict, update stock (failed CONFLICT)",
        "HY000, Record has changed since last read in table 'stock', update stock (failed CONFLICT)"
    })
    void conflictOfTransactionsIsNotADeadlock(String state, String message, String name) {
        assertThat(FailedName.ofStatement("update stock", new SQLException(message, state)))
                .isEqualTo(name);
    }

    @Test
    void statementThatTimedOutDidNotFail() {
        assertThat(FailedName.ofStatement("update stock", new SQLTimeoutException("canceled")))
                .isEqualTo("update stock");
        assertThat(FailedName.ofStatement(
                        "update stock", new SQLException("Lock wait timeout exceeded; try restarting", "40001")))
                .isEqualTo("update stock");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "OOM command not allowed when used memory > 'maxmemory'. | SET a (failed OOM)",
                "READONLY You can't write against a read only replica. | SET a (failed READONLY)",
                "ERR value is not an integer | SET a (failed)",
                "Connection refused | SET a (failed)",
                "Read timed out | SET a",
                "NOSCRIPT No matching script | SET a",
                "Could not get a resource from the pool | SET a"
            })
    void errorOfRedisIsPartOfTheName(String message, String name) {
        assertThat(FailedName.ofCommand("SET a", new IllegalStateException(message)))
                .isEqualTo(name);
    }
}
