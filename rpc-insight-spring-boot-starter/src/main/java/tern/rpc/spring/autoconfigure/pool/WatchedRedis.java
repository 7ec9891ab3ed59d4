package tern.rpc.spring.autoconfigure.pool;

import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.Locale;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.util.ClassUtils;
import tern.rpc.CallLedger;
import tern.rpc.Phase;
import tern.rpc.pool.LargeReplies;
import tern.rpc.pool.OutsideOperations;
import tern.rpc.pool.StoreNames;

/**
 * A proxy for a Redis connection that records commands. Commands inside a pipeline or a transaction are not recorded,
 * because they cause no separate round trip. The end of the pipeline is recorded. The proxy is thread-safe if the
 * connection is thread-safe.
 */
final class WatchedRedis implements InvocationHandler {

    private static final Set<String> NO_COMMANDS = Set.of(
            "close",
            "isClosed",
            "getNativeConnection",
            "isQueueing",
            "isPipelined",
            "openPipeline",
            "getSentinelConnection",
            "isSubscribed",
            "getSubscription",
            "subscribe",
            "pSubscribe",
            "multi",
            "toString");

    private static final String EXECUTE = "execute";

    private static final Set<String> SCRIPTS = Set.of("eval", "evalSha");

    private final StoreNames.Store store;
    private final RedisConnection connection;
    private final Object target; // the connection, or one of its command objects, such as RedisStringCommands

    private WatchedRedis(StoreNames.Store store, RedisConnection connection, Object target) {
        this.store = store;
        this.connection = connection;
        this.target = target;
    }

    static RedisConnection of(StoreNames.Store store, RedisConnection connection) {
        return (RedisConnection)
                proxy(ClassUtils.getAllInterfaces(connection), new WatchedRedis(store, connection, connection));
    }

    private static Object proxy(Class<?>[] types, InvocationHandler handler) {
        return Proxy.newProxyInstance(RedisConnection.class.getClassLoader(), types, handler);
    }

    @Override
    public @Nullable Object invoke(Object proxy, Method method, @Nullable Object @Nullable [] arguments)
            throws Throwable {
        String name = method.getName();
        if (method.getDeclaringClass() == Object.class) {
            return switch (name) {
                case "equals" -> arguments != null && proxy == arguments[0];
                case "hashCode" -> System.identityHashCode(proxy);
                default -> call(method, arguments);
            };
        }
        if (name.endsWith("ommands") && method.getParameterCount() == 0) {
            Object commands = call(method, arguments);
            return commands == null
                    ? null
                    : proxy(ClassUtils.getAllInterfaces(commands), new WatchedRedis(store, connection, commands));
        }
        boolean roundTrip = name.equals("closePipeline")
                || name.equals("exec")
                || (!NO_COMMANDS.contains(name) && !connection.isPipelined() && !connection.isQueueing());
        if (!roundTrip) {
            return call(method, arguments);
        }
        CallLedger ledger = CallLedger.current();
        String plain = KeyPattern.of(
                command(name, arguments).toUpperCase(Locale.ROOT),
                SCRIPTS.contains(name) ? keyOfScript(arguments) : firstKey(arguments));
        String begun = store.operation(plain);
        String command = LargeReplies.expected(begun);
        // Spring Data's methods for blocking commands use a separate connection. A blocking command that is passed by
        // name, however, uses the shared connection.
        if (!ledger.isOpen() && name.equals(EXECUTE)) {
            OutsideOperations.begins(Phase.REDIS, begun);
        }
        long begunNanos = ledger.isOpen() ? 0 : System.nanoTime();
        Phase outer = ledger.enter(Phase.REDIS, command);
        Throwable failure = null;
        try {
            Object result = call(method, arguments);
            store.answered();
            boolean isOneReply = !name.equals("closePipeline") && !name.equals("exec");
            String marked = isOneReply ? LargeReplies.nameFor(plain, result) : plain;
            command = marked.equals(plain) ? begun : store.operation(marked);
            LargeReplies.arrived(begun, command);
            return result;
        } catch (Exception e) {
            failure = e;
            throw e;
        } finally {
            ledger.leave(outer, failure == null ? command : FailedName.ofCommand(command, failure));
            if (!ledger.isOpen()) {
                OutsideOperations.ran(Phase.REDIS, begun, System.nanoTime() - begunNanos);
            }
        }
    }

    /** Returns the command, which is the first argument of {@code RedisConnection.execute}. */
    private static String command(String method, @Nullable Object @Nullable [] arguments) {
        return method.equals(EXECUTE)
                        && arguments != null
                        && arguments.length > 0
                        && arguments[0] instanceof String command
                ? command
                : method;
    }

    private static byte @Nullable [] firstKey(@Nullable Object @Nullable [] arguments) {
        if (arguments == null || arguments.length == 0) {
            return null;
        }
        if (arguments[0] instanceof byte[][] keys) {
            return keys.length == 0 ? null : keys[0];
        }
        return arguments[0] instanceof byte[] key ? key : null;
    }

    /** Returns the first key of a script. If the script has no key, returns its text; null if the text is unknown. */
    private static byte @Nullable [] keyOfScript(@Nullable Object @Nullable [] arguments) {
        if (arguments != null
                && arguments.length > 3
                && arguments[2] instanceof Integer keys
                && keys > 0
                && arguments[3] instanceof byte[][] values
                && values.length > 0) {
            return values[0];
        }
        return firstKey(arguments);
    }

    private @Nullable Object call(Method method, @Nullable Object @Nullable [] arguments) throws Throwable {
        try {
            return method.invoke(target, arguments);
        } catch (InvocationTargetException e) {
            throw e.getCause() == null ? e : e.getCause();
        }
    }
}
