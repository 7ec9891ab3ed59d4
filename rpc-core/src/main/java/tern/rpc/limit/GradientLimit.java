package tern.rpc.limit;

import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Finds the number of concurrent calls that a service can use. The limit measures how additional calls affect the
 * duration of all calls.
 *
 * <p>By Little's law (J. Little, 1961), n concurrent calls that each take time r result in a throughput of n / r. While
 * calls do not wait for each other, more calls raise the throughput and leave r unchanged. If they share an exhausted
 * resource, such as processors or a pool, the throughput stays the same and r grows with n. Additional calls then only
 * wait. The gradient between two windows with different n distinguishes these cases:
 * <pre>
 * gradient = (r' / r - 1) / (n' / n - 1)      0: calls are independent      1: calls only wait for each other
 * </pre>
 *
 * <p>The gradient is computed in two ways and averaged. Both ways use the mean time t of calls as r. The first computes
 * n from the throughput. The second uses the highest number of concurrent calls. While the load grows, the first
 * gradient is too low for calls that wait for each other, and the second gradient is too low for independent calls.
 *
 * <p>The limit changes once per measurement window of the {@link Limiter}:
 * <ul>
 *   <li>There is no queue: no call is restricted by the limit. The mean time t is learned as the usual time u, and the
 *       limit doubles.
 *   <li>There is a queue, and t is at most s = 2u + 25 ms: the limit grows by a fifth, or doubles if t is at most 1.25
 *       u.
 *   <li>There is a queue, and t is more than s: the limit shrinks to 0.75 n * s / t. The limit shrinks by at least 30 %
 *       and at most 50 % (80 % if the previous step down was right). The next window shows whether this step was right.
 *       A gradient below 0.5 means that calls became slow for another reason, such as a slow dependency or a new kind
 *       of call. The limit then returns to its previous value. After three such results, the measured t becomes the
 *       usual time.
 *   <li>After a step down that was right, and at its minimum, the limit stays, because more calls would only wait. To
 *       measure the gradient, the limit is doubled for one window after twenty windows, or as soon as t has risen or
 *       fallen by a factor of 1.5. The doubled limit is kept if the gradient is below 0.25.
 *   <li>Calls hang: earlier results are no longer valid, and the limit starts again at its maximum.
 * </ul>
 *
 * <p>If t is shorter than u, u moves towards t by half of the difference. If t is longer and there is no queue, u moves
 * by a twentieth of the difference. A limiter that starts under load has not measured u yet, and begins with a step
 * down.
 *
 * <p>Therefore the limit shrinks only if there is a queue and calls take longer than before. The limit stays low only
 * if this does not reduce the throughput. The limit compares two levels of concurrency and does not rely on the
 * shortest time ever measured. For thread pools, this method is known as hill climbing (Hellerstein, Morrison,
 * Eilebrecht: Applying Control Theory in the Real World, 2010). TCP Vegas, and limits derived from TCP Vegas, also
 * shrink by the ratio of times. The constants are explained in docs/decisions/0016.
 *
 * <p>Used by one thread at a time.
 */
public final class GradientLimit implements Limit {

    /**
     * The acceptable duration of calls at the limit, as a multiple of the usual time. With the value 2, a call may wait
     * for as long as its processing takes.
     */
    private static final double TOLERANCE = 2;

    /**
     * The time added to the acceptable duration of calls, because hundreds of concurrent fast calls do not overload a
     * server that serves each of them within milliseconds. The value is half of the longest permitted wait in the
     * queue.
     */
    private static final double BEARABLE_NANOS = TimeUnit.MILLISECONDS.toNanos(25);

    /** Additional calls are assumed to raise the throughput if the gradient is below {@value}. */
    private static final double DEPENDENT = 0.5;

    /**
     * After the limit has been doubled for one measurement window (a trial), the doubled limit is kept if the gradient
     * is below {@value}, because more calls then raise the throughput. The value is lower than {@link #DEPENDENT},
     * because the results of these trials vary less than the results of a step down.
     */
    private static final double DEPENDENT_FROM_LEAST = 0.25;

    /**
     * The target duration after a step down, as a fraction of the acceptable duration. The fraction is below 1, because
     * calls arrive at random times and their actual duration therefore varies.
     */
    private static final double AIM = 0.75;

    /** The minimum limit after a single reduction, as a fraction of the number of concurrent calls. */
    private static final double MAX_STEP_DOWN = 0.5;

    /**
     * Replaces {@link #MAX_STEP_DOWN} after a reduction that was right. A reduction was right if the calls became
     * faster, which shows that concurrent calls wait for each other.
     */
    private static final double MAX_KNOWN_STEP_DOWN = 0.2;

    /**
     * The maximum limit after a step down, as a fraction of the number of concurrent calls. The effect of a smaller
     * step could not be distinguished from random variation in the next measurement window.
     */
    private static final double MIN_STEP_DOWN = 0.7;

    private static final double SMALL_STEP_UP = 1.2;
    private static final double STEP_UP = 2;

    private static final double HARDLY_WAITING = 1.25;
    private static final double FOLLOW_DOWN = 0.5;
    private static final double FOLLOW_UP = 0.05;

    /**
     * The mean time of calls counts as changed if it differs by a factor of at least {@value}, which is four standard
     * errors of the mean time in a measurement window.
     */
    private static final double CHANGED = 1.5;

    /**
     * A tenant that floods the server is limited to the number of calls that keeps the server busy. This number of
     * calls is assumed to be at least 1/{@value} of the lowest limit.
     */
    private static final int MIN_ENOUGH = 4;

    /** The limit is raised only if calls use at least {@value} of it. */
    private static final double REACHED = 0.5;

    /**
     * The minimum limit while one tenant floods the server, as a multiple of the number of calls that keeps the server
     * busy.
     */
    private static final int OTHERS_TOO = 2;

    private static final int WINDOWS_HELD = 20;
    private static final int SURE_AFTER = 3;

    /** A change to the limit. Its effect is measured in the next measurement window. */
    private record Trial(double inside, double nanos, double perSecond, double goBackTo) {}

    private final int min;
    private final int max;
    private final BusyPoint busy;
    private double limit;
    private double usualNanos; // The usual duration of a call, or 0 if it is unknown.
    private @Nullable Trial trial;
    private boolean dependent; // True if the last step down has shown that calls wait for each other.
    // The number of consecutive steps down that did not make calls faster. Such steps show that calls do not wait for
    // each other.
    private int independent;
    private int held; // The number of measurement windows since the limit became constant.
    // The mean call duration in the first measurement window after the limit became constant, or 0 if unknown.
    private double heldNanos;

    /**
     * @param min the lowest limit; calls are never refused below this number
     * @param max the highest limit, which is also the initial limit
     */
    public GradientLimit(int min, int max) {
        if (min < 1 || max < min) {
            throw new IllegalArgumentException(
                    "an adaptive limit is between " + min + " and " + max + "; expected 1 or more, in order");
        }
        this.min = min;
        this.max = max;
        this.limit = max;
        this.busy = new BusyPoint(Math.max(1, min / MIN_ENOUGH));
    }

    @Override
    public int first() {
        return max;
    }

    @Override
    public String describe() {
        return "adaptive, " + min + " to " + max;
    }

    @Override
    public int next(Window seen) {
        if (seen.flooded() && usualNanos > 0) {
            endTrialOfMore();
            heldNanos = 0;
            usualNanos = busy.seenFlooded(seen, usualNanos);
            to(Math.max(limit, OTHERS_TOO * busy.calls()));
            return (int) limit;
        }
        if (seen.ended() == 0) {
            trial = null;
            to(max);
        } else if (!seen.queue()) {
            trial = null;
            dependent = false;
            heldNanos = 0;
            learn(seen.meanNanos(), FOLLOW_UP);
            to(limit * STEP_UP);
        } else if (!judgesTrialWrong(seen)) {
            learn(seen.meanNanos(), 0);
            adjust(seen);
        }
        busy.seenUnflooded(seen, seen.ended() == 0 ? 0 : usualNanos);
        return (int) limit;
    }

    @Override
    public int enough() {
        int calls = busy.calls();
        return calls == 0 ? (int) limit : Math.min((int) limit, calls);
    }

    /** Ends a trial of a higher limit, because its effect can no longer be measured. */
    private void endTrialOfMore() {
        if (trial != null && limit > trial.goBackTo()) {
            to(trial.goBackTo());
        }
        trial = null;
    }

    private void adjust(Window seen) {
        double ratio = (TOLERANCE * usualNanos + BEARABLE_NANOS) / seen.meanNanos();
        double inside = Math.min(limit, seen.inside());
        boolean hardlyWaiting = seen.meanNanos() <= HARDLY_WAITING * usualNanos;
        if (ratio >= 1 ? (dependent && !hardlyWaiting) || inside < REACHED * limit : inside <= min) {
            hold(seen, inside);
        } else if (ratio >= 1) {
            heldNanos = 0;
            to(limit * (hardlyWaiting ? STEP_UP : SMALL_STEP_UP));
        } else {
            heldNanos = 0;
            double largest = dependent ? MAX_KNOWN_STEP_DOWN : MAX_STEP_DOWN;
            double step = Math.max(largest, Math.min(MIN_STEP_DOWN, AIM * ratio));
            trial = new Trial(inside, seen.meanNanos(), seen.perSecond(), limit);
            to(inside * step);
        }
    }

    /**
     * Keeps the limit. With a lower limit, calls would not be faster. With a higher limit, the additional calls would
     * only wait. A higher limit is tried when the mean time of calls changes, or after twenty measurement windows.
     */
    private void hold(Window seen, double inside) {
        double known = heldNanos;
        if (known == 0) {
            held = 0;
            heldNanos = seen.meanNanos();
        } else if (++held >= WINDOWS_HELD || seen.meanNanos() > CHANGED * known || known > CHANGED * seen.meanNanos()) {
            heldNanos = 0;
            trial = new Trial(inside, seen.meanNanos(), seen.perSecond(), limit);
            to(limit * STEP_UP);
        }
    }

    /**
     * Decides whether to keep a changed limit. The decision depends on the effect of the change in the previous
     * measurement window.
     *
     * @return whether the new limit must stay unchanged for one window
     */
    private boolean judgesTrialWrong(Window seen) {
        Trial tried = trial;
        trial = null;
        if (tried == null) {
            return false;
        }
        double more = Math.min(limit, seen.inside()) / tried.inside();
        double byThroughput = gradient(more, more * tried.perSecond() / seen.perSecond());
        double byTime = gradient(more, seen.meanNanos() / tried.nanos());
        double gradient = (byThroughput + byTime) / 2;
        boolean up = limit > tried.goBackTo();
        if (gradient >= (up ? DEPENDENT_FROM_LEAST : DEPENDENT)) {
            independent = 0;
            dependent = !up;
            if (up) {
                to(tried.goBackTo());
            }
            return up;
        }
        dependent = false;
        if (++independent >= SURE_AFTER || up) {
            independent = 0;
            usualNanos = Math.max(usualNanos, seen.meanNanos());
        }
        if (!up) {
            to(tried.goBackTo());
        }
        return true;
    }

    private static double gradient(double more, double longer) {
        return more == 1 ? 1 : (longer - 1) / (more - 1);
    }

    private void learn(double nanos, double followUp) {
        if (usualNanos == 0) {
            usualNanos = followUp > 0 ? nanos : 0;
        } else {
            usualNanos += (nanos < usualNanos ? FOLLOW_DOWN : followUp) * (nanos - usualNanos);
        }
    }

    private void to(double wanted) {
        limit = Math.max(min, Math.min(max, wanted));
    }
}
