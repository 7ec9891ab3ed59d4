package tern.rpc.client;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.LoggerFactory;
import tern.rpc.JavaShape;
import tern.rpc.NanoClock;
import tern.rpc.RpcException;
import tern.rpc.RpcException.Executed;
import tern.rpc.SeldomWarning;
import tern.rpc.stream.Shapes;
import tern.rpc.transport.RemoteFailures;

/**
 * Answers calls to one service on the client if no provider can be reached, or if the providers refuse the calls. The
 * meters still count each call's failure. Thread-safe.
 */
final class Fallback {

    private static final Duration BETWEEN_WARNINGS = Duration.ofMinutes(1);

    private final Supplier<?> targets;
    private final LongAdder answered;
    private final SeldomWarning warning;

    /**
     * @param targets supplies implementations of the service interface
     * @param answered counts the calls that the fallback answers
     */
    Fallback(Supplier<?> targets, LongAdder answered, NanoClock clock) {
        this.targets = targets;
        this.answered = answered;
        this.warning = new SeldomWarning(LoggerFactory.getLogger(Fallback.class), clock, BETWEEN_WARNINGS);
    }

    /**
     * Returns whether the fallback may answer the call. It may answer in these cases: no provider was available, a
     * provider refused the call, the connection was lost, the deadline passed before the call ran, or the providers run
     * an older release that lacks the method. A failure reported by the method itself is an answer, and the fallback
     * does not replace it. If the whole service is missing, the call fails, because a fallback would hide a
     * configuration error.
     */
    static boolean covers(Throwable failure) {
        if (!(failure instanceof RpcException rpc)) {
            return false;
        }
        return switch (rpc.code()) {
            case UNAVAILABLE -> rpc.wasExecuted() != Executed.YES;
            case DEADLINE_EXCEEDED, RESOURCE_EXHAUSTED -> rpc.wasExecuted() == Executed.NO;
            case UNIMPLEMENTED, INVALID_ARGUMENT ->
                rpc.wasExecuted() == Executed.NO && RemoteFailures.missing(rpc) == RemoteFailures.Missing.METHOD;
            default -> false;
        };
    }

    /**
     * Answers a call on the current thread.
     *
     * @throws Throwable the exception that the fallback threw, with the call's failure as a suppressed exception
     */
    @Nullable
    Object value(Method method, Object[] arguments, Throwable failure) throws Throwable {
        Object target = targets.get();
        answered.increment();
        warning.warn(
                () -> method.getDeclaringClass().getSimpleName() + "." + method.getName() + " is answered by "
                        + target.getClass().getName(),
                failure);
        method.trySetAccessible(); // Makes the method callable even if its interface is not public.
        try {
            return method.invoke(target, arguments);
        } catch (InvocationTargetException e) {
            Throwable thrown = e.getCause() == null ? e : e.getCause();
            if (thrown != failure) {
                thrown.addSuppressed(failure);
            }
            throw thrown;
        }
    }

    /** Answers a call to a method that returns a {@code CompletionStage} or a {@code Mono}. */
    CompletionStage<?> stage(JavaShape shape, Method method, Object[] arguments, Throwable failure) {
        try {
            Object given = value(method, arguments, failure);
            if (given == null) {
                throw new IllegalStateException("the fallback of " + method + " returned null");
            }
            return Shapes.stage(shape, given);
        } catch (Throwable e) {
            return CompletableFuture.failedFuture(e);
        }
    }
}
