package tern.rpc.spring.autoconfigure.pool;

import com.alibaba.druid.filter.FilterAdapter;
import com.alibaba.druid.filter.FilterChain;
import com.alibaba.druid.pool.DruidDataSource;
import com.alibaba.druid.pool.DruidPooledConnection;
import com.alibaba.druid.proxy.jdbc.ConnectionProxy;
import com.alibaba.druid.proxy.jdbc.PreparedStatementProxy;
import com.alibaba.druid.proxy.jdbc.ResultSetProxy;
import com.alibaba.druid.proxy.jdbc.StatementProxy;
import java.sql.SQLException;
import java.sql.Savepoint;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;
import tern.rpc.CallLedger;
import tern.rpc.Phase;
import tern.rpc.pool.Holders;
import tern.rpc.pool.ResultRows;
import tern.rpc.pool.StoreNames;

/**
 * Counts the connections and statements of one pool, both for the pool and in the ledgers of the calls. Thread-safe.
 */
final class DruidLedgerFilter extends FilterAdapter {

    /** The attribute of a result that marks the generated keys of a statement. */
    private static final String KEYS = DruidLedgerFilter.class.getName() + ".keys";

    /** The attribute of a result that contains the name of its statement. */
    private static final String NAME = DruidLedgerFilter.class.getName() + ".name";

    private final StoreNames.Store store;
    private final Borrowings borrowings = new Borrowings();

    /** The holder of each physical connection. The map has at most one entry for each connection of the pool. */
    private final Map<Long, Holders.Holder> holders = new ConcurrentHashMap<>();

    DruidLedgerFilter(StoreNames.Store store) {
        this.store = store;
    }

    Borrowings borrowings() {
        return borrowings;
    }

    @Override
    public DruidPooledConnection dataSource_getConnection(FilterChain chain, DruidDataSource pool, long maxWaitMillis)
            throws SQLException {
        CallLedger ledger = CallLedger.current();
        Phase outer = ledger.enter(Phase.JDBC_CONNECTION, store.name());
        long askedAt = borrowings.asked();
        DruidPooledConnection connection = null;
        try {
            connection = super.dataSource_getConnection(chain, pool, maxWaitMillis);
            return connection;
        } finally {
            if (connection == null) {
                borrowings.refused(askedAt);
            } else {
                holders.put(connection.getConnectionHolder().getConnectionId(), borrowings.takenBy(askedAt));
            }
            ledger.leave(outer, store.name());
        }
    }

    @Override
    public void dataSource_releaseConnection(FilterChain chain, DruidPooledConnection connection) throws SQLException {
        Holders.Holder holder = connection.getConnectionHolder() == null
                ? null
                : holders.remove(connection.getConnectionHolder().getConnectionId());
        if (holder != null) {
            borrowings.returned(holder);
        }
        super.dataSource_releaseConnection(chain, connection);
    }

    @Override
    public void connection_commit(FilterChain chain, ConnectionProxy connection) throws SQLException {
        in(connection, "commit", () -> {
            super.connection_commit(chain, connection);
            return connection;
        });
    }

    @Override
    public void connection_rollback(FilterChain chain, ConnectionProxy connection) throws SQLException {
        in(connection, "rollback", () -> {
            super.connection_rollback(chain, connection);
            return connection;
        });
    }

    @Override
    public void connection_rollback(FilterChain chain, ConnectionProxy connection, Savepoint savepoint)
            throws SQLException {
        in(connection, "rollback", () -> {
            super.connection_rollback(chain, connection, savepoint);
            return connection;
        });
    }

    @Override
    public boolean preparedStatement_execute(FilterChain chain, PreparedStatementProxy statement) throws SQLException {
        return in(statement, statement.getSql(), () -> super.preparedStatement_execute(chain, statement));
    }

    @Override
    public ResultSetProxy preparedStatement_executeQuery(FilterChain chain, PreparedStatementProxy statement)
            throws SQLException {
        return in(statement, statement.getSql(), () -> super.preparedStatement_executeQuery(chain, statement));
    }

    @Override
    public int preparedStatement_executeUpdate(FilterChain chain, PreparedStatementProxy statement)
            throws SQLException {
        return in(statement, statement.getSql(), () -> super.preparedStatement_executeUpdate(chain, statement));
    }

    @Override
    public int[] statement_executeBatch(FilterChain chain, StatementProxy statement) throws SQLException {
        return in(statement, statement.getBatchSql(), () -> super.statement_executeBatch(chain, statement));
    }

    @Override
    public ResultSetProxy statement_executeQuery(FilterChain chain, StatementProxy statement, String sql)
            throws SQLException {
        return in(statement, sql, () -> super.statement_executeQuery(chain, statement, sql));
    }

    @Override
    public boolean statement_execute(FilterChain chain, StatementProxy statement, String sql) throws SQLException {
        return in(statement, sql, () -> super.statement_execute(chain, statement, sql));
    }

    @Override
    public boolean statement_execute(FilterChain chain, StatementProxy statement, String sql, int keys)
            throws SQLException {
        return in(statement, sql, () -> super.statement_execute(chain, statement, sql, keys));
    }

    @Override
    public boolean statement_execute(FilterChain chain, StatementProxy statement, String sql, int[] keys)
            throws SQLException {
        return in(statement, sql, () -> super.statement_execute(chain, statement, sql, keys));
    }

    @Override
    public boolean statement_execute(FilterChain chain, StatementProxy statement, String sql, String[] keys)
            throws SQLException {
        return in(statement, sql, () -> super.statement_execute(chain, statement, sql, keys));
    }

    @Override
    public int statement_executeUpdate(FilterChain chain, StatementProxy statement, String sql) throws SQLException {
        return in(statement, sql, () -> super.statement_executeUpdate(chain, statement, sql));
    }

    @Override
    public int statement_executeUpdate(FilterChain chain, StatementProxy statement, String sql, int keys)
            throws SQLException {
        return in(statement, sql, () -> super.statement_executeUpdate(chain, statement, sql, keys));
    }

    @Override
    public int statement_executeUpdate(FilterChain chain, StatementProxy statement, String sql, int[] keys)
            throws SQLException {
        return in(statement, sql, () -> super.statement_executeUpdate(chain, statement, sql, keys));
    }

    @Override
    public int statement_executeUpdate(FilterChain chain, StatementProxy statement, String sql, String[] keys)
            throws SQLException {
        return in(statement, sql, () -> super.statement_executeUpdate(chain, statement, sql, keys));
    }

    /**
     * Measures the step to the next row of a result, and counts the row. A driver that reads rows in batches waits for
     * the next batch during this step.
     */
    @Override
    public boolean resultSet_next(FilterChain chain, ResultSetProxy rows) throws SQLException {
        CallLedger ledger = CallLedger.current();
        String name = nameOf(rows);
        Phase outer = ledger.turnTo(Phase.SQL, name);
        boolean isRow = false;
        try {
            isRow = super.resultSet_next(chain, rows);
            return isRow;
        } finally {
            ledger.returnTo(outer, name);
            if (isRow && name != null && ledger.isOpen() && rows.getAttribute(KEYS) == null) {
                ResultRows.of(name).row(rows.getFetchRowCount() == 0);
            }
        }
    }

    /**
     * Marks the generated keys. Generated keys are not a result of the statement, and a batch generates as many keys as
     * it inserts rows.
     */
    @Override
    public @Nullable ResultSetProxy statement_getGeneratedKeys(FilterChain chain, StatementProxy statement)
            throws SQLException {
        ResultSetProxy keys = super.statement_getGeneratedKeys(chain, statement);
        if (keys != null) {
            keys.putAttribute(KEYS, true);
        }
        return keys;
    }

    /**
     * Returns the name of the statement that returned the rows. The result stores this name. Otherwise, the name of a
     * statement whose text contains values might be computed again for each row, which would take too long.
     */
    private @Nullable String nameOf(ResultSetProxy rows) {
        if (rows.getAttribute(NAME) instanceof String known) {
            return known;
        }
        String name = store.operation(StatementText.of(rows.getSql()));
        if (name != null) {
            rows.putAttribute(NAME, name);
        }
        return name;
    }

    private <T extends @Nullable Object> T in(
            StatementProxy statement, @Nullable String sql, LedgerOperation.Work<T, SQLException> work)
            throws SQLException {
        return in(statement.getConnectionProxy(), StatementText.of(sql), work);
    }

    private <T extends @Nullable Object> T in(
            ConnectionProxy connection, @Nullable String text, LedgerOperation.Work<T, SQLException> work)
            throws SQLException {
        Holders.Holder holder = holders.get(connection.getId());
        String name = store.operation(text);
        if (holder != null) {
            holder.begins(name);
        }
        try {
            return LedgerOperation.statement(name, () -> {
                T result = work.run();
                store.answered();
                return result;
            });
        } finally {
            if (holder != null) {
                holder.ends();
            }
        }
    }
}
