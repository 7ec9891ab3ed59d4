package tern.rpc.diagnosis.excess;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;
import tern.rpc.diagnosis.account.Times;
import tern.rpc.diagnosis.calls.MethodRate;

/**
 * Finds the method that is called several times as often as usual, and whose additional calls use a large part of the
 * shared resources. Each call is weighted with the usual time of its method, because calls to different methods may
 * take very different times.
 */
public final class MoreCalls {

    /**
     * Additional calls can be the cause only if the current number of calls is at least {@value} times the usual
     * number. Both numbers are weighted with the usual times of the calls.
     */
    private static final double LOAD = 1.8;

    private static final double HALF = 0.5;

    /**
     * The maximum time from the first late calls to the beginning of the additional calls. Additional calls that begin
     * later are assumed to be retries of late calls.
     */
    private static final double MAX_DELAY_NANOS = 3e9;

    /**
     * A few additional calls may be retries, one for each late call. Such calls are therefore a cause only if they
     * began long enough before the miss. A miss begins a few seconds after calls have become late.
     */
    private static final double MIN_LEAD_NANOS = 2e9;

    private final Evidence evidence;
    private final ExcessTime excess;

    public MoreCalls(Evidence evidence, ExcessTime excess) {
        this.evidence = evidence;
        this.excess = excess;
    }

    /**
     * Returns the method whose additional calls cause the most additional work. Returns null if there is none, or if
     * the additional calls began only after calls had become late.
     */
    @Nullable
    public MethodRate method() {
        MethodRate largest = null;
        double usually = 0;
        double now = 0;
        double additional = 0;
        for (MethodRate rate : evidence.rates()) {
            double each = nanosOf(rate.method());
            usually += Math.max(0, rate.usual()) * each;
            now += rate.perSecond() * each;
            double more = rate.isHigh() ? (rate.perSecond() - rate.usual()) * each : 0;
            if (more > additional) {
                additional = more;
                largest = rate;
            }
        }
        boolean isMuch = usually > 0 && now >= LOAD * usually && additional >= HALF * (now - usually);
        return largest != null && isMuch && beganFirst(largest) ? largest : null;
    }

    /**
     * Returns whether the additional calls began shortly before calls became late. Otherwise they may be retries, or
     * the same number of calls may have met the target before.
     */
    private boolean beganFirst(MethodRate rate) {
        if (MethodRate.wereAsMany(List.of(rate), rate.perSecond()) || rate.isLasting()) {
            return false;
        }
        double maxDelay = rate.factor() < MethodRate.MORE ? -MIN_LEAD_NANOS : MAX_DELAY_NANOS;
        return evidence.missedNanos() - rate.sinceNanos() <= maxDelay;
    }

    /** Returns the method whose own limit refuses the most calls; null if the limits of methods refuse none. */
    @Nullable
    public MethodRate limited() {
        return evidence.rates().stream()
                .filter(rate -> rate.refusedPerSecond() > 0)
                .max(Comparator.comparingDouble(MethodRate::refusedPerSecond))
                .orElse(null);
    }

    /**
     * Returns the method whose additional calls make the limit of a method refuse calls. The result is the limited
     * method itself, or a different method whose calls make the calls to the limited method late. Returns null if there
     * is no such method.
     *
     * @param limited the limited method; null if it is unknown
     */
    @Nullable
    public MethodRate behind(@Nullable MethodRate limited) {
        if (limited == null) {
            return method();
        }
        if (limited.isHigh() && beganFirst(limited)) {
            return limited;
        }
        MethodRate other = method();
        return other != null && excess.badByMethod().containsKey(limited.method()) ? other : null;
    }

    /** Returns the usual time of a call to the given method; 0 if it is unknown. */
    private double nanosOf(String method) {
        Times usual = excess.usualOf(method);
        return usual == null ? 0 : usual.sum();
    }

    /** Returns the evidence that the method is called more often, with its callers, one fact per short line. */
    public static List<String> facts(MethodRate rate) {
        List<String> facts = new ArrayList<>();
        facts.add(String.format(
                Locale.ROOT,
                "method   %s: %.0f calls/s, usually %.0f, since %d s",
                rate.method(),
                rate.perSecond(),
                rate.usual(),
                rate.sinceNanos() / 1_000_000_000L));
        MethodRate.Caller caller = rate.mainCaller();
        if (caller != null) {
            facts.add(String.format(
                    Locale.ROOT,
                    "caller   %s: about %.0f calls/s, usually %.0f",
                    caller.address(),
                    caller.perSecond(),
                    caller.usual()));
        }
        return facts;
    }

    private static String times(double factor) {
        return String.format(Locale.ROOT, factor < 2.5 ? "%.1f" : "%.0f", factor);
    }

    /** Returns the advice for the method's callers. */
    public static String change(MethodRate rate) {
        MethodRate.Caller caller = rate.mainCaller();
        String from = caller != null ? "the caller " + caller.address() + " sends" : "callers send";
        return from + " " + times(rate.factor()) + " times the usual calls of " + rate.method()
                + ": limit the calls there, cache the results, or add an instance of this server";
    }
}
