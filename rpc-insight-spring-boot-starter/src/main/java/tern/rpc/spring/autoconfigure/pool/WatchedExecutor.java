package tern.rpc.spring.autoconfigure.pool;

import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.lang.reflect.Proxy;
import java.util.Collection;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.springframework.util.ClassUtils;
import tern.rpc.CallTask;

/**
 * Wraps an executor in a proxy that measures each task and runs it with the ledger of the submitting call. Used only
 * for executors whose class is not public. A proxy can replace such an executor, because no other code can refer to the
 * executor's class. Thread-safe.
 */
final class WatchedExecutor implements InvocationHandler {

    /**
     * The methods that submit tasks to run as soon as possible. The wait of a scheduled task is not measured, because
     * the task waits for its scheduled time and not for a thread.
     */
    private static final Set<String> SUBMISSIONS = Set.of("execute", "submit", "invokeAll", "invokeAny");

    private final ExecutorService executor;
    private final String name;
    private final TaskTimes times;

    private WatchedExecutor(ExecutorService executor, String name, TaskTimes times) {
        this.executor = executor;
        this.name = name;
        this.times = times;
    }

    static Object of(ExecutorService executor, String name, TaskTimes times) {
        Class<?>[] types = Stream.of(ClassUtils.getAllInterfaces(executor))
                .filter(type -> Modifier.isPublic(type.getModifiers()))
                .toArray(Class<?>[]::new);
        return Proxy.newProxyInstance(
                WatchedExecutor.class.getClassLoader(), types, new WatchedExecutor(executor, name, times));
    }

    @Override
    public @Nullable Object invoke(Object proxy, Method method, @Nullable Object @Nullable [] arguments)
            throws Throwable {
        if (arguments != null && method.getName().equals("equals") && arguments.length == 1) {
            return proxy == arguments[0];
        }
        if (arguments != null && arguments.length > 0 && SUBMISSIONS.contains(method.getName())) {
            arguments = arguments.clone();
            arguments[0] = handedOver(arguments[0]);
        }
        try {
            return method.invoke(executor, arguments);
        } catch (InvocationTargetException e) {
            throw e.getCause() == null ? e : e.getCause();
        }
    }

    private @Nullable Object handedOver(@Nullable Object task) {
        if (task instanceof Runnable runnable) {
            Runnable measured = times.measured(runnable);
            return runnable instanceof CallTask ? measured : CallTask.of(measured, name);
        }
        if (task instanceof Callable<?> callable) {
            return CallTask.ofResult(times.measured(callable), name);
        }
        if (task instanceof Collection<?> tasks) {
            return tasks.stream().map(this::handedOver).toList();
        }
        return task;
    }
}
