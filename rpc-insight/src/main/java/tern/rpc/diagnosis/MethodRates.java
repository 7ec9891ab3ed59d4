package tern.rpc.diagnosis;

import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import tern.rpc.diagnosis.account.EndedCall;
import tern.rpc.diagnosis.calls.Baseline;
import tern.rpc.diagnosis.calls.CallRecords.Sums;
import tern.rpc.diagnosis.calls.MethodRate;

/** Learns how often each method is usually called, and compares the current number of calls with the usual number. */
final class MethodRates {

    /**
     * A burst of calls is assumed to begin with the first second in which the number of calls is at least {@value}
     * times the usual number.
     */
    private static final double ONSET = 1.6;

    /**
     * The period for comparison begins this long before a miss and ends {@link #TO_NANOS} before it. The gap excludes
     * the first late calls, which end shortly before the miss begins.
     */
    private static final long FROM_NANOS = TimeUnit.SECONDS.toNanos(25);

    private static final long TO_NANOS = TimeUnit.SECONDS.toNanos(6);

    private final Baseline usual;

    // The time when the current burst of calls to each method began. The time is stored here, because a burst may last
    // longer than the minute for which counters are kept.
    private final Map<String, Long> onsets = new HashMap<>();

    // The usual number of calls per second by method and caller address. An address is removed when CallRecords no
    // longer counts its calls.
    private final Map<String, Map<String, Baseline.Figure>> callers = new HashMap<>();

    // The calls per second by method in the period before the current miss. The rates are stored here, because a miss
    // may
    // last longer than the minute for which counters are kept.
    private final Map<String, Double> beforeMiss = new HashMap<>();
    private long readFor; // the beginning of the miss that the rates in beforeMiss belong to

    MethodRates(Baseline usual) {
        this.usual = usual;
    }

    /** Updates the usual numbers of calls from a second in which calls met the target. */
    void learn(CounterSnapshot before, CounterSnapshot now) {
        double seconds = seconds(before, now);
        now.methods().forEach((method, sums) -> {
            Sums since = sums.since(before.methods().getOrDefault(method, Sums.NONE));
            usual.learn(key(method), since.sent() / seconds);
            Map<String, Baseline.Figure> known = callers.computeIfAbsent(method, unknown -> new HashMap<>());
            known.keySet().retainAll(since.callers().keySet());
            since.callers()
                    .forEach((caller, sampled) -> known.computeIfAbsent(caller, unknown -> new Baseline.Figure())
                            .learn(EndedCall.ONE_IN * sampled / seconds));
        });
    }

    private static double seconds(CounterSnapshot from, CounterSnapshot to) {
        return Math.max(1, to.atNanos() - from.atNanos()) / 1e9;
    }

    private static String key(String method) {
        return "calls of " + method;
    }

    /**
     * Returns the call rate of each method.
     *
     * @param seconds the counters at the end of each of the last seconds, the oldest first
     * @param limits for each method whose limit has refused calls, the place where the limit is set
     * @param missedNanos the time since calls began to miss the latency target
     */
    List<MethodRate> between(
            CounterSnapshot start,
            CounterSnapshot end,
            Deque<CounterSnapshot> seconds,
            Map<String, String> limits,
            long missedNanos) {
        readBeforeMiss(seconds, end.atNanos() - missedNanos);
        List<MethodRate> rates = new ArrayList<>();
        double length = seconds(start, end);
        end.methods().forEach((method, sums) -> {
            Sums since = sums.since(start.methods().getOrDefault(method, Sums.NONE));
            // A usual rate that was learned only from the first seconds of the process is ignored: most processes get
            // their full load later.
            double usually = usual.isSettled(key(method)) ? usual.figure(key(method)) : -1;
            double perSecond = since.sent() / length;
            rates.add(new MethodRate(
                    method,
                    perSecond,
                    usually,
                    since(method, usually, seconds),
                    caller(method, since, length),
                    since.refused() / length,
                    limits.get(method),
                    length,
                    beforeMiss.isEmpty() ? -1 : beforeMiss.getOrDefault(method, 0.0)));
        });
        return rates;
    }

    /**
     * Reads the rates in the period before the miss. Keeps the known rates if this period is no longer recorded.
     *
     * @param missNanos the time when calls began to miss the latency target
     */
    private void readBeforeMiss(Deque<CounterSnapshot> seconds, long missNanos) {
        CounterSnapshot from = null;
        CounterSnapshot to = null;
        for (CounterSnapshot second : seconds) {
            long before = missNanos - second.atNanos();
            from = before >= FROM_NANOS ? second : from;
            to = before >= TO_NANOS ? second : to;
        }
        if (missNanos != readFor) {
            beforeMiss.clear();
            readFor = missNanos;
        }
        if (from != null && to != null && beforeMiss.isEmpty()) {
            double length = seconds(from, to);
            to.methodsSince(from).forEach((method, sums) -> beforeMiss.put(method, sums.sent() / length));
        }
    }

    /**
     * Returns the duration of the method's current burst: the period in which the method is called much more often
     * than usual.
     */
    private long since(String method, double usually, Deque<CounterSnapshot> seconds) {
        long measured = inLastSeconds(method, usually, seconds);
        CounterSnapshot first = seconds.peekFirst();
        CounterSnapshot last = seconds.peekLast();
        if (measured == 0 || first == null || last == null) {
            onsets.remove(method);
            return 0;
        }
        long onset = last.atNanos() - measured;
        Long known = onsets.get(method);
        onset = known != null && onset <= first.atNanos() ? known : onset;
        onsets.put(method, onset);
        return last.atNanos() - onset;
    }

    /** Returns the length of the latest period in which every second had many more calls than usual. */
    private static long inLastSeconds(String method, double usually, Deque<CounterSnapshot> seconds) {
        Iterator<CounterSnapshot> newest = seconds.descendingIterator();
        CounterSnapshot next = newest.hasNext() ? newest.next() : null;
        long end = next == null ? 0 : next.atNanos();
        long begun = end;
        while (next != null && newest.hasNext()) {
            CounterSnapshot before = newest.next();
            double perSecond = next.methods()
                            .getOrDefault(method, Sums.NONE)
                            .since(before.methods().getOrDefault(method, Sums.NONE))
                            .sent()
                    / seconds(before, next);
            if (usually <= 0 || perSecond < ONSET * usually) {
                break;
            }
            begun = before.atNanos();
            next = before;
        }
        return end - begun;
    }

    /** Returns the caller whose number of calls has grown the most; null if no caller is known. */
    private MethodRate.@Nullable Caller caller(String method, Sums since, double length) {
        MethodRate.Caller largest = null;
        for (Map.Entry<String, Long> entry : since.callers().entrySet()) {
            Baseline.Figure known = callers.getOrDefault(method, Map.of()).get(entry.getKey());
            double usually = known == null ? 0 : known.value;
            MethodRate.Caller caller =
                    new MethodRate.Caller(entry.getKey(), EndedCall.ONE_IN * entry.getValue() / length, usually);
            boolean hasMore = largest == null || caller.perSecond() - usually > largest.perSecond() - largest.usual();
            largest = hasMore ? caller : largest;
        }
        return largest;
    }
}
