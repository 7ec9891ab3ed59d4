package tern.rpc.diagnosis;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReferenceArray;
import org.jspecify.annotations.Nullable;
import tern.rpc.CallLedger;
import tern.rpc.Phase;

/** The last {@value #SIZE} calls of all methods, for a replay with other pools. Thread-safe. */
final class CallTrace {

    static final int SIZE = 2_048;

    private final AtomicReferenceArray<@Nullable Call> calls = new AtomicReferenceArray<>(SIZE);
    private final AtomicLong next = new AtomicLong();

    /**
     * A call without its waits.
     *
     * @param startNanos the time at which it was received
     * @param tookNanos its whole time
     * @param queueNanos its wait for a worker
     * @param waitNanos its waits for a connection, by kind: JDBC, Redis, HTTP
     * @param uses its borrowings, likewise
     */
    record Call(long startNanos, long tookNanos, long queueNanos, long[] waitNanos, int[] uses) {

        /** The time that it would take without any wait. */
        long serviceNanos() {
            long service = tookNanos - queueNanos;
            for (long wait : waitNanos) {
                service -= wait;
            }
            return Math.max(0, service);
        }
    }

    void add(CallLedger ledger, long tookNanos, long now) {
        calls.set(
                (int) (next.getAndIncrement() % SIZE),
                new Call(
                        now - tookNanos,
                        tookNanos,
                        ledger.nanos(Phase.QUEUE, now),
                        new long[] {
                            ledger.nanos(Phase.JDBC_CONNECTION, now),
                            ledger.nanos(Phase.REDIS_CONNECTION, now),
                            ledger.nanos(Phase.HTTP_CONNECTION, now)
                        },
                        new int[] {
                            ledger.count(Phase.JDBC_CONNECTION),
                            ledger.count(Phase.REDIS_CONNECTION),
                            ledger.count(Phase.HTTP_CONNECTION)
                        }));
    }

    /** The calls that were received at this time or later, in this order. */
    List<Call> since(long nanos) {
        List<Call> found = new ArrayList<>();
        for (int i = 0; i < SIZE; i++) {
            Call call = calls.get(i);
            if (call != null && call.startNanos() - nanos >= 0) {
                found.add(call);
            }
        }
        found.sort(Comparator.comparingLong(Call::startNanos));
        return found;
    }
}
