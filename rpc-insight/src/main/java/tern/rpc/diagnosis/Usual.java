package tern.rpc.diagnosis;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import tern.rpc.diagnosis.Part.Kind;

/**
 * How long calls to each method usually take, learned while calls meet the latency target. A new value has a weight of
 * one tenth. The usual times therefore follow a slow drift but not a single unusual second. Not thread-safe: only one
 * thread uses it.
 */
final class Usual {

    private static final double WEIGHT = 0.1;

    /** A late call is considered usual if it takes no more than this multiple of its usual time. */
    private static final double SLOWER = 1.5;

    /** The usual times of a method are reliable after calls in this many different seconds have updated them. */
    private static final int MIN_SECONDS = 10;

    /**
     * Like {@link #MIN_SECONDS}, for a method whose calls are usually late. Such a method may be called as rarely as
     * once in ten seconds.
     */
    private static final int MIN_RARE_SECONDS = 3;

    /**
     * Late or failed calls are compared with the slowest usual calls. This is the share of usual calls that are
     * considered slow.
     */
    private static final double SLOW_SHARE = 0.1;

    /** The maximum share by which one call changes the estimated 90th percentile of the call times. */
    private static final double BORDER_STEP = 0.05;

    /** The mean of the slowest tenth is used after this number of calls. */
    private static final int MIN_SLOW_CALLS = 10;

    private static final int MAX_FIGURES = 5_000;

    private final Map<String, Method> methods = new HashMap<>();
    private final Map<String, Double> figures = new HashMap<>();

    private static final class Method {
        Times mean = new Times();
        Times slow = new Times(); // the mean of the slowest tenth of the calls
        double slowFromNanos = -1; // the minimum time of a call in the slowest tenth; -1 before the first call
        int slowCalls;
        int seconds;
        long good;
        long late;

        /**
         * Adds one call to the mean of the slowest tenth if the call is slow enough. Moves the lower limit of the
         * slowest tenth up or down, so that a tenth of the calls lie above the limit.
         */
        void add(double tookNanos, Times times) {
            if (slowFromNanos < 0) {
                slowFromNanos = tookNanos;
            } else if (tookNanos > slowFromNanos) {
                slowFromNanos += BORDER_STEP * (1 - SLOW_SHARE) * slowFromNanos;
                slow = slowCalls == 0 ? times : mixed(slow, times);
                slowCalls++;
            } else {
                slowFromNanos -= BORDER_STEP * SLOW_SHARE * slowFromNanos;
            }
        }
    }

    /**
     * Updates the usual times from calls that met the latency target. For methods whose calls are usually late, late
     * calls are used too. The application can meet the target even though these methods are always slow, as long as
     * they are called rarely.
     */
    void learn(List<EndedCall> good, List<EndedCall> late) {
        good.forEach(call -> method(call).good++);
        late.forEach(call -> method(call).late++);
        learn(good);
        learn(late.stream().filter(this::isOfLateMethod).toList());
    }

    private Method method(EndedCall call) {
        return methods.computeIfAbsent(call.method(), unknown -> new Method());
    }

    /** Returns whether this method never met the target in the calls from which usual times were learned. */
    boolean hasNeverMetTarget(String method) {
        Method known = methods.get(method);
        return known == null || known.good == 0;
    }

    /** Returns whether the call belongs to a method whose calls are usually late. */
    boolean isOfLateMethod(EndedCall call) {
        Method method = method(call);
        return method.late > method.good;
    }

    /**
     * Returns whether this late call took about as long as usual for its method. Returns false for a method whose calls
     * usually meet the target.
     */
    boolean isUsual(EndedCall call) {
        Times usual = isOfLateMethod(call) ? of(call.method()) : null;
        return usual != null && call.failure() == null && call.tookNanos() <= SLOWER * usual.sum();
    }

    private void learn(List<EndedCall> calls) {
        Map<String, Times> sums = new HashMap<>();
        Map<String, Integer> counts = new HashMap<>();
        for (EndedCall call : calls) {
            Times times = Account.of(call, PauseTimes.NONE);
            method(call).add((double) call.tookNanos(), times);
            sums.computeIfAbsent(call.method(), name -> new Times()).addAll(times, 1);
            counts.merge(call.method(), 1, Integer::sum);
        }
        sums.forEach((name, sum) -> {
            Integer count = counts.get(name);
            if (count != null) {
                sum.scale(1.0 / count);
                learn(methods.computeIfAbsent(name, unknown -> new Method()), sum);
            }
        });
    }

    private static void learn(Method method, Times mean) {
        method.mean = method.seconds == 0 ? mean : mixed(method.mean, mean);
        method.seconds++;
    }

    private static Times mixed(Times known, Times fresh) {
        Times mixed = new Times();
        mixed.addAll(known, 1 - WEIGHT);
        mixed.addAll(fresh, WEIGHT);
        return mixed;
    }

    /**
     * Returns the usual time of a call to this method by part; null if unknown. The call's own time is one of the
     * parts.
     */
    @Nullable
    Times of(String method) {
        Method known = methods.get(method);
        int enough = known != null && known.late > known.good ? MIN_RARE_SECONDS : MIN_SECONDS;
        return known == null || known.seconds < enough ? null : known.mean;
    }

    /**
     * Returns how the slowest tenth of this method's usual calls spend their time, by part; null if unknown. The calls'
     * own time is one of the parts.
     */
    @Nullable
    Times ofSlowCalls(String method) {
        Method known = methods.get(method);
        return known == null || known.slowCalls < MIN_SLOW_CALLS ? null : known.slow;
    }

    /** Updates the usual value of a measured quantity, such as the calls per second. */
    void learn(String figure, double value) {
        if (figures.size() >= MAX_FIGURES && !figures.containsKey(figure)) {
            return;
        }
        figures.merge(figure, value, (known, fresh) -> known + WEIGHT * (fresh - known));
    }

    /** Returns the usual value of the measured quantity with this name; -1 if unknown. */
    double figure(String figure) {
        return figures.getOrDefault(figure, -1.0);
    }

    /** Returns whether the usual times include this part in the call's own time. */
    static boolean isOwn(Part part) {
        if (part.name().startsWith(StackReader.CALLED)) {
            return true; // The part is an operation that is known only from samples.
        }
        return switch (part.kind()) {
            case COMPUTING,
                    LOCK,
                    CALLER,
                    SLEEP,
                    RESULT,
                    FILE,
                    SOCKET,
                    RESOLVER,
                    CLASS_LOADING,
                    CLASS_INITIALIZATION,
                    NATIVE,
                    RUN_QUEUE,
                    UNEXPLAINED -> true;
            default -> false;
        };
    }

    static boolean isPause(Part part) {
        return part.kind() == Kind.COLLECTOR || part.kind() == Kind.JVM_PAUSE || part.kind() == Kind.OUTSIDE;
    }
}
