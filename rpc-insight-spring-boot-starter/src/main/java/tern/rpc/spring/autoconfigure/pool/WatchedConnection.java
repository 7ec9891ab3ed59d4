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
import tern.rpc.pool.Holders;

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
    private final Holders.Holder holder;
    private final AtomicBoolean returned = new AtomicBoolean();

    private WatchedConnection(Connection connection, Borrowings borrowings, Holders.Holder holder) {
        this.connection = connection;
        this.borrowings = borrowings;
        this.holder = holder;
    }

    /** @param name the name of the pool */
    static Connection take(String name, Borrowings borrowings, Pool pool) throws Throwable {
        CallLedger ledger = CallLedger.current();
        Phase outer = ledger.enter(Phase.JDBC_CONNECTION);
        long askedAt = borrowings.asked();
        Connection connection = null;
        try {
            connection = pool.take();
        } finally {
            ledger.leave(outer, name);
            if (connection == null) {
                borrowings.refused(askedAt);
            }
        }
        if (connection == null) {
            throw new IllegalStateException("the pool gave no connection");
        }
        WatchedConnection watched = new WatchedConnection(connection, borrowings, borrowings.takenBy(askedAt));
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
                    borrowings.returned(holder);
                }
                return call(method, arguments);
            case "commit", "rollback":
                return counted(holder, method.getName(), connection, method, arguments);
            case "createStatement", "prepareStatement", "prepareCall":
                Object statement = call(method, arguments);
                return statement == null
                        ? null
                        : proxy(
                                method.getReturnType(),
                                new WatchedStatement(
                                        (Connection) proxy, (Statement) statement, holder, firstText(arguments)));
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
            Holders.Holder holder,
            @Nullable String statement,
            Object target,
            Method method,
            @Nullable Object @Nullable [] arguments)
            throws Exception {
        CallLedger ledger = CallLedger.current();
        Phase outer = ledger.enter(Phase.SQL);
        holder.begins(statement);
        try {
            return call(target, method, arguments);
        } finally {
            holder.ends();
            ledger.leave(outer, statement);
        }
    }

    /** Counts executions. */
    private record WatchedStatement(
            Connection connection,
            Statement statement,
            Holders.Holder holder,
            @Nullable String prepared) implements InvocationHandler {

        @Override
        public @Nullable Object invoke(Object proxy, Method method, @Nullable Object @Nullable [] arguments)
                throws Throwable {
            String name = method.getName();
            if (name.startsWith("execute")) {
                String given = firstText(arguments);
                return counted(
                        holder, StatementText.of(given == null ? prepared : given), statement, method, arguments);
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
