package tern.rpc.metrics;

import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReferenceArray;
import org.jspecify.annotations.Nullable;
import tern.rpc.CallLedger;
import tern.rpc.Metadata;
import tern.rpc.NamedTimes;
import tern.rpc.PeerText;
import tern.rpc.Phase;
import tern.rpc.ServerContext;

/**
 * The last {@value #PLACES} served unary calls that missed the latency target. Records at most {@value #MAX_PER_SECOND}
 * calls per second. An overloaded server therefore spends little time on recording, and the recorded calls cover
 * several seconds. The length of all strings is limited, so the ring takes at most about 400 KB. Thread-safe.
 */
public final class SlowCallRing {

    static final int PLACES = 100;
    static final int MAX_PER_SECOND = 20;

    private static final int MAX_TRACE = 64;

    private final AtomicReferenceArray<SlowCall> ring = new AtomicReferenceArray<>(PLACES);
    private final AtomicLong added = new AtomicLong();
    private final AtomicLong second = new AtomicLong(Long.MIN_VALUE);
    private final AtomicInteger ofSecond = new AtomicInteger();
    private final long targetNanos;

    public SlowCallRing(long targetNanos) {
        this.targetNanos = targetNanos;
    }

    /**
     * A call that missed the latency target.
     *
     * @param id the id of this record, unique in this process
     * @param at the time when the call ended
     * @param method the method name, for example {@code OrderService.place}
     * @param code the name of the status code; {@code OK} for a result, {@code EXCEPTION} for an exception without a
     *     status code
     * @param phases the phases in which the call spent time, in the order of {@link Phase}
     * @param operations the call's named operations
     * @param trace the call's trace id, or empty if the request has none
     * @param caller the name of the caller, see {@link Callers}
     */
    public record SlowCall(
            long id,
            Instant at,
            String method,
            long tookNanos,
            String code,
            List<PhaseTime> phases,
            List<NamedTimes.Entry> operations,
            String trace,
            String caller,
            String protocol) {}

    /**
     * The time that a call spent in one phase.
     *
     * @param count the number of operations, or 0 for phases that are not operations
     */
    public record PhaseTime(Phase phase, long nanos, int count) {

        /** Returns the phases in which the call spent time. */
        public static List<PhaseTime> of(CallLedger ledger, long now) {
            List<PhaseTime> times = new ArrayList<>();
            for (Phase phase : Phase.values()) {
                long nanos = ledger.nanos(phase, now);
                int count = ledger.count(phase);
                if (nanos != 0 || count != 0) {
                    times.add(new PhaseTime(phase, nanos, count));
                }
            }
            return times;
        }
    }

    /**
     * Records the call if it missed the latency target.
     *
     * @param now the current time on the clock that times the calls
     * @param failure the failure, or null for a result
     */
    public void ended(ServerContext call, long tookNanos, long now, @Nullable Throwable failure) {
        if (tookNanos <= targetNanos || !isFree(TimeUnit.NANOSECONDS.toSeconds(now))) {
            return;
        }
        long id = added.getAndIncrement();
        SlowCall slow = new SlowCall(
                id,
                Instant.now(),
                PeerText.name(call.method().label()),
                tookNanos,
                Outcome.tag(Outcome.of(failure)).toUpperCase(Locale.ROOT),
                PhaseTime.of(call.ledger(), now),
                call.ledger().named().stream()
                        .map(named -> new NamedTimes.Entry(
                                named.kind(), PeerText.name(named.name()), named.count(), named.nanos()))
                        .toList(),
                trace(call.metadata()),
                Callers.nameOf(call),
                call.protocol());
        ring.set((int) (id % PLACES), slow);
    }

    private boolean isFree(long now) {
        long current = second.get();
        if (current != now && second.compareAndSet(current, now)) {
            ofSecond.set(0);
        }
        return ofSecond.get() < MAX_PER_SECOND && ofSecond.getAndIncrement() < MAX_PER_SECOND;
    }

    /** Returns the id of the distributed trace from the W3C or B3 headers, or an empty string if there is none. */
    private static String trace(Metadata headers) {
        String w3c = headers.get("traceparent");
        if (w3c != null) {
            String[] parts = w3c.split("-", 4);
            return parts.length == 4 ? bounded(parts[1]) : "";
        }
        String b3 = headers.get("b3");
        if (b3 != null) {
            return bounded(b3.split("-", 2)[0]);
        }
        String many = headers.get("X-B3-TraceId");
        return many == null ? "" : bounded(many);
    }

    /**
     * Returns the id, or an empty string if it is too long or contains a character that is not allowed in trace ids.
     */
    private static String bounded(String id) {
        return id.length() <= MAX_TRACE && id.chars().allMatch(c -> Character.digit(c, 16) >= 0) ? id : "";
    }

    /** Returns the recorded calls, all of which missed the latency target. The newest call comes first. */
    public List<SlowCall> newestFirst() {
        List<SlowCall> calls = new ArrayList<>();
        long last = added.get();
        for (long i = last - 1; i >= Math.max(0, last - PLACES); i--) {
            SlowCall slow = ring.get((int) (i % PLACES));
            if (slow != null) {
                calls.add(slow);
            }
        }
        return calls;
    }
}
