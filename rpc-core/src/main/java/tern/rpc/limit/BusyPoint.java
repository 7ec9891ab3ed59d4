package tern.rpc.limit;

import org.jspecify.annotations.Nullable;
import tern.rpc.limit.Limit.Window;

/**
 * Finds the number of admitted calls that keeps a server busy. Additional calls would only wait. A tenant floods the
 * server if it sends most of the calls ({@link FairShares}). A flooding tenant is limited to this number of calls, so
 * that the calls from other tenants need not wait. A window is one measurement period of the {@link Limiter}.
 *
 * <p>By Little's law, x * u calls are in progress if x calls end per second and each takes time u without waiting. The
 * number is a quarter larger than x * u, so that the server stays busy while calls are passed from one thread to
 * another. The throughput x is measured. The usual time u was learned before the tenant began flooding the server, and
 * may be outdated. If u is too short, too few calls are admitted, the throughput x drops, and the product x * u drops
 * further. If u is too long, too many calls are admitted and wait for each other, and no shorter time is measured.
 * Every eighth window therefore tries a different number of admitted calls, alternately twice and half the current
 * number. If calls have become slower, the next window tries twice as many calls:
 * <ul>
 *   <li>If twice as many calls raise the throughput by at least 40 %, too few calls were admitted. Their mean time
 *       becomes the usual time, and the number is doubled again.
 *   <li>If half as many calls reach 85 % of the throughput or more, too many calls were admitted. The number is halved
 *       again.
 * </ul>
 *
 * <p>Used by one thread at a time. The constants are explained in docs/decisions/0020.
 */
final class BusyPoint {

    private static final double SPARE = 1.25;
    private static final double STEP = 2;

    /**
     * The doubled number of admitted calls is kept if it multiplied the throughput by at least {@value}. The factor is
     * about halfway between 1 (no gain) and 2 (twice the throughput). The distance to both values is larger than the
     * measurement error of a measurement window with a hundred calls.
     */
    private static final double MORE_IS_DONE = 1.4;

    private static final double AS_MUCH_IS_DONE = 0.85;

    /**
     * Calls count as slower if their mean time has risen by this factor or more. The factor corresponds to four
     * standard errors of the mean time in a measurement window.
     */
    private static final double LONGER = 1.5;

    private static final double FOLLOW_DOWN = 0.5;
    private static final int WINDOWS_HELD = 8;

    private enum Step {
        NONE,
        MORE,
        FEWER
    }

    private final int min;
    private double calls;
    private Step step = Step.NONE; // The change to the call count that is tried in the current measurement window.
    // The last measurement window before a different number of calls was tried; null if no different number is being
    // tried.
    private @Nullable Window before;
    private Step last = Step.FEWER; // The last change to the call count that was tried.
    private int held; // The number of consecutive measurement windows without a trial of a different number of calls.
    // The mean call duration in the first measurement window after a different number of calls was last tried, or 0 if
    // unknown.
    private double heldNanos;

    /** @param min the smallest number of calls to admit */
    BusyPoint(int min) {
        this.min = min;
    }

    /** Returns the number of calls that keeps the server busy, or 0 if it is unknown. */
    int calls() {
        return (int) Math.ceil(calls);
    }

    /**
     * Computes {@link #calls} from a measurement window in which no tenant flooded the server.
     *
     * @param usualNanos the usual duration of a call that does not wait for other calls, or 0 if unknown
     */
    void seenUnflooded(Window seen, double usualNanos) {
        step = Step.NONE;
        before = null;
        held = 0;
        heldNanos = 0;
        calls = usualNanos == 0 ? 0 : enough(seen, usualNanos);
    }

    /**
     * Computes {@link #calls} from a measurement window in which a flooding tenant was limited to the previous value of
     * {@link #calls}.
     *
     * @param usualNanos the assumed duration of a call that does not wait for other calls; not 0
     * @return the new assumed duration
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
     * Compares a measurement window's throughput with the previous throughput, and decides whether doubling or halving
     * the number of admitted calls was right.
     *
     * @return the change, if it was right and should be repeated; NONE if the change was wrong, or if there was no
     *     change
     */
    private Step judge(Window seen) {
        Window compared = before;
        if (compared == null) {
            return Step.NONE;
        }
        double throughput = seen.perSecond() / compared.perSecond();
        boolean right = step == Step.MORE ? throughput >= MORE_IS_DONE : throughput >= AS_MUCH_IS_DONE && calls > min;
        return right ? step : Step.NONE;
    }

    /** @return the change to the call count that the next measurement window should try; NONE for no change */
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
        return last == Step.MORE && calls > min ? Step.FEWER : Step.MORE;
    }

    private void tryNext(Step next, Window seen, double enough) {
        calls = switch (next) {
            case MORE -> STEP * Math.max(enough, inside(seen, seen.meanNanos()));
            case FEWER -> Math.max(min, enough / STEP);
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
        return Math.max(min, SPARE * inside(seen, usualNanos));
    }

    private static double inside(Window seen, double nanos) {
        return seen.perSecond() * nanos / 1e9;
    }
}
