package tern.rpc.diagnosis.calls;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Function;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import tern.rpc.CallLedger;
import tern.rpc.Phase;
import tern.rpc.diagnosis.account.CallTrace;
import tern.rpc.diagnosis.account.EndedCall;
import tern.rpc.diagnosis.failure.CallerDeadlines;
import tern.rpc.diagnosis.failure.LocalRefusals;
import tern.rpc.evidence.ThreadIds;
import tern.rpc.metrics.CallObserver;

/**
 * Records the calls to each method: their counts, the most recent calls that missed the latency target or failed, and
 * some calls that met the target, for comparison. Records up to {@value #MAX_METHODS} methods separately. Calls to any
 * other methods are counted under {@value #OTHERS}. Thread-safe.
 */
public final class CallRecords implements CallObserver {

    static final String OTHERS = "other methods";

    private static final int MAX_METHODS = 64;
    public static final int BAD_CALLS = 256;
    public static final int GOOD_CALLS = 64;
    private static final int MAX_CALLERS = 16; // the maximum number of callers counted for each method

    /** A new caller address may replace an address from which no sampled call has come for this long. */
    private static final long FORGOTTEN_NANOS = 60_000_000_000L;

    private final long targetNanos;
    private final ThreadIds threads;
    private final MethodAllocations allocations;
    private final CallTrace trace = new CallTrace();
    private final LastAnswers answers = new LastAnswers();
    private final Silence silence = new Silence(); // only the diagnosis thread reads or changes this object
    private final ConcurrentMap<String, MethodRecords> methods = new ConcurrentHashMap<>();

    public CallRecords(long targetNanos, ThreadIds threads) {
        this(targetNanos, threads, () -> -1);
    }

    /**
     * @param threads registers the threads that serve calls, so that these threads' waits for a processor can be
     *     measured
     * @param allocatedBytes returns the number of bytes that the current thread has allocated; -1 if unknown
     */
    public CallRecords(long targetNanos, ThreadIds threads, LongSupplier allocatedBytes) {
        this.targetNanos = targetNanos;
        this.threads = threads;
        this.allocations = new MethodAllocations(allocatedBytes);
    }

    /**
     * The totals of one method since the start of the process.
     *
     * @param calls the number of calls that were served
     * @param met the number of calls that met the latency target. A call that its caller cancelled within the target is
     *     counted neither here nor as late or failed
     * @param refused the number of calls that the limit of the method refused, in addition to the served calls
     * @param callers the number of sampled calls by the caller's address. One call in {@value EndedCall#ONE_IN} is
     *     sampled. If an address is removed and later added again, its number starts again at 0
     */
    public record Sums(
            long calls,
            long met,
            long late,
            long failed,
            long refused,
            long nanos,
            long[] phaseNanos,
            Map<String, Long> callers) {

        public static final Sums NONE = new Sums(0, 0, 0, 0, 0, 0, new long[Phase.values().length], Map.of());

        /**
         * Returns the number of calls that reached the method: the served calls, and the calls that its limit refused.
         */
        public long sent() {
            return calls + refused;
        }

        public Sums since(Sums earlier) {
            long[] spent = phaseNanos.clone();
            for (int i = 0; i < spent.length; i++) {
                spent[i] -= earlier.phaseNanos[i];
            }
            Map<String, Long> sampled = new HashMap<>(callers);
            sampled.replaceAll((caller, count) -> {
                long before = earlier.callers.getOrDefault(caller, 0L);
                return count < before ? count : count - before;
            });
            return new Sums(
                    calls - earlier.calls,
                    met - earlier.met,
                    late - earlier.late,
                    failed - earlier.failed,
                    refused - earlier.refused,
                    nanos - earlier.nanos,
                    spent,
                    sampled);
        }
    }

    private static final class Caller {
        final LongAdder calls = new LongAdder();
        volatile long lastNanos;

        Caller(long nanos) {
            lastNanos = nanos;
        }
    }

    private static final class MethodRecords {
        private static final Phase[] PHASES = Phase.values();

        final long firstNanos;
        final LongAdder calls = new LongAdder();
        final LongAdder met = new LongAdder();
        final LongAdder late = new LongAdder();
        final LongAdder failed = new LongAdder();
        final LongAdder limited = new LongAdder(); // the calls that the limit of the method refused
        volatile @Nullable String limit; // where the limit that refused calls is set
        volatile @Nullable String limitText; // its value, and how and where it is set
        final LongAdder nanos = new LongAdder();
        final LongAdder[] phaseNanos = new LongAdder[PHASES.length]; // time by phase, in calls that met the target
        public final Ring bad = new Ring(BAD_CALLS);
        // Calls that a circuit breaker, bulkhead or rate limiter refused. These calls have a separate ring buffer. In
        // the buffer of late and failed calls, they would soon replace the calls that show why the limiter refuses
        // calls.
        final Ring refused = new Ring(BAD_CALLS);
        public final Ring good = new Ring(GOOD_CALLS);
        final ConcurrentMap<String, Caller> callers = new ConcurrentHashMap<>();
        final LastAnswers.LastTime answered = new LastAnswers.LastTime();

        MethodRecords(long firstNanos) {
            this.firstNanos = firstNanos;
            for (int i = 0; i < phaseNanos.length; i++) {
                phaseNanos[i] = new LongAdder();
            }
        }

        public Sums sums() {
            long[] spent = new long[phaseNanos.length];
            for (int i = 0; i < spent.length; i++) {
                spent[i] = phaseNanos[i].sum();
            }
            Map<String, Long> sampled = new HashMap<>();
            callers.forEach((address, caller) -> sampled.put(address, caller.calls.sum()));
            // The history contains one copy of this map for each method and second, and Map.copyOf needs less memory
            // than a HashMap.
            return new Sums(
                    calls.sum(),
                    met.sum(),
                    late.sum(),
                    failed.sum(),
                    limited.sum(),
                    nanos.sum(),
                    spent,
                    Map.copyOf(sampled));
        }

        void calledBy(@Nullable String address, long now) {
            if (address == null) {
                return;
            }
            Caller known = callers.get(address);
            if (known == null) {
                if (callers.size() >= MAX_CALLERS) {
                    callers.values().removeIf(caller -> now - caller.lastNanos > FORGOTTEN_NANOS);
                }
                if (callers.size() >= MAX_CALLERS) {
                    return;
                }
                known = callers.computeIfAbsent(address, unknown -> new Caller(now));
            }
            known.lastNanos = now;
            known.calls.increment();
        }

        /**
         * Adds a call's phase times to its method's sums. Called for one in {@value EndedCall#ONE_IN} of the calls that
         * met their latency target.
         */
        void learn(CallLedger ledger, long now) {
            for (int i = 0; i < PHASES.length; i++) {
                long spent = ledger.nanos(PHASES[i], now);
                if (spent != 0) {
                    phaseNanos[i].add(spent);
                }
            }
        }
    }

    /** A ring buffer of the last calls. A new call replaces the oldest call. */
    private static final class Ring {
        private final AtomicReferenceArray<@Nullable EndedCall> calls;
        private final AtomicLong next = new AtomicLong();

        Ring(int size) {
            calls = new AtomicReferenceArray<>(size);
        }

        void add(EndedCall call) {
            calls.set((int) (next.getAndIncrement() % calls.length()), call);
        }

        public void since(long nanos, List<EndedCall> into) {
            for (int i = 0; i < calls.length(); i++) {
                EndedCall call = calls.get(i);
                if (call != null && call.endedNanos() - nanos >= 0) {
                    into.add(call);
                }
            }
        }
    }

    @Override
    public void ended(String method, CallLedger ledger, long tookNanos, long now, @Nullable Throwable failure) {
        ended(method, ledger, tookNanos, now, failure, () -> null);
    }

    @Override
    public void ended(
            String method,
            CallLedger ledger,
            long tookNanos,
            long now,
            @Nullable Throwable failure,
            Supplier<@Nullable String> caller) {
        MethodRecords records = of(method, now);
        if (failure != null && CallerDeadlines.wasRefused(method, failure)) {
            // The server counts its refusals itself. This class only adds the refused call to the number of sent calls
            // and to the calls of its caller.
            records.limited.increment();
            if (records.limit == null || records.limited.sum() % EndedCall.ONE_IN == 0) {
                records.limit = CallerDeadlines.limitOf(failure);
                records.limitText = CallerDeadlines.limitText(failure);
            }
            if (records.limited.sum() % EndedCall.ONE_IN == 0) {
                records.calledBy(caller.get(), now);
            }
            return;
        }
        allocations.ended(method, ledger);
        records.calls.increment();
        records.nanos.add(tookNanos);
        trace.add(ledger, tookNanos, now);
        boolean late = tookNanos > targetNanos;
        boolean left = failure != null && CallerDeadlines.hasLeft(method, failure);
        if (left && !late) {
            return; // the caller disconnected early, so the call did not fail and its time is not typical
        }
        Throwable known = left ? null : failure;
        boolean sampled = records.calls.sum() % EndedCall.ONE_IN == 0;
        if (sampled) {
            records.calledBy(caller.get(), now);
        }
        if (late) {
            records.late.increment();
            threads.register();
        }
        if (known != null) {
            records.failed.increment();
        } else if (!left) {
            records.answered.happened(now);
            answers.add(ledger, now);
        }
        if (late || known != null) {
            boolean refused = known != null && LocalRefusals.of(known) != null;
            (refused ? records.refused : records.bad)
                    .add(new EndedCall(method, ledger, now, tookNanos, known, false, caller.get()));
            return;
        }
        records.met.increment();
        if (sampled) {
            records.good.add(new EndedCall(method, ledger, now, tookNanos, null));
            records.learn(ledger, now);
            // Registers the thread, so that its waits for a processor are measured. This happens when a call that met
            // the target ends, because a call that hangs may never end.
            threads.register();
        }
    }

    private MethodRecords of(String method, long now) {
        MethodRecords known = methods.get(method);
        if (known != null) {
            return known;
        }
        return methods.computeIfAbsent(methods.size() < MAX_METHODS ? method : OTHERS, name -> new MethodRecords(now));
    }

    /** Returns, for each method, the time since its first call, in nanoseconds. */
    public Map<String, Long> ages(long now) {
        Map<String, Long> ages = new TreeMap<>();
        methods.forEach((name, records) -> ages.put(name, now - records.firstNanos));
        return ages;
    }

    /** Returns the measurement of the memory that calls allocate. */
    public MethodAllocations allocations() {
        return allocations;
    }

    /** Returns the most recent calls to all methods. */
    public CallTrace trace() {
        return trace;
    }

    /**
     * Returns the times when calls last ended without a failure.
     *
     * @param byStore when each data source and each Redis server last answered
     * @param servers the server of each data source and each Redis server, where it is known
     */
    public Answers answers(Map<String, Long> byStore, Map<String, String> servers) {
        Map<String, Long> byMethod = new HashMap<>();
        methods.forEach((name, records) -> {
            Long nanos = records.answered.nanos();
            if (nanos != null) {
                byMethod.put(name, nanos);
            }
        });
        return new Answers(answers.byPhase(), byMethod, byStore, servers, silence);
    }

    /** Returns, for each method whose limit has refused calls, the place where the limit is set. */
    public Map<String, String> limits() {
        return limits(records -> records.limit);
    }

    /** Returns, for each method whose limit has refused calls, the value of the limit, and how and where it is set. */
    public Map<String, String> limitTexts() {
        return limits(records -> records.limitText);
    }

    private Map<String, String> limits(Function<MethodRecords, @Nullable String> property) {
        Map<String, String> limits = new HashMap<>();
        methods.forEach((name, records) -> {
            String limit = property.apply(records);
            if (limit != null) {
                limits.put(name, limit);
            }
        });
        return limits;
    }

    /** Returns the totals of each method. */
    public Map<String, Sums> sums() {
        Map<String, Sums> sums = new ConcurrentHashMap<>();
        methods.forEach((name, records) -> sums.put(name, records.sums()));
        return sums;
    }

    /**
     * Returns the recorded calls that missed the latency target or failed and that ended at or after the given time.
     */
    public List<EndedCall> bad(long sinceNanos) {
        List<EndedCall> calls = new ArrayList<>();
        methods.values().forEach(records -> {
            records.bad.since(sinceNanos, calls);
            records.refused.since(sinceNanos, calls);
        });
        return calls;
    }

    /**
     * Returns the calls that {@link #bad} returns, without the calls that a circuit breaker, bulkhead or rate limiter
     * refused.
     */
    public List<EndedCall> badAdmitted(long sinceNanos) {
        List<EndedCall> calls = new ArrayList<>();
        methods.values().forEach(records -> records.bad.since(sinceNanos, calls));
        return calls;
    }

    /**
     * Returns the recorded calls that met the latency target and ended at or after the given time. Only some of the
     * calls that meet the target are recorded.
     */
    public List<EndedCall> good(long sinceNanos) {
        List<EndedCall> calls = new ArrayList<>();
        methods.values().forEach(records -> records.good.since(sinceNanos, calls));
        return calls;
    }
}
