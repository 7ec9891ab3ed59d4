package tern.rpc.metrics;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import tern.rpc.CallLedger;
import tern.rpc.LogThread;
import tern.rpc.MethodDescriptor;
import tern.rpc.Phase;
import tern.rpc.RpcException;

/**
 * Logs the phases of calls that missed the latency target, at most one call every ten seconds. Calls often end on event
 * loops, so another thread writes the lines. Thread-safe.
 */
public final class SlowCalls {

    private static final Logger LOG = LoggerFactory.getLogger(SlowCalls.class);
    private static final long PAUSE_NANOS = TimeUnit.SECONDS.toNanos(10);

    /** A phase with few operations is omitted if it took less than 1/{@value} of the call's time. */
    private static final int SMALL_PART = 100;

    private static final int MANY = 10;

    private final long targetNanos;
    private final AtomicLong next; // the earliest time for the next log line, on the clock that times the calls
    private final LongAdder heldBack = new LongAdder();

    /** @param now the current time on the clock that times the calls */
    public SlowCalls(long targetNanos, long now) {
        this.targetNanos = targetNanos;
        this.next = new AtomicLong(now);
    }

    /**
     * Logs the phases of a call that missed the latency target, if no other call was logged in the last ten
     * seconds.
     */
    public void ended(
            MethodDescriptor method, CallLedger ledger, long tookNanos, long now, @Nullable Throwable failure) {
        if (tookNanos <= targetNanos) {
            return;
        }
        long due = next.get();
        if (now - due < 0 || !next.compareAndSet(due, now + PAUSE_NANOS)) {
            heldBack.increment();
            return;
        }
        long others = heldBack.sumThenReset();
        String phases = describe(ledger, tookNanos, now);
        LogThread.shared()
                .execute(() -> LOG.warn(
                        "{}.{} took {} (target {}){}: {}{}",
                        method.service().simpleName(),
                        method.name(),
                        millis(tookNanos),
                        millis(targetNanos),
                        failure instanceof RpcException rpc ? " and ended as " + rpc.code() : "",
                        phases,
                        others == 0 ? "" : "; " + others + " more calls missed the target since the last such line"));
    }

    /** Returns the phases of a call as text, longest first, such as {@code sql 60 ms (3), own 12 ms}. */
    static String describe(CallLedger ledger, long tookNanos, long now) {
        record Part(Phase phase, long nanos, int count) {}
        List<Part> parts = new ArrayList<>();
        for (Phase phase : Phase.values()) {
            Part part = new Part(phase, ledger.nanos(phase, now), ledger.count(phase));
            if (part.nanos * SMALL_PART >= tookNanos || part.count >= MANY) {
                parts.add(part);
            }
        }
        parts.sort(Comparator.comparingLong(Part::nanos).reversed());
        return parts.stream()
                .map(part -> part.phase.key() + " " + millis(part.nanos)
                        + (part.phase.isOperation() ? " (" + part.count + ")" : ""))
                .collect(Collectors.joining(", "));
    }

    private static String millis(long nanos) {
        return TimeUnit.NANOSECONDS.toMillis(nanos + 500_000) + " ms";
    }
}
