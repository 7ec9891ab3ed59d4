package tern.rpc.limit;

import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Finds how many calls at once a service can use, by what more of them do to each other.
 *
 * <p>By Little's law (J. Little, 1961) n calls inside that take the time r each are a throughput of n / r. While calls do
 * not wait for each other, more of them raise the throughput and leave r as it is. Where they share something that is
 * used up, processors or a pool, the throughput stays and r grows as n does: all that more calls bring is waiting. Which
 * of the two it is, is told by the gradient between two stretches of time with different n:
 *
 * <pre>gradient = (r' / r - 1) / (n' / n - 1)      0: calls are independent      1: they only wait for each other</pre>
 *
 * <p>Both are computed, with r as the mean time t of calls, and as n by the throughput, and the mean of both counts: while
 * a load grows the former lags behind for calls that wait for each other, and the latter for those that do not.
 *
 * <p>The limit changes once per window:
 *
 * <ul>
 *   <li>No queue: the limit stands in nobody's way. The mean time t is learnt as the usual time u, and the limit doubles.
 *   <li>A queue, and t at most s = 2u + 25 ms: the limit grows by a fifth, or doubles where t is at most 1.25 u.
 *   <li>A queue, and t more than s: the limit shrinks to 0.75 n * s / t, by 30 to 50 %, and by up to 80 % if the step
 *       before was right. The next window tells whether this one was. A gradient of less than 0.5 says that calls
 * became slow
 *       for a reason of their own, such as a slow dependency or a new kind of call: the limit goes back to n. When it
 *       says so three times, the t that was measured is the usual time from here on.
 *   <li>After a step down that was right the limit stays, since more would only wait, and so it does at its minimum. It
 *       is doubled for a window, to see the gradient from there, when t has become half as much again, or that much
 *       less, and every twentieth window. The gradient has to be less than 0.25 for it to be left there.
 *   <li>Calls hang: what was found out no longer holds, and the limit begins anew with the most.
 * </ul>
 *
 * <p>u follows shorter times at once by half of the difference, and longer ones, without a queue, by a twentieth. A
 * limiter that starts under load knows no u and begins with such a step.
 *
 * <p>So a limit shrinks only where there is a queue and calls take longer than they used to, and stays shrunk only where
 * that cost no throughput. Comparing two levels of concurrency instead of trusting the shortest time ever seen is what
 * hill climbing in thread pools does (Hellerstein, Morrison, Eilebrecht: Applying Control Theory in the Real World,
 * 2010); shrinking by the ratio of times is what TCP Vegas and limits derived from it do. Constants: docs/decisions/0016.
 *
 * <p>Used by one thread at a time.
 */
public final class GradientLimit implements Limit {

    /** How many times the usual time calls may take at the limit: as long again for waiting as for being served. */
    private static final double TOLERANCE = 2;

    /**
     * Calls may take this much longer on top. Hundreds of quick calls at once are no overload while each of them has its
     * turn within milliseconds. The value is half of the longest wait in the queue.
     */
    private static final double BEARABLE_NANOS = TimeUnit.MILLISECONDS.toNanos(25);

    /** Below it, more calls are more throughput. */
    private static final double DEPENDENT = 0.5;

    /** Where the step is larger, less can be chance. */
    private static final double DEPENDENT_FROM_LEAST = 0.25;

    /** Below s, as the limit is left there: arrivals by chance are above what is aimed at. */
    private static final double AIM = 0.75;

    private static final double LARGEST_STEP_DOWN = 0.5;

    /** For a step that follows one that was right. */
    private static final double LARGEST_KNOWN_STEP_DOWN = 0.2;

    /** A smaller step could not be told from noise in the next window. */
    private static final double SMALLEST_STEP_DOWN = 0.7;

    private static final double SMALL_STEP_UP = 1.2;
    private static final double STEP_UP = 2;

    private static final double HARDLY_WAITING = 1.25;
    private static final double FOLLOW_DOWN = 0.5;
    private static final double FOLLOW_UP = 0.05;

    /** Four standard errors of the mean time of a window. */
    private static final double CHANGED = 1.5;

    /** Of the least limit one in so many calls is enough in any case. */
    private static final int MIN_ENOUGH = 4;

    /** Where less of the limit is used, more of it would change nothing. */
    private static final double REACHED = 0.5;

    /** While one floods, others get as many places. */
    private static final int OTHERS_TOO = 2;

    private static final int WINDOWS_HELD = 20;
    private static final int SURE_AFTER = 3;

    /** A change of the limit whose effect the next window shows. */
    private record Trial(double inside, double nanos, double perSecond, double goBackTo) {}

    private final int least;
    private final int most;
    private final BusyPoint busy;
    private double limit;
    private double usualNanos; // 0: not known
    private @Nullable Trial trial;
    private boolean dependent; // the last step down was right
    private int independent; // trials that said so, since one that did not
    private int held; // windows in which the limit was left as it is
    private double heldNanos; // what calls took in the first of them; 0: it is not held

    /**
     * @param least never less; calls that are fewer are never refused
     * @param most never more, and what it begins with
     */
    public GradientLimit(int least, int most) {
        if (least < 1 || most < least) {
            throw new IllegalArgumentException(
                    "an adaptive limit is between " + least + " and " + most + "; expected 1 or more, in order");
        }
        this.least = least;
        this.most = most;
        this.limit = most;
        this.busy = new BusyPoint(Math.max(1, least / MIN_ENOUGH));
    }

    @Override
    public int first() {
        return most;
    }

    @Override
    public String describe() {
        return "adaptive, " + least + " to " + most;
    }

    /** The usual time of a call in nanoseconds; 0 before it is known. */
    double usualNanos() {
        return usualNanos;
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
            to(most);
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

    /** What more would do cannot be seen now. */
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
        if (ratio >= 1 ? (dependent && !hardlyWaiting) || inside < REACHED * limit : inside <= least) {
            hold(seen, inside);
        } else if (ratio >= 1) {
            heldNanos = 0;
            to(limit * (hardlyWaiting ? STEP_UP : SMALL_STEP_UP));
        } else {
            heldNanos = 0;
            double largest = dependent ? LARGEST_KNOWN_STEP_DOWN : LARGEST_STEP_DOWN;
            double step = Math.max(largest, Math.min(SMALLEST_STEP_DOWN, AIM * ratio));
            trial = new Trial(inside, seen.meanNanos(), seen.perSecond(), limit);
            to(inside * step);
        }
    }

    /** Less would not help, and more would only wait, as far as is known: which is looked at again when times change. */
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

    /** @return whether the limit was put back, or left where it helps, and stays there for a window */
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
        limit = Math.max(least, Math.min(most, wanted));
    }
}
