package tern.rpc.spring.autoconfigure.pool;

import io.r2dbc.spi.Batch;
import io.r2dbc.spi.Connection;
import io.r2dbc.spi.R2dbcException;
import io.r2dbc.spi.Result;
import io.r2dbc.spi.Statement;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Publisher;
import org.springframework.util.ClassUtils;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import tern.rpc.AsyncOperation;
import tern.rpc.CallLedger;
import tern.rpc.Phase;
import tern.rpc.pool.ResultRows;
import tern.rpc.pool.StoreNames;

/**
 * Records waits for the connections of one R2DBC pool, and the statements on these connections, for the call whose
 * reactive chain subscribes to them. Thread-safe.
 */
final class WatchedR2dbc {

    private final String pool;
    private final StoreNames.Store store;
    private final Borrowings borrowings;

    WatchedR2dbc(String pool, StoreNames.Store store, Borrowings borrowings) {
        this.pool = pool;
        this.store = store;
        this.borrowings = borrowings;
    }

    /** Returns a publisher of the connection that measures the wait for the connection. */
    Mono<Connection> taken(Mono<Connection> source) {
        return Mono.deferContextual(context -> {
            AsyncOperation wait = ReactiveLedger.of(context).begin(Phase.JDBC_CONNECTION, () -> pool);
            long asked = borrowings.asked();
            AtomicBoolean over = new AtomicBoolean();
            return source.map(connection -> {
                        over.set(true);
                        wait.end();
                        return watched(connection, borrowings.taken(asked));
                    })
                    .doFinally(signal -> {
                        if (over.compareAndSet(false, true)) {
                            wait.end();
                            borrowings.refused(asked);
                        }
                    });
        });
    }

    private Connection watched(Connection connection, long takenAt) {
        AtomicBoolean returned = new AtomicBoolean();
        return (Connection) proxy(connection, (proxy, method, arguments) -> {
            Object result = call(connection, method, arguments);
            if (result instanceof Statement statement && method.getName().equals("createStatement")) {
                String sql = arguments == null || arguments.length == 0 ? null : String.valueOf(arguments[0]);
                return measured(statement, store.operation(StatementText.of(sql)));
            }
            if (result instanceof Batch batch) {
                return measured(batch, store.operation("batch"));
            }
            if (result instanceof Publisher<?> publisher && method.getName().equals("commitTransaction")) {
                return measured(publisher, store.operation("commit"));
            }
            return result instanceof Publisher<?> publisher && method.getName().equals("close")
                    ? returning(publisher, returned, takenAt)
                    : result;
        });
    }

    private Mono<?> returning(Publisher<?> close, AtomicBoolean returned, long takenAt) {
        return Mono.from(close).doOnSubscribe(subscription -> {
            if (returned.compareAndSet(false, true)) {
                borrowings.returned(takenAt);
            }
        });
    }

    /** Returns a proxy for a statement or a batch. Most methods of statements and batches return the object itself. */
    private Object measured(Object target, @Nullable String name) {
        return proxy(target, (proxy, method, arguments) -> {
            Object result = call(target, method, arguments);
            if (result == target) {
                return proxy;
            }
            return result instanceof Publisher<?> publisher && method.getName().equals("execute")
                    ? measured(publisher, name)
                    : result;
        });
    }

    /** Returns a publisher that records an operation from its subscription to its last element. */
    private Publisher<?> measured(Publisher<?> source, @Nullable String name) {
        return Flux.deferContextual(context -> measured(source, name, ReactiveLedger.of(context)));
    }

    private <T> Flux<T> measured(Publisher<T> source, @Nullable String name, CallLedger ledger) {
        if (!ledger.isOpen()) {
            return Flux.from(source);
        }
        AsyncOperation operation = ledger.begin(Phase.SQL, () -> name);
        return Flux.from(source)
                .map(element -> counting(element, name))
                .doOnComplete(() -> {
                    store.answered();
                    operation.end(name);
                })
                .doOnError(failure -> operation.end(failed(name, failure)))
                .doOnCancel(operation::end);
    }

    /** Returns a proxy for a result that counts its rows. Returns most results, and all other elements, unchanged. */
    @SuppressWarnings("unchecked") // The proxy implements all interfaces of the result.
    private static <T> T counting(T element, @Nullable String name) {
        ResultRows rows = name == null || !(element instanceof Result) ? null : ResultRows.of(name);
        if (rows == null || !rows.countsNext()) {
            return element;
        }
        return (T) proxy(element, (proxy, method, arguments) -> {
            Object result = call(element, method, arguments);
            return result instanceof Publisher<?> publisher && method.getName().equals("map")
                    ? counted(publisher, rows)
                    : result;
        });
    }

    private static Flux<?> counted(Publisher<?> source, ResultRows rows) {
        return Flux.defer(() -> {
            AtomicBoolean begun = new AtomicBoolean();
            return Flux.from(source).doOnNext(row -> rows.row(begun.compareAndSet(false, true)));
        });
    }

    private static @Nullable String failed(@Nullable String name, Throwable failure) {
        return FailedName.ofStatement(
                name, failure instanceof R2dbcException known ? known.getSqlState() : null, failure);
    }

    /** Returns a proxy, or the object itself if no proxy can implement the driver's interfaces. */
    private static Object proxy(Object target, InvocationHandler handler) {
        InvocationHandler own = (proxy, method, arguments) -> {
            if (method.getDeclaringClass() == Object.class && method.getName().equals("equals")) {
                return arguments != null && proxy == arguments[0];
            }
            return handler.invoke(proxy, method, arguments);
        };
        try {
            return Proxy.newProxyInstance(target.getClass().getClassLoader(), ClassUtils.getAllInterfaces(target), own);
        } catch (IllegalArgumentException e) {
            return target;
        }
    }

    private static @Nullable Object call(Object target, Method method, @Nullable Object @Nullable [] arguments)
            throws Throwable {
        try {
            return method.invoke(target, arguments);
        } catch (InvocationTargetException e) {
            throw e.getCause() == null ? e : e.getCause();
        }
    }
}
