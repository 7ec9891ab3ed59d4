package tern.rpc.diagnosis.account;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicLongArray;
import tern.rpc.CallLedger;
import tern.rpc.Phase;
import tern.rpc.pool.PoolKind;

/**
 * The last {@value #SIZE} calls to all methods, kept for replays with other pool sizes. Adding a call allocates no
 * memory. If a call is overwritten while another thread reads it, the reader gets a mixture of the values of both
 * calls. A few such calls do not distort a replay of many calls. Thread-safe.
 */
public final class CallTrace {

    static final int SIZE = 2_048;

    /**
     * A call in a burst is assumed to have found a free connection if its wait is shorter than {@value} of the longest
     * wait.
     */
    private static final double QUICK = 0.1;

    // for each call: start, duration and queue time; for JDBC, Redis and HTTP: wait and number of uses
    private static final int FIELDS = 9;

    private final AtomicLongArray calls = new AtomicLongArray(SIZE * FIELDS);
    private final AtomicLong next = new AtomicLong();

    /**
     * One recorded call.
     *
     * @param startNanos the time when the call was received
     * @param tookNanos the total time of the call
     * @param queueNanos how long the call waited for a worker
     * @param waitNanos the time spent waiting for connections of each kind: JDBC, Redis, HTTP
     * @param uses the number of borrowed connections of each kind
     */
    public record Call(long startNanos, long tookNanos, long queueNanos, long[] waitNanos, int[] uses) {

        /** Returns the time that the call would take without any waits. */
        public long serviceNanos() {
            long service = tookNanos - queueNanos;
            for (long wait : waitNanos) {
                service -= wait;
            }
            return Math.max(0, service);
        }
    }

    public void add(CallLedger ledger, long tookNanos, long now) {
        int at = (int) (next.getAndIncrement() % SIZE) * FIELDS;
        calls.setOpaque(at, now - tookNanos);
        calls.setOpaque(at + 1, tookNanos);
        calls.setOpaque(at + 2, ledger.nanos(Phase.QUEUE, now));
        calls.setOpaque(at + 3, ledger.nanos(Phase.JDBC_CONNECTION, now));
        calls.setOpaque(at + 4, ledger.nanos(Phase.REDIS_CONNECTION, now));
        calls.setOpaque(at + 5, ledger.nanos(Phase.HTTP_CONNECTION, now));
        calls.setOpaque(at + 6, ledger.count(Phase.JDBC_CONNECTION));
        calls.setOpaque(at + 7, ledger.count(Phase.REDIS_CONNECTION));
        calls.setOpaque(at + 8, ledger.count(Phase.HTTP_CONNECTION));
    }

    /** Returns the index of the kind of pool in {@link Call#waitNanos} and {@link Call#uses}; -1 for other pools. */
    public static int indexOf(PoolKind kind) {
        return switch (kind) {
            case JDBC -> 0;
            case REDIS -> 1;
            case HTTP -> 2;
            default -> -1;
        };
    }

    /**
     * Returns the size of the largest burst of calls that use the given kind of pool. In a burst, the first calls find
     * a free connection and all later calls wait. If instead all calls wait, the pool lends connections slowly, and the
     * calls do not count as a burst.
     *
     * @param calls in order of arrival
     * @param nanos the maximum time between the first and the last call of a burst
     * @param free the minimum number of calls in a burst that wait for less than a tenth of the longest wait
     * @return 0 if there is no burst
     */
    public static int largestBurst(List<Call> calls, int kind, double nanos, int free) {
        Deque<Call> together = new ArrayDeque<>();
        int largest = 0;
        for (Call call : calls) {
            if (call.uses[kind] > 0) {
                together.addLast(call);
                while (call.startNanos - together.getFirst().startNanos > nanos) {
                    together.removeFirst();
                }
                if (together.size() > Math.max(largest, free) && quick(together, kind) >= free) {
                    largest = together.size();
                }
            }
        }
        return largest;
    }

    private static long quick(Collection<Call> calls, int kind) {
        long longest =
                calls.stream().mapToLong(call -> call.waitNanos[kind]).max().orElse(0);
        return calls.stream()
                .filter(call -> call.waitNanos[kind] < QUICK * longest)
                .count();
    }

    /** Returns the calls received at or after the given time, in order of arrival. */
    public List<Call> since(long nanos) {
        List<Call> found = new ArrayList<>();
        long known = Math.min(SIZE, next.get());
        for (int i = 0; i < known; i++) {
            int at = i * FIELDS;
            long start = calls.getOpaque(at);
            if (start - nanos >= 0) {
                found.add(new Call(
                        start,
                        calls.getOpaque(at + 1),
                        calls.getOpaque(at + 2),
                        new long[] {calls.getOpaque(at + 3), calls.getOpaque(at + 4), calls.getOpaque(at + 5)},
                        new int[] {
                            (int) calls.getOpaque(at + 6), (int) calls.getOpaque(at + 7), (int) calls.getOpaque(at + 8)
                        }));
            }
        }
        found.sort(Comparator.comparingLong(Call::startNanos));
        return found;
    }
}
