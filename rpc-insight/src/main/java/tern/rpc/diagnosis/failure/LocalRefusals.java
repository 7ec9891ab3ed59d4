package tern.rpc.diagnosis.failure;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import tern.rpc.diagnosis.account.Part;
import tern.rpc.diagnosis.account.Part.Kind;
import tern.rpc.diagnosis.stack.LibraryWaits;

/**
 * Recognizes the exceptions that a circuit breaker, a bulkhead or a rate limiter in this process throws to refuse a
 * call. The exception of a limiter does not show why the limiter refuses calls.
 */
public final class LocalRefusals {

    /** The kinds of limiters in application code. */
    public enum Limiter {
        BREAKER("circuit breaker"),
        BULKHEAD(LibraryWaits.BULKHEAD),
        CONCURRENCY(LibraryWaits.LIMIT),
        RATE("rate limiter");

        private final String text;

        Limiter(String text) {
            this.text = text;
        }

        /** Returns whether this limiter bounds the number of concurrent calls. */
        public boolean isOfConcurrency() {
            return this == BULKHEAD || this == CONCURRENCY;
        }
    }

    /** @param prefix the prefix of the exception's package; empty if the simple name is sufficient */
    private record Known(String prefix, Limiter limiter) {}

    private static final String SENTINEL = "com.alibaba.csp.sentinel.";
    private static final String MICROPROFILE = "org.eclipse.microprofile.faulttolerance.";

    /**
     * The exceptions by their simple names. The set contains exceptions of Resilience4j, Failsafe, MicroProfile,
     * SmallRye, Sentinel and Spring.
     */
    private static final Map<String, Known> EXCEPTIONS = Map.ofEntries(
            Map.entry("CallNotPermittedException", new Known("", Limiter.BREAKER)),
            Map.entry("CircuitBreakerOpenException", new Known("", Limiter.BREAKER)),
            Map.entry("DegradeException", new Known(SENTINEL, Limiter.BREAKER)),
            Map.entry("BulkheadFullException", new Known("", Limiter.BULKHEAD)),
            Map.entry("BulkheadException", new Known(MICROPROFILE, Limiter.BULKHEAD)),
            Map.entry("InvocationRejectedException", new Known("", Limiter.CONCURRENCY)),
            Map.entry("RequestNotPermitted", new Known("", Limiter.RATE)),
            Map.entry("RateLimitExceededException", new Known("", Limiter.RATE)),
            Map.entry("RateLimitException", new Known("io.smallrye.faulttolerance.", Limiter.RATE)),
            Map.entry("FlowException", new Known(SENTINEL, Limiter.RATE)),
            Map.entry("ParamFlowException", new Known(SENTINEL, Limiter.RATE)));

    /** Hystrix throws one exception for all failures. Its message begins with the name of the command. */
    private static final String HYSTRIX = "HystrixRuntimeException";

    private static final Pattern HYSTRIX_BREAKER = Pattern.compile("^(\\S{1,64}) short-circuited");
    private static final Pattern HYSTRIX_BULKHEAD = Pattern.compile("^(\\S{1,64}) could not acquire a semaphore");

    /** The name of a limiter in the messages of Resilience4j. */
    private static final Pattern NAMED = Pattern.compile("^(?:CircuitBreaker|Bulkhead|RateLimiter) '([^']{1,64})'");

    private static final int MAX_CAUSES = 8;
    private static final String IN = " in ";

    private LocalRefusals() {}

    /** Returns the limiter that refused the call; null if the exception and its causes show no such limiter. */
    public static @Nullable Limiter of(Throwable failure) {
        int causes = 0;
        for (Throwable next = failure; next != null && causes < MAX_CAUSES; next = next.getCause()) {
            Limiter limiter = ofOne(next);
            if (limiter != null) {
                return limiter;
            }
            causes++;
        }
        return null;
    }

    private static @Nullable Limiter ofOne(Throwable failure) {
        Class<?> type = failure.getClass();
        String name = type.getSimpleName();
        if (name.equals(HYSTRIX)) {
            String message = String.valueOf(failure.getMessage());
            if (HYSTRIX_BREAKER.matcher(message).find()) {
                return Limiter.BREAKER;
            }
            return HYSTRIX_BULKHEAD.matcher(message).find() ? Limiter.BULKHEAD : null;
        }
        Known known = EXCEPTIONS.get(name);
        return known != null && type.getName().startsWith(known.prefix) ? known.limiter : null;
    }

    /**
     * Returns the kind of limiter that the given part of a call's time represents; null if the part does not represent
     * a refusal by a limiter.
     */
    public static @Nullable Limiter of(Part part) {
        for (Limiter limiter : Limiter.values()) {
            if (part.kind() == Kind.LIMIT && part.name().startsWith(limiter.text)) {
                return limiter;
            }
        }
        return null;
    }

    /**
     * Returns the part of a call's time that represents the refusal of the call. The name of the part contains the
     * refused code and, if the exception shows it, the limiter's name.
     *
     * @param place the application code whose execution the limiter refused, with a leading {@code in}; empty if
     *     unknown
     */
    static Part part(Limiter limiter, List<Throwable> chain, String place) {
        List<String> words = new ArrayList<>(List.of(limiter.text));
        for (Throwable one : chain) {
            String message = String.valueOf(one.getMessage());
            for (Pattern pattern : List.of(NAMED, HYSTRIX_BREAKER, HYSTRIX_BULKHEAD)) {
                Matcher named = pattern.matcher(message);
                if (ofOne(one) != null && words.size() == 1 && named.find()) {
                    words.add(named.group(1));
                }
            }
        }
        return new Part(Kind.LIMIT, String.join(" ", words) + place);
    }

    /** Returns the application method whose execution the limiter refused; null if unknown. */
    public static @Nullable String method(Part refusal) {
        int at = refusal.name().lastIndexOf(IN);
        if (at < 0) {
            return null;
        }
        String place = refusal.name().substring(at + IN.length());
        int line = place.indexOf(':');
        return line < 0 ? place : place.substring(0, line);
    }
}
