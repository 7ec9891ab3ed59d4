package tern.rpc.limit;

import org.jspecify.annotations.Nullable;
import tern.rpc.limit.Limit.Window;

/**
 * Finds the number of admitted calls that keeps a server busy. Further calls would only wait. If one tenant floods, the
 * calls of other tenants would wait too.
 *
 * <p>By Little's law, x calls per second that each take the time u without waiting are x * u calls inside. A quarter
 * more keeps the server busy while calls change threads. The throughput x is measured. The usual time u was learned
 * before the flood and may no longer be right. If u is too short, too few calls are admitted, the throughput falls, and
 * the number falls further. If u is too long, calls wait for each other, and no shorter time is ever seen. Therefore
 * every eighth window tries another number: alternately twice as many and half as many calls. If times have become
 * longer, it tries twice as many at once:
 * <ul>
 * <li>If twice as many calls raise the throughput by two fifths or more, there were too few. Their time becomes the
 * usual time, and the number is doubled again.
 * <li>If half as many calls reach 85 % of the throughput or more, there were too many. The number is halved again.
 * </ul>
 *
 * <p>Used by one thread at a time. Constants: docs/decisions/0020.
 */
final class BusyPoint {

    private static final double SPARE = 1.25;
    private static final double STEP = 2;

    /**
     * A throughput that rises by this factor has improved. The factor lies halfway between no gain and a doubled
     * throughput. Its distance to both exceeds the error of a window of a hundred calls.
     */
    private static final double MORE_IS_DONE = 1.4;

    private static final double AS_MUCH_IS_DONE = 0.85;

    /**
     * Times have become longer if they rise by this factor, which is four standard errors of the mean time of a window.
     */
    private static final double LONGER = 1.5;

    private static final double FOLLOW_DOWN = 0.5;
    private static final int WINDOWS_HELD = 8;

    private enum Step {
        NONE,
        MORE,
        FEWER
    }

    private final int least;
    private double calls;
    private Step step = Step.NONE; // step tried in the current window
    private @Nullable Window before; // the window before this step
    private Step last = Step.FEWER; // the last step that was tried
    private int held; // number of windows without a step since then
    private double heldNanos; // mean time of calls in the first of these windows; 0 if unknown

    /** @param least the lowest result */
    BusyPoint(int least) {
        this.least = least;
    }

    /** The number of calls that keeps the server busy; 0 if unknown. */
    int calls() {
        return (int) Math.ceil(calls);
    }

    /**
     * Evaluates a window without a flood.
     *
     * @param usualNanos the time of calls that do not wait; 0 if unknown
     */
    void seenUnflooded(Window seen, double usualNanos) {
        step = Step.NONE;
        before = null;
        held = 0;
        heldNanos = 0;
        calls = usualNanos == 0 ? 0 : enough(seen, usualNanos);
    }

    /**
     * Evaluates a window in which a flooding tenant was limited to {@link #calls}.
     *
     * @param usualNanos the assumed time of calls that do not wait; not 0
     * @return the new assumption
     */
    double seenFlooded(Window seen, double usualNanos) {
        Step right = judge(seen);
        double shorter = Math.min(0, seen.meanNanos() - usualNanos);
        double usual = switch (right) {
            case MORE -> Math.max(usualNanos, seen.meanNanos());
            case FEWER -> usualNanos + shorter;
            case NONE -> usualNanos + FOLLOW_DOWN * shorter;
        };
        tryNext(right == Step.NONE ? due(seen.meanNanos()) : right, seen, enough(seen, usual));
        return usual;
    }

    /**
     * @return the tried step if it was right and is to be repeated
     */
    private Step judge(Window seen) {
        Window compared = before;
        if (compared == null) {
            return Step.NONE;
        }
        double throughput = seen.perSecond() / compared.perSecond();
        boolean right = step == Step.MORE ? throughput >= MORE_IS_DONE : throughput >= AS_MUCH_IS_DONE && calls > least;
        return right ? step : Step.NONE;
    }

    /** @return the step to try next */
    private Step due(double nanos) {
        if (heldNanos == 0) {
            heldNanos = nanos;
        }
        if (nanos > LONGER * heldNanos) {
            return Step.MORE;
        }
        if (++held < WINDOWS_HELD) {
            return Step.NONE;
        }
        return last == Step.MORE && calls > least ? Step.FEWER : Step.MORE;
    }

    private void tryNext(Step next, Window seen, double enough) {
        calls = switch (next) {
            case MORE -> STEP * Math.max(enough, inside(seen, seen.meanNanos()));
            case FEWER -> Math.max(least, enough / STEP);
            case NONE -> enough;
        };
        step = next;
        before = next == Step.NONE ? null : seen;
        if (next != Step.NONE) {
            last = next;
            held = 0;
            heldNanos = 0;
        }
    }

    private double enough(Window seen, double usualNanos) {
        return Math.max(least, SPARE * inside(seen, usualNanos));
    }

    private static double inside(Window seen, double nanos) {
        return seen.perSecond() * nanos / 1e9;
    }
}
