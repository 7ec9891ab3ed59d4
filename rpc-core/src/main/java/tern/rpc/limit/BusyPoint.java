package tern.rpc.limit;

import org.jspecify.annotations.Nullable;
import tern.rpc.limit.Limit.Window;

/**
 * Finds how many calls inside keep a server busy. More of them only wait; and where one tenant floods, the others wait with
 * his.
 *
 * <p>By Little's law x calls a second that take the time u each when none waits are x * u calls inside; a quarter more
 * leaves nothing idle between two of their steps. The throughput x is measured. The usual time u was learnt before the
 * flood, and may be wrong by now: too short, and too few calls are let in, so that the throughput falls and they become
 * fewer still; too long, and they wait for each other, so that it is never seen shorter. So every eighth window tries, in
 * turn, twice as many and half as many, and twice as many at once when times have become longer:
 *
 * <ul>
 *   <li>Twice as many raise the throughput by two fifths or more: they were too few. The time that they take is the usual
 *       one, and twice as many again are tried.
 *   <li>Half as many do nearly as much, 85 % or more: they were too many. The same downwards.
 * </ul>
 *
 * <p>Used by one thread at a time. Constants: docs/decisions/0020.
 */
final class BusyPoint {

    private static final double SPARE = 1.25;
    private static final double STEP = 2;

    /** Between nothing more and all that twice as many can do, by as much as a window of a hundred calls is wrong. */
    private static final double MORE_IS_DONE = 1.4;

    private static final double AS_MUCH_IS_DONE = 0.85;

    /** Four standard errors of the mean time of a window. */
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
    private Step step = Step.NONE; // that is tried in the present window
    private @Nullable Window before; // the window before that step
    private Step last = Step.FEWER; // that was tried
    private int held; // windows since, without a step
    private double heldNanos; // what calls took in the first of them; 0: there was none

    /** @param least never less */
    BusyPoint(int least) {
        this.least = least;
    }

    /** How many calls inside are enough; 0 if that is not known. */
    int calls() {
        return (int) Math.ceil(calls);
    }

    /** A window is over in which nobody was held back; calls that do not wait take so long, 0 if that is not known. */
    void seenUnflooded(Window seen, double usualNanos) {
        step = Step.NONE;
        before = null;
        held = 0;
        heldNanos = 0;
        calls = usualNanos == 0 ? 0 : enough(seen, usualNanos);
    }

    /**
     * A window is over in which a tenant that floods was held to {@link #calls}.
     *
     * @param usualNanos what calls that do not wait take, as far as is known; not 0
     * @return the same, as far as is known now
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

    /** @return the step that was tried, if it is to be tried again, since it was right */
    private Step judge(Window seen) {
        Window compared = before;
        if (compared == null) {
            return Step.NONE;
        }
        double throughput = seen.perSecond() / compared.perSecond();
        boolean right = step == Step.MORE ? throughput >= MORE_IS_DONE : throughput >= AS_MUCH_IS_DONE && calls > least;
        return right ? step : Step.NONE;
    }

    /** @return the step that it is time for */
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
