package tern.rpc.diagnosis.calls;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import tern.rpc.diagnosis.account.Account;
import tern.rpc.diagnosis.account.EndedCall;
import tern.rpc.diagnosis.account.Part;
import tern.rpc.diagnosis.account.Part.Kind;
import tern.rpc.diagnosis.account.PauseTimes;
import tern.rpc.diagnosis.account.Times;
import tern.rpc.diagnosis.calls.CallRecords.Sums;
import tern.rpc.diagnosis.stack.StackReader;

/**
 * How long calls to each method usually take, learned while calls meet the latency target. In the first minute, the
 * usual times adapt quickly, because a new process becomes faster. Later, they adapt to changes only within about five
 * minutes. If usual times adapted faster, a statement that becomes slower within a minute would soon count as usual.
 * Not thread-safe: only one thread uses it.
 */
public final class Baseline {

    /** The prefix of the baseline keys for the usual times of operations outside of calls. */
    public static final String OUTSIDE = "outside ";

    /** The prefix of the baseline keys for the number of tasks that an executor usually starts per second. */
    public static final String TASKS = "tasks ";

    /** The prefix of the baseline keys for an executor's usual queue length. */
    public static final String QUEUE = "queue ";

    /** The prefix of the baseline keys for the usual number of rows in a statement's results. */
    public static final String ROWS = "rows ";

    /** The prefix of the baseline keys for the number of bytes that a call to a method usually allocates. */
    public static final String ALLOCATED = "allocated by ";

    /** The prefix of the baseline keys for the usual size of the answers to an HTTP exchange. */
    public static final String ANSWER_BYTES = "answer bytes ";

    /** The prefix of the baseline keys for the usual size of the requests of an HTTP exchange. */
    public static final String REQUEST_BYTES = "request bytes ";

    /** The prefix of the baseline keys for the usual share of failed calls. */
    public static final String FAILED_CALLS = "failed calls of ";

    /** An operation counts as usual if its time is at most {@value} times its usual time. */
    public static final double AS_USUAL = 1.3;

    /** An operation counts as taking longer than usual if its time exceeds {@value} times its usual time. */
    public static final double SLOWER_THAN_USUAL = 1.1;

    /**
     * The weight of the latest second's calls in the usual time, during the first {@link #QUICK_SECONDS} seconds with
     * calls. The usual time is a weighted mean over all seconds with calls.
     */
    private static final double WEIGHT = 0.1;

    /**
     * The number of seconds at the beginning in which the values of the latest second have the weight {@link #WEIGHT}.
     * Only seconds with calls are counted.
     */
    private static final int QUICK_SECONDS = 60;

    /**
     * The minimum weight of the latest second's calls. The weight falls from {@link #WEIGHT} to this minimum within
     * about five minutes.
     */
    private static final double LEAST_WEIGHT = 1.0 / 300;

    /**
     * After the first {@link #QUICK_SECONDS} seconds, the calls of one second together weigh at most as much as
     * {@value} calls.
     */
    private static final double CALLS_OF_FULL_WEIGHT = 10;

    /** A late call counts as usual if it takes at most {@value} times its usual time. */
    private static final double SLOWER = 1.5;

    /**
     * A late call also counts as usual if it takes at most {@value} times the longest usual time. The times of some
     * calls, such as long polls, vary so much that the rule with {@link #SLOWER} is not sufficient.
     */
    private static final double LONGEST = 1.1;

    /**
     * The longest usual time is limited to {@value} times the mean time of the slowest tenth. Without this limit, a
     * single extremely long call would make long calls usual.
     */
    private static final double MAX_LONGEST = 3;

    /**
     * The longest usual time is multiplied by this factor after each additional call, so that old values lose their
     * effect.
     */
    private static final double LONGEST_DECAY = 0.999;

    /** The usual times of a method count as reliable once they have been updated in {@value} different seconds. */
    private static final int MIN_SECONDS = 10;

    /**
     * The number of seconds after which a usual value no longer depends on the values measured at the start of the
     * process.
     */
    private static final int SETTLED_SECONDS = 50;

    /**
     * The usual times of a method whose calls are usually late count as reliable once they have been updated in
     * {@value} different seconds. The number is lower than {@link #MIN_SECONDS}, because such a method may be called
     * only once in ten seconds.
     */
    private static final int MIN_RARE_SECONDS = 3;

    /** The share of normal calls that count as slow. Late or failed calls are compared with these slow normal calls. */
    private static final double SLOW_SHARE = 0.1;

    /** The maximum share by which one call changes the estimated 90th percentile of the call times. */
    private static final double BORDER_STEP = 0.05;

    /** The mean of the slowest tenth is used only if it covers at least {@value} recorded calls. */
    private static final int MIN_SLOW_CALLS = 10;

    private static final int MAX_FIGURES = 5_000;
    private static final int MAX_OUTSIDE = 512;

    private final Map<String, Method> methods = new HashMap<>();
    private final Map<String, Figure> figures = new HashMap<>();
    private final UsualRuns runs = new UsualRuns();

    // The usual times of operations outside of calls, in the order of their last use. Their number is limited
    // separately, because operations outside of calls may have any number of names, for example if a job calls many
    // hosts.
    private final Map<String, Figure> outside = new LinkedHashMap<>(16, 0.75f, true);

    /** The usual value of a measured quantity. */
    public static final class Figure {
        public double value;
        private int seconds;

        public void learn(double measured) {
            value = seconds == 0 ? measured : value + weight(seconds) * (measured - value);
            seconds++;
        }
    }

    private static final class Method {
        Times mean = new Times();
        Times slow = new Times(); // the mean of the slowest tenth of the calls
        double slowFromNanos = -1; // the minimum time of a call in the slowest tenth; -1 before the first call
        int slowCalls;
        double longestNanos; // the duration of the longest normal call; decays with each additional call
        int seconds;
        boolean hasMet; // whether usual times were learned from a call that met the target
        long good;
        long late;

        /**
         * Forgets the usual times when a call meets the target for the first time, if they were learned only from late
         * calls. The late calls were the slow first calls of a new process.
         */
        void forgetFirstLateCalls() {
            if (!hasMet) {
                hasMet = true;
                seconds = 0;
                slowCalls = 0;
                slowFromNanos = -1;
            }
        }

        /**
         * Adds one call to the mean of the slowest tenth if the call is slow enough. Moves the lower limit of the
         * slowest tenth up or down, so that a tenth of the calls lie above the limit.
         *
         * @param callsInSecond the number of calls that are added for the same second
         */
        void add(double tookNanos, Times times, int callsInSecond) {
            double pace = seconds < QUICK_SECONDS
                    ? 1
                    : weight(seconds) / WEIGHT * Math.min(1, CALLS_OF_FULL_WEIGHT / callsInSecond);
            if (slowFromNanos < 0) {
                slowFromNanos = tookNanos;
            } else if (tookNanos > slowFromNanos) {
                slowFromNanos += pace * BORDER_STEP * (1 - SLOW_SHARE) * slowFromNanos;
                slow = slowCalls == 0 ? times : mixed(slow, times, pace * WEIGHT);
                slowCalls++;
            } else {
                slowFromNanos -= pace * BORDER_STEP * SLOW_SHARE * slowFromNanos;
            }
        }
    }

    /**
     * Updates the usual times from calls that met the latency target. For methods whose calls are usually late, late
     * calls are used too. The application can meet the target even though these methods are always slow, as long as
     * they are called rarely.
     *
     * @param counted the numbers of calls in the second, by method; {@code good} and {@code late} contain only a sample
     *     of these calls
     */
    public void learn(Map<String, Sums> counted, List<EndedCall> good, List<EndedCall> late) {
        counted.forEach((name, sums) -> {
            Method method = methods.computeIfAbsent(name, unknown -> new Method());
            method.good += sums.met();
            method.late += Math.max(0, sums.late() - sums.failed()); // failed calls do not show how long calls take
        });
        good.forEach(call -> method(call).forgetFirstLateCalls());
        learn(good);
        learn(late.stream().filter(this::isOfLateMethod).toList());
    }

    /** Returns how often calls usually run each operation. */
    public UsualRuns runs() {
        return runs;
    }

    private Method method(EndedCall call) {
        return methods.computeIfAbsent(call.method(), unknown -> new Method());
    }

    /**
     * Returns whether no call to the given method has met the target since the diagnosis began to learn usual times.
     */
    public boolean hasNeverMetTarget(String method) {
        Method known = methods.get(method);
        return known == null || (known.good == 0 && !known.hasMet);
    }

    /** Returns whether the call belongs to a method whose calls are usually late. */
    public boolean isOfLateMethod(EndedCall call) {
        Method method = method(call);
        return method.late > method.good;
    }

    /**
     * Returns whether the given late call took about as long as usual for its method. Returns false for a method whose
     * calls usually meet the target.
     */
    public boolean isUsual(EndedCall call) {
        Times usual = isOfLateMethod(call) ? of(call.method()) : null;
        return usual != null
                && call.failure() == null
                && call.tookNanos() <= Math.max(SLOWER * usual.sum(), longest(call.method(), usual));
    }

    private double longest(String method, Times usual) {
        Times slow = ofSlowCalls(method);
        double limit = MAX_LONGEST * (slow == null ? usual : slow).sum();
        Method known = methods.get(method);
        return Math.min(limit, known == null ? 0 : LONGEST * known.longestNanos);
    }

    private void learn(List<EndedCall> calls) {
        Map<String, List<EndedCall>> byMethod = new HashMap<>();
        calls.forEach(call -> byMethod.computeIfAbsent(call.method(), name -> new ArrayList<>())
                .add(call));
        byMethod.forEach((name, ofMethod) -> {
            Method method = methods.computeIfAbsent(name, unknown -> new Method());
            Times mean = new Times();
            for (EndedCall call : ofMethod) {
                Times times = Account.of(call, PauseTimes.NONE);
                method.add((double) call.tookNanos(), times, ofMethod.size());
                method.longestNanos = Math.max(method.longestNanos * LONGEST_DECAY, (double) call.tookNanos());
                mean.addAll(times, 1.0 / ofMethod.size());
            }
            method.mean = method.seconds == 0 ? mean : mixed(method.mean, mean, weight(method.seconds));
            method.seconds++;
        });
    }

    /**
     * Returns the weight that the values of the latest second have in the usual value, from 0 to 1.
     *
     * @param seconds the number of earlier seconds that have updated the usual value
     */
    private static double weight(int seconds) {
        return seconds < QUICK_SECONDS ? WEIGHT : Math.max(LEAST_WEIGHT, 1 / (1 / WEIGHT + seconds - QUICK_SECONDS));
    }

    private static Times mixed(Times known, Times fresh, double weight) {
        Times mixed = new Times();
        mixed.addAll(known, 1 - weight);
        mixed.addAll(fresh, weight);
        return mixed;
    }

    /**
     * Returns the usual durations of the activities and waits of a call to the given method; null if unknown. The time
     * outside of operations (the call's own time) is one of these durations.
     */
    @Nullable
    public Times of(String method) {
        Method known = methods.get(method);
        int enough = known != null && known.late > known.good ? MIN_RARE_SECONDS : MIN_SECONDS;
        return known == null || known.seconds < enough ? null : known.mean;
    }

    /**
     * Returns the durations of the activities and waits in the slowest tenth of the given method's normal calls; null
     * if unknown. The time outside of operations (the calls' own time) is one of these durations.
     */
    @Nullable
    public Times ofSlowCalls(String method) {
        Method known = methods.get(method);
        return known == null || known.slowCalls < MIN_SLOW_CALLS ? null : known.slow;
    }

    /** Updates the usual value of a measured quantity, such as the calls per second. */
    public void learn(String figure, double value) {
        Map<String, Figure> known = figures(figure);
        if (!known.containsKey(figure)) {
            if (known == outside && known.size() >= MAX_OUTSIDE) {
                known.remove(known.keySet().iterator().next()); // Removes the least recently used value.
            } else if (known.size() >= MAX_FIGURES) {
                return;
            }
        }
        known.computeIfAbsent(figure, unknown -> new Figure()).learn(value);
    }

    private Map<String, Figure> figures(String figure) {
        return figure.startsWith(OUTSIDE) ? outside : figures;
    }

    /** Returns the usual value of the measured quantity with the given name; -1 if unknown. */
    public double figure(String figure) {
        Figure known = figures(figure).get(figure);
        return known == null ? -1 : known.value;
    }

    /**
     * Returns the usual value of the measured quantity with the given name. Returns -1 if the quantity is unknown, or
     * was measured in fewer than {@link #MIN_SECONDS} seconds.
     */
    public double reliableFigure(String figure) {
        Figure known = figures(figure).get(figure);
        return known == null || known.seconds < MIN_SECONDS ? -1 : known.value;
    }

    /**
     * Returns whether the usual value of the quantity has been learned for long enough that it no longer depends on the
     * values measured at the start of the process.
     */
    public boolean isSettled(String figure) {
        Figure known = figures(figure).get(figure);
        return known != null && known.seconds >= SETTLED_SECONDS;
    }

    /**
     * Returns whether the usual times contain no separate value for the given activity or wait, but include it in the
     * time outside of operations (the call's own time).
     */
    public static boolean isOwn(Part part) {
        if (part.name().startsWith(StackReader.CALLED)) {
            // An operation with this prefix is known only from samples. Ledgers count its time as the call's own time.
            return true;
        }
        return switch (part.kind()) {
            case COMPUTING,
                    LOCK,
                    CALLER,
                    SLEEP,
                    RESULT,
                    FILE,
                    SOCKET,
                    EVENT_LOOP,
                    RESOLVER,
                    CLASS_LOADING,
                    CLASS_INITIALIZATION,
                    NATIVE,
                    RUN_QUEUE,
                    CARRIER,
                    UNEXPLAINED -> true;
            default -> false;
        };
    }

    public static boolean isPause(Part part) {
        return part.kind() == Kind.COLLECTOR || part.kind() == Kind.JVM_PAUSE || part.kind() == Kind.OUTSIDE;
    }
}
