package tern.rpc.diagnosis.pool;

import java.util.List;
import tern.rpc.diagnosis.account.CallTrace;
import tern.rpc.pool.PoolKind;

/**
 * Recognizes servers that stop answering from time to time. While such a server is blocked, each call that needs a
 * connection to it waits, because a pool opens or checks connections by asking the server. If only the opening of
 * connections were slow, other calls would use open connections in the meantime.
 */
public final class StalledServers {

    private static final int MIN_WAITING = 5;

    /** For each call that waited, at least {@value} other calls must have got a connection quickly. */
    private static final int QUICK_CALLS = 3;

    /** A wait counts as short if it takes at most {@value} of the latency target. */
    private static final double SHORT = 0.1;

    /**
     * A server counts as stalled only if at most one in {@value} calls gets a connection quickly while other calls
     * wait.
     */
    private static final int FEW = 10;

    private StalledServers() {}

    /** A period in which a call certainly waited. The ledger records only the length of the wait. */
    private record Wait(long fromNanos, long toNanos) {

        static Wait of(CallTrace.Call call, long nanos) {
            return new Wait(call.startNanos() + call.tookNanos() - nanos, call.startNanos() + nanos);
        }

        boolean contains(CallTrace.Call call) {
            return call.startNanos() - fromNanos >= 0 && toNanos - (call.startNanos() + call.tookNanos()) >= 0;
        }
    }

    /**
     * Returns whether the server of a pool of the given kind is blocked from time to time: several calls wait for a
     * connection, hardly any other call gets one in the meantime, and most calls get one quickly at other times.
     *
     * @param calls the most recent calls
     */
    public static boolean isOne(List<CallTrace.Call> calls, PoolKind pool, double targetNanos) {
        int kind = CallTrace.indexOf(pool);
        if (kind < 0 || pool == PoolKind.HTTP) {
            return false;
        }
        List<CallTrace.Call> users =
                calls.stream().filter(call -> call.uses()[kind] > 0).toList();
        List<Wait> waits = users.stream()
                .filter(call -> call.waitNanos()[kind] >= targetNanos)
                .map(call -> Wait.of(call, call.waitNanos()[kind]))
                .filter(wait -> wait.toNanos - wait.fromNanos > 0)
                .toList();
        List<CallTrace.Call> quick = users.stream()
                .filter(call -> call.waitNanos()[kind] <= SHORT * targetNanos)
                .toList();
        long meanwhile = quick.stream()
                .filter(call -> waits.stream().anyMatch(wait -> wait.contains(call)))
                .count();
        return waits.size() >= MIN_WAITING
                && quick.size() >= QUICK_CALLS * waits.size()
                && FEW * meanwhile <= waits.size();
    }
}
