package tern.rpc.diagnosis.calls;

import java.util.EnumMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import tern.rpc.CallLedger;
import tern.rpc.Phase;

/** Remembers when calls last ended without a failure after they had used a database or Redis. Thread-safe. */
final class LastAnswers {

    private final LastTime sql = new LastTime();
    private final LastTime redis = new LastTime();

    /**
     * The time of the last event of one kind. The time may be up to {@value #STEP_MILLIS} ms too early. Thread-safe.
     */
    static final class LastTime {

        // The minimum interval between two writes. Frequent writes by many threads to the same memory are slow.
        private static final long STEP_MILLIS = 10;
        private static final long STEP_NANOS = TimeUnit.MILLISECONDS.toNanos(STEP_MILLIS);

        private volatile long nanos;
        private volatile boolean known; // whether there was an event

        void happened(long now) {
            if (!known || now - nanos >= STEP_NANOS) {
                nanos = now;
                known = true;
            }
        }

        /** Returns the time of the last event; null if there was none. */
        @Nullable
        Long nanos() {
            return known ? nanos : null;
        }
    }

    /** Records a call that has ended without a failure. */
    void add(CallLedger ledger, long now) {
        if (ledger.count(Phase.SQL) > 0) {
            sql.happened(now);
        }
        if (ledger.count(Phase.REDIS) > 0) {
            redis.happened(now);
        }
    }

    /**
     * Returns, for each kind of operation, the time when a call that ran such an operation last ended without a
     * failure. Kinds without such a call are omitted.
     */
    Map<Phase, Long> byPhase() {
        Map<Phase, Long> answers = new EnumMap<>(Phase.class);
        for (Map.Entry<Phase, LastTime> entry :
                Map.of(Phase.SQL, sql, Phase.REDIS, redis).entrySet()) {
            Long nanos = entry.getValue().nanos();
            if (nanos != null) {
                answers.put(entry.getKey(), nanos);
            }
        }
        return answers;
    }
}
