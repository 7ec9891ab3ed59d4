package tern.rpc.diagnosis.calls;

import java.util.Collection;
import org.jspecify.annotations.Nullable;

/**
 * How often a method is called.
 *
 * @param perSecond the calls per second in the observed period
 * @param usual the usual number of calls per second; -1 if unknown
 * @param sinceNanos the duration of the current burst, in which the method is called much more often than usual; 0 if
 *     there is no burst
 * @param caller the address with the most additional calls, even if these are few; null if unknown
 * @param refusedPerSecond the number of these calls per second that were refused by the method's limit
 * @param limit the place where the method's limit is set; null if the limit refused no call
 * @param seconds the length of the observed period in seconds
 * @param beforeMiss the calls per second in the 20 seconds before calls became late; -1 if unknown
 */
public record MethodRate(
        String method,
        double perSecond,
        double usual,
        long sinceNanos,
        @Nullable Caller caller,
        double refusedPerSecond,
        @Nullable String limit,
        double seconds,
        double beforeMiss) {

    /**
     * A method counts as called more often than usual if the number of its calls is at least {@value} times the usual
     * number.
     */
    public static final double MORE = 3;

    /**
     * If nearly all additional calls come from one caller, a method counts as called more often than usual if the
     * number of its calls is at least {@value} times the usual number.
     */
    private static final double MORE_OF_ONE = 1.8;

    /**
     * Two numbers of events are assumed to differ not only by chance if twice the difference of their square roots is
     * at least {@value}. For independent events, the standard deviation of this difference is about 1.2, because the
     * usual number is known only roughly. Many numbers are compared in each second, so the limit is nearly four
     * standard deviations.
     */
    private static final double SIGNIFICANT = 4.5;

    /**
     * The number of calls is not the cause if the call rate before the miss was at least {@value} of the current rate.
     * Calls still met the target at that time.
     */
    private static final double AS_MANY = 0.8;

    /** A rate that has lasted for {@value} ns is usual, even if no usual rate was learned in the meantime. */
    private static final double LASTING_NANOS = 600e9;

    private static final double NEARLY_ALL = 0.8;
    private static final double HALF = 0.5;

    /**
     * A caller of the method. The numbers of calls are estimates, because only some calls are counted by caller.
     *
     * @param usual the usual number of calls per second
     */
    public record Caller(String address, double perSecond, double usual) {}

    /**
     * Returns whether two numbers of events differ so much that chance does not explain the difference. If a method is
     * called once a second, for example, twice or half the usual number of calls within ten seconds is no surprise.
     */
    public static boolean isSignificant(double events, double usualEvents) {
        return 2 * Math.abs(Math.sqrt(events) - Math.sqrt(usualEvents)) >= SIGNIFICANT;
    }

    /** Returns whether the method has been called at the present rate for so long that this rate is usual. */
    public boolean isLasting() {
        return sinceNanos >= LASTING_NANOS;
    }

    public boolean isHigh() {
        return usual > 0
                && isSignificant(perSecond * seconds, usual * seconds)
                && (perSecond >= MORE * usual || (perSecond >= MORE_OF_ONE * usual && isOfCaller(NEARLY_ALL)));
    }

    /**
     * Returns whether at least the given share of the additional calls comes from one caller: the caller with the most
     * additional calls.
     */
    private boolean isOfCaller(double share) {
        return caller != null && caller.perSecond() - caller.usual() >= share * (perSecond - usual);
    }

    /**
     * Returns whether calls still met the target at about the current call rate. If so, the number of calls is not the
     * reason why calls are late.
     *
     * @param rates the rates of several methods, or of one
     * @param perSecond the current number of calls of these methods per second, including refused calls
     */
    public static boolean wereAsMany(Collection<MethodRate> rates, double perSecond) {
        double before = rates.stream().mapToDouble(MethodRate::beforeMiss).sum();
        return rates.stream().allMatch(rate -> rate.beforeMiss >= 0) && perSecond > 0 && before >= AS_MANY * perSecond;
    }

    /** Returns the caller that makes at least half of the additional calls; null if there is none. */
    @Nullable
    public Caller mainCaller() {
        return isHigh() && isOfCaller(HALF) ? caller : null;
    }

    public double factor() {
        return perSecond / usual;
    }
}
