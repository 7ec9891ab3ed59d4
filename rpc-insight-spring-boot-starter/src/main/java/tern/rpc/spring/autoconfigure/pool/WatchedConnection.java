package tern.rpc.spring.autoconfigure.pool;

import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.Statement;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;
import tern.rpc.CallLedger;
import tern.rpc.Phase;

/** A proxy of a connection that measures its statements and its return. As thread-safe as the connection. */
final class WatchedConnection implements InvocationHandler {

    /** Takes a connection from the pool. */
    @FunctionalInterface
    interface Pool {
        @Nullable
        Connection take() throws Throwable;
    }

    private final Connection connection;
    private final Borrowings borrowings;
    private final long takenAt;
    private final AtomicBoolean returned = new AtomicBoolean();

    private WatchedConnection(Connection connection, Borrowings borrowings, long takenAt) {
        this.connection = connection;
        this.borrowings = borrowings;
        this.takenAt = takenAt;
    }

    static Connection take(Borrowings borrowings, Pool pool) throws Throwable {
        CallLedger ledger = CallLedger.current();
        Phase outer = ledger.enter(Phase.JDBC_CONNECTION);
        long askedAt = borrowings.asked();
        Connection connection = null;
        try {
            connection = pool.take();
        } finally {
            ledger.leave(outer);
            if (connection == null) {
                borrowings.refused(askedAt);
            }
        }
        if (connection == null) {
            throw new IllegalStateException("the pool gave no connection");
        }
        WatchedConnection watched = new WatchedConnection(connection, borrowings, borrowings.taken(askedAt));
        return (Connection) proxy(Connection.class, watched);
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
                    borrowings.returned(takenAt);
                }
                return call(method, arguments);
            case "commit", "rollback":
                return counted(connection, method, arguments);
            case "createStatement", "prepareStatement", "prepareCall":
                Object statement = call(method, arguments);
                return statement == null
                        ? null
                        : proxy(method.getReturnType(), new WatchedStatement((Connection) proxy, (Statement)
                                statement));
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

    private static @Nullable Object counted(Object target, Method method, @Nullable Object @Nullable [] arguments)
            throws Exception {
        CallLedger ledger = CallLedger.current();
        Phase outer = ledger.enter(Phase.SQL);
        try {
            return call(target, method, arguments);
        } finally {
            ledger.leave(outer);
        }
    }

    /** Counts executions. */
    private record WatchedStatement(Connection connection, Statement statement) implements InvocationHandler {

        @Override
        public @Nullable Object invoke(Object proxy, Method method, @Nullable Object @Nullable [] arguments)
                throws Throwable {
            String name = method.getName();
            if (name.startsWith("execute")) {
                return counted(statement, method, arguments);
            }
            return switch (name) {
                case "equals" -> arguments != null && proxy == arguments[0];
                case "hashCode" -> System.identityHashCode(proxy);
                case "getConnection" -> connection;
                default -> call(statement, method, arguments);
            };
        }
    }
}
