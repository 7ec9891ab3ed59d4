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
import tern.rpc.CallLedger;
import tern.rpc.Phase;

/** Counts connections and statements of one pool, for the pool and for the ledger of the call. Thread-safe. */
final class DruidLedgerFilter extends FilterAdapter {

    private final Borrowings borrowings = new Borrowings();

    /** The time at which each physical connection was taken. Bounded by the size of the pool. */
    private final Map<Long, Long> takenAt = new ConcurrentHashMap<>();

    Borrowings borrowings() {
        return borrowings;
    }

    @Override
    public DruidPooledConnection dataSource_getConnection(FilterChain chain, DruidDataSource pool, long maxWaitMillis)
            throws SQLException {
        CallLedger ledger = CallLedger.current();
        Phase outer = ledger.enter(Phase.JDBC_CONNECTION);
        long askedAt = borrowings.asked();
        DruidPooledConnection connection = null;
        try {
            connection = super.dataSource_getConnection(chain, pool, maxWaitMillis);
            return connection;
        } finally {
            if (connection == null) {
                borrowings.refused(askedAt);
            } else {
                takenAt.put(connection.getConnectionHolder().getConnectionId(), borrowings.taken(askedAt));
            }
            ledger.leave(outer);
        }
    }

    @Override
    public void dataSource_releaseConnection(FilterChain chain, DruidPooledConnection connection) throws SQLException {
        Long at = connection.getConnectionHolder() == null
                ? null
                : takenAt.remove(connection.getConnectionHolder().getConnectionId());
        if (at != null) {
            borrowings.returned(at);
        }
        super.dataSource_releaseConnection(chain, connection);
    }

    @Override
    public void connection_commit(FilterChain chain, ConnectionProxy connection) throws SQLException {
        LedgerOperation.in(Phase.SQL, () -> {
            super.connection_commit(chain, connection);
            return connection;
        });
    }

    @Override
    public void connection_rollback(FilterChain chain, ConnectionProxy connection) throws SQLException {
        LedgerOperation.in(Phase.SQL, () -> {
            super.connection_rollback(chain, connection);
            return connection;
        });
    }

    @Override
    public void connection_rollback(FilterChain chain, ConnectionProxy connection, Savepoint savepoint)
            throws SQLException {
        LedgerOperation.in(Phase.SQL, () -> {
            super.connection_rollback(chain, connection, savepoint);
            return connection;
        });
    }

    @Override
    public boolean preparedStatement_execute(FilterChain chain, PreparedStatementProxy statement) throws SQLException {
        return LedgerOperation.in(Phase.SQL, () -> super.preparedStatement_execute(chain, statement));
    }

    @Override
    public ResultSetProxy preparedStatement_executeQuery(FilterChain chain, PreparedStatementProxy statement)
            throws SQLException {
        return LedgerOperation.in(Phase.SQL, () -> super.preparedStatement_executeQuery(chain, statement));
    }

    @Override
    public int preparedStatement_executeUpdate(FilterChain chain, PreparedStatementProxy statement)
            throws SQLException {
        return LedgerOperation.in(Phase.SQL, () -> super.preparedStatement_executeUpdate(chain, statement));
    }

    @Override
    public int[] statement_executeBatch(FilterChain chain, StatementProxy statement) throws SQLException {
        return LedgerOperation.in(Phase.SQL, () -> super.statement_executeBatch(chain, statement));
    }

    @Override
    public ResultSetProxy statement_executeQuery(FilterChain chain, StatementProxy statement, String sql)
            throws SQLException {
        return LedgerOperation.in(Phase.SQL, () -> super.statement_executeQuery(chain, statement, sql));
    }

    @Override
    public boolean statement_execute(FilterChain chain, StatementProxy statement, String sql) throws SQLException {
        return LedgerOperation.in(Phase.SQL, () -> super.statement_execute(chain, statement, sql));
    }

    @Override
    public boolean statement_execute(FilterChain chain, StatementProxy statement, String sql, int keys)
            throws SQLException {
        return LedgerOperation.in(Phase.SQL, () -> super.statement_execute(chain, statement, sql, keys));
    }

    @Override
    public boolean statement_execute(FilterChain chain, StatementProxy statement, String sql, int[] keys)
            throws SQLException {
        return LedgerOperation.in(Phase.SQL, () -> super.statement_execute(chain, statement, sql, keys));
    }

    @Override
    public boolean statement_execute(FilterChain chain, StatementProxy statement, String sql, String[] keys)
            throws SQLException {
        return LedgerOperation.in(Phase.SQL, () -> super.statement_execute(chain, statement, sql, keys));
    }

    @Override
    public int statement_executeUpdate(FilterChain chain, StatementProxy statement, String sql) throws SQLException {
        return LedgerOperation.in(Phase.SQL, () -> super.statement_executeUpdate(chain, statement, sql));
    }

    @Override
    public int statement_executeUpdate(FilterChain chain, StatementProxy statement, String sql, int keys)
            throws SQLException {
        return LedgerOperation.in(Phase.SQL, () -> super.statement_executeUpdate(chain, statement, sql, keys));
    }

    @Override
    public int statement_executeUpdate(FilterChain chain, StatementProxy statement, String sql, int[] keys)
            throws SQLException {
        return LedgerOperation.in(Phase.SQL, () -> super.statement_executeUpdate(chain, statement, sql, keys));
    }

    @Override
    public int statement_executeUpdate(FilterChain chain, StatementProxy statement, String sql, String[] keys)
            throws SQLException {
        return LedgerOperation.in(Phase.SQL, () -> super.statement_executeUpdate(chain, statement, sql, keys));
    }
}
