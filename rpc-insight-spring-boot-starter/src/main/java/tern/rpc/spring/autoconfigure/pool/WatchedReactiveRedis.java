package tern.rpc.spring.autoconfigure.pool;

import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.nio.ByteBuffer;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import org.springframework.data.redis.connection.ReactiveRedisConnection;
import org.springframework.util.ClassUtils;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import tern.rpc.AsyncOperation;
import tern.rpc.CallLedger;
import tern.rpc.Phase;
import tern.rpc.pool.LargeReplies;
import tern.rpc.pool.StoreNames;

/**
 * A proxy for a reactive Redis connection that records commands. A command is recorded for the call whose reactive
 * chain or thread subscribes to its result. The recorded time begins with the subscription and ends with the last
 * element. The proxy is thread-safe if the connection is thread-safe.
 */
final class WatchedReactiveRedis implements InvocationHandler {

    /**
     * The methods that are not measured. Messages on a channel can arrive at any time, so the duration of a
     * subscription is meaningless.
     */
    private static final Set<String> NO_COMMANDS = Set.of("close", "closeLater", "pubSubCommands");

    private static final int MAX_KEY_BYTES = 256;

    /**
     * A part of the names of commands, such as HSCAN, that return the elements of a collection in many small replies.
     * For these commands, a large number of elements does not mean a large reply.
     */
    private static final String SCAN = "SCAN";

    private final StoreNames.Store store;
    private final Object target; // the connection, or one of its command objects, such as ReactiveStringCommands

    private WatchedReactiveRedis(StoreNames.Store store, Object target) {
        this.store = store;
        this.target = target;
    }

    /** Returns a proxy for the connection, or an object of another type unchanged. */
    static Object of(StoreNames.Store store, Object connection) {
        return connection instanceof ReactiveRedisConnection ? proxy(store, connection) : connection;
    }

    private static Object proxy(StoreNames.Store store, Object target) {
        return Proxy.newProxyInstance(
                ReactiveRedisConnection.class.getClassLoader(),
                ClassUtils.getAllInterfaces(target),
                new WatchedReactiveRedis(store, target));
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
        Object result = call(method, arguments);
        if (result == null || NO_COMMANDS.contains(name)) {
            return result;
        }
        if (name.endsWith("ommands") && method.getParameterCount() == 0) {
            return proxy(store, result);
        }
        String command = KeyPattern.of(name.toUpperCase(Locale.ROOT), firstKey(arguments));
        if (result instanceof Mono<?> mono) {
            return Mono.deferContextual(context -> measured(mono, ReactiveLedger.of(context), command));
        }
        return result instanceof Flux<?> flux
                ? Flux.deferContextual(context -> measured(flux, ReactiveLedger.of(context), command))
                : result;
    }

    private <T> Mono<T> measured(Mono<T> result, CallLedger ledger, String command) {
        if (!ledger.isOpen()) {
            return result;
        }
        String name = LargeReplies.expected(store.operation(command));
        AsyncOperation operation = ledger.begin(Phase.REDIS, () -> name);
        return result.doOnSuccess(value -> answered(
                        operation,
                        command,
                        value instanceof ByteBuffer buffer
                                ? LargeReplies.name(command, buffer.remaining())
                                : LargeReplies.nameFor(command, value)))
                .doOnError(failure -> operation.end(FailedName.ofCommand(name, failure)))
                .doOnCancel(operation::end);
    }

    private <T> Flux<T> measured(Flux<T> result, CallLedger ledger, String command) {
        if (!ledger.isOpen()) {
            return result;
        }
        String name = LargeReplies.expected(store.operation(command));
        AsyncOperation operation = ledger.begin(Phase.REDIS, () -> name);
        AtomicLong elements = new AtomicLong();
        AtomicLong bytes = new AtomicLong();
        boolean isOneReply = !command.contains(SCAN);
        return result.doOnNext(value -> {
                    elements.incrementAndGet();
                    bytes.addAndGet(bytes(value));
                })
                .doOnComplete(() -> answered(
                        operation,
                        command,
                        isOneReply ? LargeReplies.nameFor(command, bytes.get(), elements.get()) : command))
                .doOnError(failure -> operation.end(FailedName.ofCommand(name, failure)))
                .doOnCancel(operation::end);
    }

    /** @param marked the command, with a mark if its reply is large */
    private void answered(AsyncOperation operation, String command, String marked) {
        store.answered();
        String name = store.operation(marked);
        LargeReplies.arrived(store.operation(command), name);
        operation.end(name);
    }

    /** Returns the size of an element of a reply, as far as it is known. */
    private static long bytes(@Nullable Object value) {
        if (value instanceof ByteBuffer buffer) {
            return buffer.remaining();
        }
        return value instanceof Map.Entry<?, ?> entry ? bytes(entry.getKey()) + bytes(entry.getValue()) : 0;
    }

    private static byte @Nullable [] firstKey(@Nullable Object @Nullable [] arguments) {
        if (arguments == null || arguments.length == 0 || !(arguments[0] instanceof ByteBuffer key)) {
            return null;
        }
        byte[] bytes = new byte[Math.min(key.remaining(), MAX_KEY_BYTES)];
        key.duplicate().get(bytes);
        return bytes;
    }

    private @Nullable Object call(Method method, @Nullable Object @Nullable [] arguments) throws Throwable {
        try {
            return method.invoke(target, arguments);
        } catch (InvocationTargetException e) {
            throw e.getCause() == null ? e : e.getCause();
        }
    }
}
