package tern.rpc.diagnosis.calls;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import tern.rpc.Phase;
import tern.rpc.metrics.CalledMethod;
import tern.rpc.pool.OutsideOperations;

/**
 * The current times of remote calls, by method. Calls made by threads that serve no call, such as executor threads, are
 * included, because ledgers do not record these calls. Not thread-safe: only the diagnosis thread uses it.
 */
public final class RemoteTimes {

    /** The weight of the last second in the mean of the current times. */
    private static final double WEIGHT = 0.3;

    private static final long RECENT_NANOS = TimeUnit.SECONDS.toNanos(10);

    private final Map<String, Series> methods = new HashMap<>();

    /** The calls to one method. */
    private static final class Series {
        private long calls;
        private long totalNanos;
        private double eachNanos = -1; // the weighted mean of the times; -1 before the first call
        private long lastNanos; // the end of the last second in which a call ended

        public void second(long allCalls, long allNanos, long now) {
            long more = allCalls - calls;
            if (more > 0) {
                double each = (double) (allNanos - totalNanos) / more;
                eachNanos = eachNanos < 0 ? each : eachNanos + WEIGHT * (each - eachNanos);
                lastNanos = now;
            }
            calls = allCalls;
            totalNanos = allNanos;
        }
    }

    /** Adds the calls that ended in the last second. */
    public void second(List<CalledMethod> called, long now) {
        for (CalledMethod method : called) {
            if (method.calls() > 0) {
                methods.computeIfAbsent(method.name(), name -> new Series())
                        .second(method.calls(), method.totalNanos(), now);
            }
        }
    }

    /**
     * Returns the mean current times of the methods that were called within the last 10 s. The result contains no
     * thread names.
     */
    public List<OutsideOperations.Timed> timed(long now) {
        List<OutsideOperations.Timed> timed = new ArrayList<>();
        methods.forEach((name, series) -> {
            if (series.eachNanos >= 0 && now - series.lastNanos <= RECENT_NANOS) {
                timed.add(new OutsideOperations.Timed(Phase.RPC, name, "", series.eachNanos));
            }
        });
        return timed;
    }
}
