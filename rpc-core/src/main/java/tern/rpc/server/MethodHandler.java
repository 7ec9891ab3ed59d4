package tern.rpc.server;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import tern.rpc.Filter;
import tern.rpc.Invoker;
import tern.rpc.MethodDescriptor;
import tern.rpc.MethodType;
import tern.rpc.NanoClock;
import tern.rpc.PeerText;
import tern.rpc.RpcException;
import tern.rpc.SeldomWarning;
import tern.rpc.ServerFilter;
import tern.rpc.ServiceKey;
import tern.rpc.StatusCode;
import tern.rpc.Thrown;
import tern.rpc.metrics.CallMeters;
import tern.rpc.metrics.PhaseMeters;
import tern.rpc.metrics.RpcMeters;
import tern.rpc.transport.RemoteFailures;

/** The settings and code for calls to one exported method, prepared at startup. */
final class MethodHandler {

    private static final Logger LOG = LoggerFactory.getLogger(MethodHandler.class);

    /**
     * The minimum interval between two logged stack traces. Writing a stack trace costs more than most calls, so a
     * failing server would be overloaded if it logged every stack trace.
     */
    private static final Duration BETWEEN_WARNINGS = Duration.ofMillis(250);

    private final ServiceKey service;
    private final MethodDescriptor method;
    private final MethodInvoker last;
    private final List<ServerFilter> filters;
    private final @Nullable Invoker filtered;
    private final RpcMeters meters;
    private volatile @Nullable MethodLimiter limiter;
    private final LongAdder threads = new LongAdder(); // the number of workers that are running the method
    private final PhaseMeters phases;
    private final SeldomWarning unexpected;
    private final SeldomWarning refused;
    private final SeldomWarning repeated;
    private final boolean exceptionTexts;
    private final ConcurrentMap<String, CallMeters> metersByProtocol = new ConcurrentHashMap<>(4);

    MethodHandler(
            ServiceKey service,
            MethodDescriptor method,
            MethodInvoker last,
            List<ServerFilter> filters,
            RpcMeters meters,
            @Nullable MethodLimiter limiter,
            boolean exceptionTexts,
            NanoClock clock) {
        this.service = service;
        this.method = method;
        this.last = last;
        this.filters = filters;
        this.filtered = filters.isEmpty() ? null : Filter.chain(filters, last);
        this.meters = meters;
        this.limiter = limiter;
        this.phases = meters.phases(service, method);
        this.exceptionTexts = exceptionTexts;
        this.repeated = new SeldomWarning(LOG, clock);
        this.refused = new SeldomWarning(LOG, clock, BETWEEN_WARNINGS);
        this.unexpected = new SeldomWarning(LOG, clock, BETWEEN_WARNINGS);
    }

    MethodDescriptor method() {
        return method;
    }

    /**
     * Counts a worker that is about to run the method. When the worker has finished, {@link #threadReturns} must be
     * called.
     */
    void threadEnters() {
        threads.increment();
    }

    /** Records that a worker has finished. Must be called once for each call of {@link #threadEnters}. */
    void threadReturns() {
        threads.decrement();
    }

    /** Returns the number of workers that are running the method, including workers whose calls have already ended. */
    long threads() {
        return threads.sum();
    }

    boolean isUnary() {
        return method.type() == MethodType.UNARY;
    }

    MethodInvoker last() {
        return last;
    }

    /** Returns an invoker that runs the application's filters around the given invoker of a streaming call. */
    Invoker filtered(Invoker stream) {
        return Filter.chain(filters, stream);
    }

    /** Returns the invoker that runs the application's filters around the method, or null if there are no filters. */
    @Nullable
    Invoker filtered() {
        return filtered;
    }

    /** Returns this method's limiter, or null if no limit is set for this method. */
    @Nullable
    MethodLimiter limiter() {
        return limiter;
    }

    /** Replaces this method's limiter. Running calls still release the previous limiter. */
    void limiter(@Nullable MethodLimiter changed) {
        limiter = changed;
    }

    /** Returns the failure of a call whose filter returned no response. */
    RpcException withoutResponse() {
        String text = "a filter around " + method + " gave no response";
        repeated.warn(() -> text + "; the filters are " + Filter.names(filters));
        return new RpcException(StatusCode.INTERNAL, text);
    }

    /** Returns the name of the method or the filter that threw the exception, for the log. */
    private String thrower(Throwable cause) {
        for (StackTraceElement frame : filters.isEmpty() ? new StackTraceElement[0] : Thrown.trace(cause)) {
            if (frame.getClassName().equals(MethodInvoker.class.getName())) {
                // All frames above this frame belong to the method, so the method threw the exception. The remaining
                // frames belong to callers, such as filters.
                break;
            }
            for (ServerFilter filter : filters) {
                if (isOf(filter.getClass().getName(), frame)) {
                    return "the filter " + frame.getClassName() + " around " + method;
                }
            }
        }
        return method.toString();
    }

    /**
     * Returns whether the frame belongs to the filter. For a filter that is a lambda expression, any lambda expression
     * of the same class is treated as the filter.
     */
    private static boolean isOf(String filter, StackTraceElement frame) {
        int generated = filter.indexOf("$$");
        String written = generated < 0 ? filter : filter.substring(0, generated);
        boolean isLambda = filter.contains("$$Lambda");
        return frame.getClassName().equals(written)
                && (!isLambda || frame.getMethodName().startsWith("lambda$"));
    }

    /**
     * Returns the failure that the caller gets. Logs an undeclared exception with its stack trace, at a limited rate.
     * If callers do not have the exception's class, they get an id. If the rate does not permit a stack trace, only a
     * short line with the id is logged, up to a limit per second.
     *
     * @param typed whether the answer can contain the class of an exception. If not, callers get only the messages of
     *     declared exceptions and of exceptions in the interface's package
     */
    Throwable outgoing(Throwable failure, boolean typed) {
        Throwable cause = ExceptionPolicy.unwrapped(failure);
        if (cause instanceof RpcException) {
            return cause;
        }
        if (Violations.isViolation(cause)) {
            RpcException refusal = Violations.refusal(method, cause);
            if (refusal.code() == StatusCode.INVALID_ARGUMENT) {
                refused.warn(method + " refused its arguments: " + textOf(cause));
            } else {
                unexpected.warn(() -> refusal.status().description(), cause);
            }
            return refusal;
        }
        if (ExceptionPolicy.travels(method, cause, typed)) {
            if (!method.declares(cause)) {
                unexpected.warn(
                        () -> {
                            String thrower = thrower(cause);
                            String what = thrower.equals(method.toString()) ? "it" : "the method";
                            return thrower + " failed with an exception that " + what + " does not declare";
                        },
                        cause);
            }
            return cause;
        }
        RpcException refusal = ExceptionPolicy.securityRefusal(method, cause);
        if (refusal != null) {
            // The message is omitted, because it may contain the caller's credentials.
            refused.warn(
                    refusal.status().description() + ": " + cause.getClass().getName());
            return refusal;
        }
        int id = ThreadLocalRandom.current().nextInt();
        String line = thrower(cause) + " failed with an exception that callers do not know, so callers get "
                + RemoteFailures.foreignText(cause.getClass().getName(), id);
        if (!unexpected.warn(() -> line + ExceptionPolicy.remedy(method, cause, typed), cause)) {
            repeated.warn(() -> line + ": " + PeerText.name(String.valueOf(Thrown.message(cause))));
        }
        return ExceptionPolicy.foreign(cause, exceptionTexts, id);
    }

    /**
     * Returns the message of the failure as one line for the log. The line is escaped, because exception messages often
     * contain an argument chosen by the caller.
     */
    private static String textOf(Throwable failure) {
        return PeerText.text(String.valueOf(Thrown.message(failure)));
    }

    PhaseMeters phases() {
        return phases;
    }

    CallMeters meters(String protocol) {
        CallMeters known = metersByProtocol.get(protocol);
        return known != null
                ? known
                : metersByProtocol.computeIfAbsent(protocol, name -> meters.server(service, method, name));
    }
}
