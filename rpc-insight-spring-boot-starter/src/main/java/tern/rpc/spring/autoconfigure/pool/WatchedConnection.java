package tern.rpc.spring.autoconfigure.pool;

import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;
import org.springframework.util.ClassUtils;
import tern.rpc.CallLedger;
import tern.rpc.Phase;
import tern.rpc.pool.Holders;
import tern.rpc.pool.OutsideOperations;
import tern.rpc.pool.ResultRows;
import tern.rpc.pool.StoreNames;

/**
 * A proxy for a database connection. The proxy measures the connection's statements and the time until the connection
 * is returned. The proxy is thread-safe if the connection is thread-safe.
 */
final class WatchedConnection implements InvocationHandler {

    /** Supplies connections from a pool. */
    @FunctionalInterface
    interface Pool {
        @Nullable
        Connection take() throws Throwable;
    }

    private final StoreNames.Store store;
    private final Connection connection;
    private final Borrowings borrowings;
    private final Holders.Holder holder;
    private final AtomicBoolean returned = new AtomicBoolean();

    private WatchedConnection(
            StoreNames.Store store, Connection connection, Borrowings borrowings, Holders.Holder holder) {
        this.store = store;
        this.connection = connection;
        this.borrowings = borrowings;
        this.holder = holder;
    }

    /**
     * Takes a connection from a pool. Returns the connection without a proxy if the pool's own data source already
     * measures it.
     *
     * @param store the data source
     */
    static Connection take(StoreNames.Store store, Borrowings borrowings, Pool pool) throws Throwable {
        CallLedger ledger = CallLedger.current();
        int before = ledger.count(Phase.JDBC_CONNECTION);
        Phase outer = ledger.turnTo(Phase.JDBC_CONNECTION, store.name());
        long askedAt = borrowings.asked();
        Connection connection = null;
        try {
            connection = pool.take();
        } finally {
            if (ledger.count(Phase.JDBC_CONNECTION) == before) {
                ledger.add(Phase.JDBC_CONNECTION, 0);
            }
            ledger.leave(outer, store.name());
            if (connection == null) {
                borrowings.refused(askedAt);
            }
        }
        if (connection == null) {
            throw new IllegalStateException("the pool gave no connection");
        }
        if (ledger.count(Phase.JDBC_CONNECTION) > before + 1 || isWatched(connection)) {
            borrowings.returned(borrowings.taken(askedAt));
            return connection;
        }
        WatchedConnection watched = new WatchedConnection(store, connection, borrowings, borrowings.takenBy(askedAt));
        return (Connection) proxy(Connection.class, watched);
    }

    private static boolean isWatched(Connection connection) {
        return Proxy.isProxyClass(connection.getClass())
                && Proxy.getInvocationHandler(connection) instanceof WatchedConnection;
    }

    private static Object proxy(Class<?> type, InvocationHandler handler) {
        return Proxy.newProxyInstance(WatchedConnection.class.getClassLoader(), new Class<?>[] {type}, handler);
    }

    @Override
    public @Nullable Object invoke(Object proxy, Method method, @Nullable Object @Nullable [] arguments)
            throws Throwable {
        switch (method.getName()) {
            case "equals":
                return arguments != null && proxy == arguments[0];
            case "hashCode":
                return System.identityHashCode(proxy);
            case "close":
                if (returned.compareAndSet(false, true)) {
                    borrowings.returned(holder);
                }
                return call(method, arguments);
            case "commit", "rollback":
                return counted(store, holder, method.getName(), connection, method, arguments);
            case "createStatement", "prepareStatement", "prepareCall":
                Object statement = call(method, arguments);
                return statement == null
                        ? null
                        : proxy(
                                method.getReturnType(),
                                new WatchedStatement(
                                        store,
                                        (Connection) proxy,
                                        (Statement) statement,
                                        holder,
                                        firstText(arguments)));
            default:
                return call(method, arguments);
        }
    }

    private @Nullable Object call(Method method, @Nullable Object @Nullable [] arguments) throws Exception {
        return call(connection, method, arguments);
    }

    private static @Nullable Object call(Object target, Method method, @Nullable Object @Nullable [] arguments)
            throws Exception {
        try {
            return method.invoke(target, arguments);
        } catch (InvocationTargetException e) {
            if (e.getCause() instanceof Error error) {
                throw error;
            }
            throw e.getCause() instanceof Exception cause ? cause : e;
        }
    }

    private static @Nullable String firstText(@Nullable Object @Nullable [] arguments) {
        return arguments != null && arguments.length > 0 && arguments[0] instanceof String text ? text : null;
    }

    private static @Nullable Object counted(
            StoreNames.Store store,
            Holders.Holder holder,
            @Nullable String statement,
            Object target,
            Method method,
            @Nullable Object @Nullable [] arguments)
            throws Exception {
        CallLedger ledger = CallLedger.current();
        String name = store.operation(statement);
        long begun = ledger.isOpen() ? 0 : System.nanoTime();
        Phase outer = ledger.enter(Phase.SQL, name);
        holder.begins(name);
        try {
            Object result = call(target, method, arguments);
            store.answered();
            return result;
        } catch (Exception e) {
            name = FailedName.ofStatement(name, e);
            throw e;
        } finally {
            holder.ends();
            ledger.leave(outer, name);
            if (!ledger.isOpen()) {
                OutsideOperations.ran(Phase.SQL, name, System.nanoTime() - begun);
            }
        }
    }

    /** A proxy for a statement that measures each execution of the statement. */
    private record WatchedStatement(
            StoreNames.Store store,
            Connection connection,
            Statement statement,
            Holders.Holder holder,
            @Nullable String prepared)
            implements InvocationHandler {

        @Override
        public @Nullable Object invoke(Object proxy, Method method, @Nullable Object @Nullable [] arguments)
                throws Throwable {
            String name = method.getName();
            if (name.startsWith("execute")) {
                String given = firstText(arguments);
                String text = StatementText.of(given == null ? prepared : given);
                return rows((Statement) proxy, text, counted(store, holder, text, statement, method, arguments));
            }
            return switch (name) {
                case "equals" -> arguments != null && proxy == arguments[0];
                case "hashCode" -> System.identityHashCode(proxy);
                case "getConnection" -> connection;
                case "getResultSet" ->
                    rows((Statement) proxy, StatementText.of(prepared), call(statement, method, arguments));
                default -> call(statement, method, arguments);
            };
        }

        /**
         * Wraps a statement's {@code ResultSet} in an instrumented proxy. If no fetch size is set, the driver reads all
         * rows at once, so the proxy only counts the rows. Most results without a fetch size get no proxy, because a
         * proxy makes each read of a value slower.
         */
        private @Nullable Object rows(Statement proxy, @Nullable String text, @Nullable Object result)
                throws SQLException {
            if (!(result instanceof ResultSet rows) || !CallLedger.current().isOpen()) {
                return result;
            }
            String name = store.operation(text);
            ResultRows counted = ResultRows.of(name == null ? "" : name);
            boolean isMeasured = statement.getFetchSize() != 0;
            return isMeasured || counted.countsNext()
                    ? new WatchedRows(proxy, rows, name, counted, isMeasured).proxy()
                    : rows;
        }
    }

    /** A proxy for a {@code ResultSet} that counts its rows. */
    private static final class WatchedRows implements InvocationHandler {
        private final Statement statement;
        private final ResultSet rows;
        private final @Nullable String text;
        private final ResultRows counted;
        private final boolean isMeasured; // whether the time to read the rows is added to the statement's time
        private boolean begun; // whether a row was read

        WatchedRows(
                Statement statement, ResultSet rows, @Nullable String text, ResultRows counted, boolean isMeasured) {
            this.statement = statement;
            this.rows = rows;
            this.text = text;
            this.counted = counted;
            this.isMeasured = isMeasured;
        }

        /**
         * Returns the proxy. The proxy has all public interfaces of the {@code ResultSet}, because code can cast
         * results to an interface of the driver. If the proxy had fewer interfaces, such a cast would fail, but only
         * for the results that get a proxy.
         */
        Object proxy() {
            List<Class<?>> types = new ArrayList<>(List.of(ResultSet.class));
            for (Class<?> type : ClassUtils.getAllInterfaces(rows)) {
                if (Modifier.isPublic(type.getModifiers()) && !type.isAssignableFrom(ResultSet.class)) {
                    types.add(type);
                }
            }
            if (types.size() > 1) {
                try {
                    return Proxy.newProxyInstance(
                            rows.getClass().getClassLoader(), types.toArray(Class<?>[]::new), this);
                } catch (IllegalArgumentException e) {
                    // A class loader hides one of the interfaces. Application code cannot use this interface either, so
                    // a proxy with only the interface ResultSet is sufficient.
                    return WatchedConnection.proxy(ResultSet.class, this);
                }
            }
            return WatchedConnection.proxy(ResultSet.class, this);
        }

        @Override
        public @Nullable Object invoke(Object proxy, Method method, @Nullable Object @Nullable [] arguments)
                throws Throwable {
            return switch (method.getName()) {
                case "next" -> next();
                case "getStatement" -> statement;
                case "equals" -> arguments != null && proxy == arguments[0];
                case "hashCode" -> System.identityHashCode(proxy);
                default -> call(rows, method, arguments);
            };
        }

        private boolean next() throws SQLException {
            boolean isRow = isMeasured ? measuredNext() : rows.next();
            if (isRow) {
                counted.row(!begun);
                begun = true;
            }
            return isRow;
        }

        private boolean measuredNext() throws SQLException {
            CallLedger ledger = CallLedger.current();
            Phase outer = ledger.turnTo(Phase.SQL, text);
            try {
                return rows.next();
            } finally {
                ledger.returnTo(outer, text);
            }
        }
    }
}
