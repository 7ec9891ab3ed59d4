package tern.rpc.server;

import java.lang.reflect.Method;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** The code that runs when a method is called. Many threads may run it at the same time. */
@FunctionalInterface
public interface MethodBody {

    /**
     * Runs the method.
     *
     * @param arguments the arguments as in the Java signature. If there is no Java method, the first argument is the
     *     request: a value, or a {@link java.util.concurrent.Flow.Publisher} of requests. If the operation passes
     *     answers to an observer, the last argument is the {@link tern.rpc.StreamObserver} of the answers
     * @return the result as in the Java signature. If there is no Java method, the result is a
     *     {@link java.util.concurrent.CompletionStage} of one answer, a publisher of answers, or null if the answers
     *     go to an observer
     * @throws Throwable the method's failure
     */
    @Nullable
    Object run(Object[] arguments) throws Throwable;

    /** Returns a body that calls a Java method on the supplied object. */
    static MethodBody of(Method method, Supplier<?> target) {
        return new JavaBody(method, target);
    }

    /** Returns the class of the object on which the method was called; null if it is unknown. */
    default @Nullable Class<?> type() {
        return null;
    }
}
