package tern.rpc.metrics;

import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import tern.rpc.CallLedger;
import tern.rpc.MethodDescriptor;
import tern.rpc.Phase;
import tern.rpc.ServiceKey;

/**
 * The totals of one method's ledgers: the time of its calls by phase, and the number of operations. The meter registry
 * reads these totals on demand, so a call only increments counters. Thread-safe.
 */
public final class PhaseMeters {

    private static final Phase[] PHASES = Phase.values();

    private final LongAdder calls = new LongAdder();
    private final LongAdder[] callsWith = adders();
    private final LongAdder[] operations = adders();
    private final LongAdder[] nanos = adders();
    private final AtomicIntegerArray registered = new AtomicIntegerArray(PHASES.length);
    private final RpcMeters meters;
    private final ServiceKey service;
    private final MethodDescriptor method;

    PhaseMeters(RpcMeters meters, ServiceKey service, MethodDescriptor method) {
        this.meters = meters;
        this.service = service;
        this.method = method;
    }

    private static LongAdder[] adders() {
        LongAdder[] made = new LongAdder[PHASES.length];
        for (int i = 0; i < made.length; i++) {
            made[i] = new LongAdder();
        }
        return made;
    }

    /**
     * Adds the times and counts from a completed unary call's ledger to the totals, and notifies the observer.
     *
     * @param now the current time on the ledger's clock
     * @param tookNanos the time since the call was received
     * @param failure the call's failure, or null for a result
     * @param sent the failure as it was sent to the caller
     * @param caller returns the caller's address; null if it is unknown
     */
    public void ended(
            CallLedger ledger,
            long now,
            long tookNanos,
            @Nullable Throwable failure,
            @Nullable Throwable sent,
            Supplier<@Nullable String> caller) {
        ended(ledger, now);
        CallObserver observer = meters.observer();
        if (observer != null) {
            notifyObserver(observer, ledger, now, tookNanos, failure, sent, caller);
        }
    }

    /**
     * Works like {@link #ended(CallLedger, long, long, Throwable, Throwable, Supplier)}, for a call that was received
     * through a socket.
     *
     * @param caller the caller's address; null if it is unknown
     */
    public void ended(
            CallLedger ledger,
            long now,
            long tookNanos,
            @Nullable Throwable failure,
            @Nullable Throwable sent,
            @Nullable SocketAddress caller) {
        ended(ledger, now);
        CallObserver observer = meters.observer();
        if (observer != null) { // If there is no observer, this check avoids creating an object for each call.
            notifyObserver(observer, ledger, now, tookNanos, failure, sent, () -> host(caller));
        }
    }

    private void notifyObserver(
            CallObserver observer,
            CallLedger ledger,
            long now,
            long tookNanos,
            @Nullable Throwable failure,
            @Nullable Throwable sent,
            Supplier<@Nullable String> caller) {
        boolean expected = failure != null && (method.declares(failure) || Outcome.blamesCaller(sent));
        observer.ended(method.label(), ledger, tookNanos, now, expected ? null : failure, caller);
    }

    private static @Nullable String host(@Nullable SocketAddress caller) {
        return caller instanceof InetSocketAddress address && address.getAddress() != null
                ? address.getAddress().getHostAddress()
                : null;
    }

    /**
     * Adds the times and counts from a completed call's ledger to the totals, and ends the ledger.
     *
     * @param now the current time on the ledger's clock
     */
    public void ended(CallLedger ledger, long now) {
        ledger.end();
        for (int i = 0; i < PHASES.length; i++) {
            long spent = ledger.nanos(PHASES[i], now);
            int made = ledger.count(PHASES[i]);
            if (spent != 0 || made != 0) {
                callsWith[i].increment();
                nanos[i].add(spent);
                if (made != 0) {
                    operations[i].add(made);
                }
                if (registered.get(i) == 0) {
                    register(i);
                }
            }
        }
        calls.increment(); // this counter is incremented last, so that a reader that sees the call also sees its times
    }

    private void register(int i) {
        if (registered.compareAndSet(i, 0, 1)) {
            meters.phase(this, service, method, PHASES[i]);
        }
    }

    public String method() {
        return method.name();
    }

    /** Returns the number of completed calls. */
    public long calls() {
        return calls.sum();
    }

    /**
     * Returns the number of completed calls that spent time in the given phase or performed operations of this kind.
     */
    public long callsWith(Phase phase) {
        return callsWith[phase.ordinal()].sum();
    }

    /** Returns the number of operations of the given kind in all calls, or 0 for phases that are not operations. */
    public long operations(Phase phase) {
        return operations[phase.ordinal()].sum();
    }

    /** Returns the total time that all calls spent in the given phase, in nanoseconds. */
    public long totalNanos(Phase phase) {
        return nanos[phase.ordinal()].sum();
    }
}
