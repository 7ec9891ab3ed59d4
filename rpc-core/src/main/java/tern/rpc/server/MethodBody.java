package tern.rpc.server;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** What runs when a method is called. */
@FunctionalInterface
public interface MethodBody {

    /**
     * Runs it.
     *
     * @param arguments as the method's Java signature says; for one without a Java method, its request: a value, or a
     *     {@link java.util.concurrent.Flow.Publisher} of many; and where its operation says so the
     *     {@link tern.rpc.StreamObserver} of its answers
     * @return as the Java signature says; for one without a Java method a {@link java.util.concurrent.CompletionStage}
     *     of one answer, or a publisher of many, or nothing if it was given an observer
     * @throws Throwable what it fails with
     */
    @Nullable
    Object run(Object[] arguments) throws Throwable;

    /** Calls a Java method of the object that the supplier gives. */
    static MethodBody of(Method method, Supplier<?> target) {
        method.setAccessible(true);
        return arguments -> {
            try {
                return method.invoke(target.get(), arguments);
            } catch (InvocationTargetException e) {
                throw e.getCause() == null ? e : e.getCause();
            }
        };
    }
}
