package tern.rpc.metrics;

import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;
import tern.rpc.MethodDescriptor;
import tern.rpc.RpcException;
import tern.rpc.ServiceKey;
import tern.rpc.StatusCode;

/**
 * Counts and times of the calls to one method, on the client or on the server, since the start, over all protocols
 * and outcomes. Streams are not counted, because the application chooses how long they last. The difference between two
 * snapshots covers the time between them. A call increments at most six counters. The data of the last minute takes
 * about 8 KB, which is allocated on the first call. Thread-safe.
 */
public final class MethodCalls {

    /** The binary logarithm of the number of buckets per doubling: 2^3 = 8. A percentile is at most 12.5 % too high. */
    private static final int PRECISION_BITS = 3;

    /** The buckets cover times up to about an hour. */
    private static final int BUCKETS = 32 << PRECISION_BITS;

    private final String service;
    private final String simpleName;
    private final String method;
    private final @Nullable Duration timeout;
    private final int attempts;
    private final AtomicLongArray times = new AtomicLongArray(BUCKETS);
    private final LongAdder nanos = new LongAdder();
    private final LongAdder timeouts = new LongAdder();
    private final LongAdder retries = new LongAdder();
    private final MethodMinute minute;

    MethodCalls(
            ServiceKey service, MethodDescriptor method, @Nullable Duration timeout, int attempts, long targetNanos) {
        this.service = service.toString();
        this.simpleName = method.service().simpleName();
        this.method = method.name();
        this.timeout = timeout;
        this.attempts = attempts;
        this.minute = new MethodMinute(targetNanos);
    }

    /**
     * @param failed whether the failure is an exception that the method does not declare
     * @param second the current second on the clock that times the calls
     */
    void ended(@Nullable Throwable failure, long tookNanos, boolean failed, long second) {
        minute.ended(tookNanos, failed, second);
        times.incrementAndGet(Buckets.of(TimeUnit.NANOSECONDS.toMicros(tookNanos), PRECISION_BITS, BUCKETS));
        nanos.add(tookNanos);
        if (failure instanceof RpcException rpc && rpc.code() == StatusCode.DEADLINE_EXCEEDED) {
            timeouts.increment();
        }
    }

    void retried() {
        retries.increment();
    }

    /** Returns the key of the service in the form of {@link ServiceKey#toString()}. */
    public String service() {
        return service;
    }

    /** Returns the simple interface name, which is also the name of the service in properties. */
    public String simpleName() {
        return simpleName;
    }

    public String method() {
        return method;
    }

    /**
     * Returns the timeout of a call, including all attempts, or null if the caller sets it or if there is no timeout.
     */
    public @Nullable Duration timeout() {
        return timeout;
    }

    /** Returns the maximum number of attempts for a call if the method may have run in an earlier attempt. */
    public int attempts() {
        return attempts;
    }

    /**
     * Returns the calls in the last 60 to 70 s, or null if there were none.
     *
     * @param second the current second on the clock that times the calls
     */
    public LatencyWindow.@Nullable Point lastMinute(long second) {
        return minute.sum(second);
    }

    /** Returns a snapshot of the counts and times since the start. */
    public Sums sums() {
        long[] counts = new long[BUCKETS];
        for (int i = 0; i < BUCKETS; i++) {
            counts[i] = times.get(i);
        }
        return new Sums(counts, nanos.sum(), timeouts.sum(), retries.sum());
    }

    /** A snapshot of the counts and times of calls. Immutable. */
    public static final class Sums {

        private final long[] times;
        private final long nanos;
        private final long timeouts;
        private final long retries;
        private final long calls;

        private Sums(long[] times, long nanos, long timeouts, long retries) {
            this.times = times;
            this.nanos = nanos;
            this.timeouts = timeouts;
            this.retries = retries;
            long all = 0;
            for (long count : times) {
                all += count;
            }
            this.calls = all;
        }

        /** Returns the difference between this snapshot and an earlier one of the same method. */
        public Sums since(Sums earlier) {
            long[] counts = times.clone();
            for (int i = 0; i < counts.length; i++) {
                counts[i] -= earlier.times[i];
            }
            return new Sums(counts, nanos - earlier.nanos, timeouts - earlier.timeouts, retries - earlier.retries);
        }

        public long calls() {
            return calls;
        }

        /** Returns the number of calls that failed because their deadline passed. */
        public long timeouts() {
            return timeouts;
        }

        /** Returns the number of additional attempts, without the first attempt of each call. */
        public long retries() {
            return retries;
        }

        /** Returns the mean duration of a call, or zero if there were no calls. */
        public Duration mean() {
            return calls == 0 ? Duration.ZERO : Duration.ofNanos(nanos / calls);
        }

        /**
         * Returns the 99th percentile of the durations of calls, which is at most 12.5 % too high, or zero if there
         * were no calls.
         */
        public Duration p99() {
            long micros = Buckets.percentile(times, calls, 0.99, PRECISION_BITS);
            return Duration.ofNanos(TimeUnit.MICROSECONDS.toNanos(micros));
        }
    }
}
