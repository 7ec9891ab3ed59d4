package tern.rpc.diagnosis.rule;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import tern.rpc.CallLedger;
import tern.rpc.NamedTimes;
import tern.rpc.Phase;
import tern.rpc.diagnosis.account.EndedCall;
import tern.rpc.diagnosis.account.OperationNames;
import tern.rpc.diagnosis.account.Part;
import tern.rpc.diagnosis.account.Part.Kind;
import tern.rpc.diagnosis.calls.MethodRate;
import tern.rpc.diagnosis.cause.Cause.Change;
import tern.rpc.diagnosis.cause.Cause.Where;
import tern.rpc.diagnosis.cause.CauseDescription;
import tern.rpc.diagnosis.excess.Evidence;
import tern.rpc.diagnosis.excess.ExcessTime;
import tern.rpc.diagnosis.excess.OperationCounts;
import tern.rpc.diagnosis.excess.Operations;
import tern.rpc.diagnosis.excess.TimesByCause;
import tern.rpc.diagnosis.pool.PoolVerdict;
import tern.rpc.diagnosis.stack.StackReader;

/**
 * Recognizes cache stampedes: a cache has lost an entry, and all calls that need the entry load it at the same time.
 * Such calls run the same operation in bursts. A burst ends when the first of its calls has loaded the entry. Between
 * two bursts, calls do not run the operation.
 */
public final class Stampedes {

    /** The minimum number of calls in a burst, that is, of calls that run the same operation at the same time. */
    private static final int MIN_AT_ONCE = 5;

    private static final int MIN_BURSTS = 2;

    /**
     * The maximum mean number of executions of the loading operation in a normal call. Normal calls find the entry in
     * the cache, so they rarely load it.
     */
    private static final double RARELY = 0.5;

    /** An operation can belong to a stampede only if at most {@value} of the calls that meet the target run it. */
    private static final double SELDOM = 0.2;

    /**
     * The minimum number of recorded calls that met the target. Fewer calls do not show whether such calls run the
     * operation.
     */
    private static final int MIN_GOOD = 8;

    /**
     * Operations that usually take at least {@value} ns are always recorded by name in calls that met the latency
     * target.
     */
    private static final double SURELY_NAMED_NANOS = 1e6;

    /** Calls count as a stampede only if at least {@value} of the calls that run the operation belong to bursts. */
    private static final double NEARLY_ALL = 0.8;

    /**
     * Calls count as a stampede only if at least {@value} of the calls that arrive during a burst run the operation.
     */
    private static final double HALF = 0.5;

    /**
     * Bursts of calls are assumed to have a reason other than the cache if more calls arrive during a burst than {@link
     * #MIN_AT_ONCE} plus {@value} times the usual number.
     */
    private static final double MANY_MORE = 2;

    /**
     * An operation can be the operation of a stampede only if it causes at least {@value} of the time by which all
     * operations of its kind exceed their usual times.
     */
    private static final double MAIN = 0.2;

    private final Evidence evidence;
    private final ExcessTime excess;
    private final Operations operations;
    private final OperationCounts counts;
    private final Map<Part, Optional<Found>> known = new HashMap<>();

    public Stampedes(Evidence evidence, ExcessTime excess, Operations operations, OperationCounts counts) {
        this.evidence = evidence;
        this.excess = excess;
        this.operations = operations;
        this.counts = counts;
    }

    /**
     * Calls that run the same operation at the same time.
     *
     * @param fromNanos the start of the first call
     * @param closedNanos the end of the first call that ended; later calls find the entry in the cache
     * @param toNanos the end of the last call
     * @param spreadNanos the time between the starts of the first and the last call
     */
    private record Burst(
            long fromNanos, long closedNanos, long toNanos, long spreadNanos, int calls, Set<String> methods) {

        boolean overlaps(EndedCall call) {
            return call.endedNanos() - fromNanos > 0 && call.startedNanos() - toNanos < 0;
        }

        /** Returns whether the given call to one of the burst's methods arrived during the burst. */
        boolean meets(EndedCall call) {
            return methods.contains(call.method())
                    && call.startedNanos() - fromNanos >= 0
                    && call.startedNanos() - closedNanos < 0;
        }

        /**
         * Returns whether the calls stop running the operation before the next burst begins, at least for as long as
         * this burst lasts.
         */
        boolean isApartFrom(Burst next) {
            return next.fromNanos - closedNanos >= closedNanos - fromNanos;
        }
    }

    /**
     * A stampede.
     *
     * @param atOnce the median number of calls in a burst
     * @param everyNanos the median time between the beginnings of two bursts
     */
    private record Found(List<Burst> bursts, int atOnce, long everyNanos) {

        boolean overlaps(EndedCall call) {
            return bursts.stream().anyMatch(burst -> burst.overlaps(call));
        }

        String text() {
            return String.format(
                    Locale.ROOT, "%d calls run it at the same time, every %.1f s", atOnce, everyNanos / 1e9);
        }
    }

    /**
     * Attributes two effects to the operation that causes a stampede: the waits for its kind of connection, and the
     * time of other operations on the same server. Only waits and operations during the bursts of the stampede are
     * attributed to it.
     *
     * @return whether there is a stampede of operations of this kind
     */
    boolean passOn(Kind kind, Map<String, PoolVerdict> pools, TimesByCause byCause) {
        double threshold = MAIN * byCause.sum(kind);
        Part load = byCause.longestFirst().stream()
                .filter(part -> part.kind() == kind && byCause.of(part) >= threshold && find(part) != null)
                .findFirst()
                .orElse(null);
        Found found = load == null ? null : find(load);
        if (load == null || found == null) {
            return false;
        }
        for (Part part : byCause.longestFirst()) {
            PoolVerdict verdict = part.kind() == Kind.POOL ? PoolVerdict.find(pools, part) : null;
            boolean isPool = verdict != null && isOf(kind, verdict);
            boolean isOther = part.kind() == kind && !part.equals(load) && isOfSameServer(part, load);
            if ((isPool || isOther) && mostlyDuring(found, part)) {
                String waited = verdict == null ? part.name() : verdict.resource();
                byCause.pour(part, byCause.only(load::equals), TimesByCause.WAIT_FOR + waited);
            }
        }
        return true;
    }

    private static boolean isOf(Kind kind, PoolVerdict verdict) {
        Kind ofPool = switch (verdict.pool().now().kind()) {
            case JDBC -> Kind.SQL;
            case REDIS -> Kind.REDIS;
            case HTTP -> Kind.HTTP;
            default -> Kind.POOL;
        };
        return ofPool == kind && !verdict.isHeld();
    }

    private boolean isOfSameServer(Part one, Part other) {
        return OperationNames.store(one.name()).equals(OperationNames.store(other.name()))
                || operations.areOfSameServer(one.name(), other.name());
    }

    /** Returns whether the calls during the bursts account for at least half of the time of the given activity or wait.
     */
    private boolean mostlyDuring(Found found, Part part) {
        double all = 0;
        double during = 0;
        for (ExcessTime.Counted counted : excess.accounts) {
            double nanos = counted.times().of(part);
            all += nanos;
            during += found.overlaps(counted.call()) ? nanos : 0;
        }
        return all > 0 && during >= HALF * all;
    }

    /** Returns the cause description for a stampede of the given operation; null if there is no stampede. */
    @Nullable
    public CauseDescription describe(Part part) {
        Found found = find(part);
        Phase phase = Operations.phase(part.kind());
        if (found == null || phase == null) {
            return null;
        }
        List<String> facts = new ArrayList<>(operations.figures("load", phase, part.name()));
        facts.add("bursts   " + found.bursts.size() + ", each of about " + found.atOnce + " calls, every "
                + String.format(Locale.ROOT, "%.1f s", found.everyNanos / 1e9)
                + "; calls rarely run it in between");
        return new CauseDescription(
                "CACHE STAMPEDE",
                part.name(),
                Change.of(
                        Where.CODE,
                        "let one call load a missing entry of the cache while the others wait for it or get the"
                                + " previous value (@Cacheable(sync = true), a loading cache with refreshAfterWrite,"
                                + " or one lock for each"
                                + " key)" + Operations.at(operations.placeOf(phase, part.name())) + ": "
                                + found.text()
                                + ": " + part.name() + "; a different pool size does not help"),
                facts);
    }

    private @Nullable Found find(Part part) {
        return known.computeIfAbsent(part, one -> Optional.ofNullable(search(one)))
                .orElse(null);
    }

    private @Nullable Found search(Part part) {
        Phase phase = Operations.phase(part.kind());
        if (phase == null || !isOperation(part) || !counts.areRare(part, RARELY) || !isRareInGood(phase, part.name())) {
            return null;
        }
        List<EndedCall> runs = runs(phase, part.name());
        List<Burst> all = bursts(runs);
        List<Burst> bursts = all.stream().filter(this::areAllCalls).toList();
        int inBursts = bursts.stream().mapToInt(Burst::calls).sum();
        if (bursts.size() < MIN_BURSTS || inBursts < NEARLY_ALL * runs.size() || !areApart(all)) {
            return null;
        }
        if (manyManageWithout(bursts, phase, part.name())) {
            return null;
        }
        int[] sizes = bursts.stream().mapToInt(Burst::calls).sorted().toArray();
        long[] pauses = new long[bursts.size() - 1];
        for (int i = 0; i < pauses.length; i++) {
            pauses[i] = bursts.get(i + 1).fromNanos - bursts.get(i).fromNanos;
        }
        Arrays.sort(pauses);
        return new Found(bursts, sizes[sizes.length / 2], pauses[pauses.length / 2]);
    }

    /** Returns whether the given activity is a single measured operation that did not fail. */
    private static boolean isOperation(Part part) {
        return part.kind() != Kind.LOG
                && !part.name().isEmpty()
                && !part.name().equals(NamedTimes.OTHERS)
                && !part.name().startsWith(StackReader.CALLED)
                && !OperationNames.isFailing(part.name())
                && OperationNames.storeOfAll(part) == null;
    }

    private static boolean areApart(List<Burst> bursts) {
        int apart = 0;
        for (int i = 0; i + 1 < bursts.size(); i++) {
            apart += bursts.get(i).isApartFrom(bursts.get(i + 1)) ? 1 : 0;
        }
        return apart >= NEARLY_ALL * (bursts.size() - 1);
    }

    /**
     * Returns whether few of the calls that met the target ran the given operation. Only the methods whose late or
     * failed calls ran the operation are examined. A frequent operation that stalls occasionally is not the operation
     * of a stampede.
     */
    private boolean isRareInGood(Phase phase, String name) {
        Set<String> methods = counts.methodsThatRun(phase, name).keySet();
        List<EndedCall> good = excess.goodDuringMiss().stream()
                .filter(call -> methods.contains(call.method()))
                .toList();
        boolean isNamed = operations.usualNamed(phase, name) >= SURELY_NAMED_NANOS;
        long run = good.stream()
                .filter(call -> ran(call, phase, name) || (!isNamed && hasUnnamed(call, phase)))
                .count();
        return good.size() >= MIN_GOOD && run <= SELDOM * good.size();
    }

    /** Returns whether the call ran operations of the given kind that were too short to be recorded by name. */
    private static boolean hasUnnamed(EndedCall call, Phase phase) {
        int named = call.ledger().named().stream()
                .filter(entry -> entry.kind() == phase)
                .mapToInt(NamedTimes.Entry::count)
                .sum();
        return call.ledger().count(phase) > named;
    }

    /**
     * Considers the calls that arrived during the bursts. Returns whether more of them met the target without the
     * operation than ran it. The calls without the operation do not need the entry, or get it from somewhere else, such
     * as a circuit breaker's fallback.
     */
    private boolean manyManageWithout(List<Burst> bursts, Phase phase, String name) {
        List<EndedCall> good = excess.goodDuringMiss();
        long oldest = good.stream().mapToLong(EndedCall::startedNanos).min().orElse(0);
        List<Burst> recorded =
                bursts.stream().filter(burst -> burst.fromNanos - oldest >= 0).toList();
        long without = good.stream()
                .filter(call -> !ran(call, phase, name) && recorded.stream().anyMatch(burst -> burst.meets(call)))
                .count();
        return EndedCall.ONE_IN * without
                > recorded.stream().mapToInt(Burst::calls).sum();
    }

    private static boolean ran(EndedCall call, Phase phase, String name) {
        return call.ledger().named().stream()
                .anyMatch(entry -> entry.kind() == phase && OperationNames.isNamed(entry.name(), name));
    }

    /**
     * Returns the late or failed calls of the last minutes that ran the given operation, in the order of their starts.
     */
    private List<EndedCall> runs(Phase phase, String name) {
        Map<CallLedger, EndedCall> calls = new IdentityHashMap<>();
        evidence.earlier().forEach(call -> calls.put(call.ledger(), call));
        evidence.bad().forEach(call -> calls.put(call.ledger(), call));
        return calls.values().stream()
                .filter(call -> ran(call, phase, name))
                .sorted(Comparator.comparingLong(EndedCall::startedNanos))
                .toList();
    }

    private static List<Burst> bursts(List<EndedCall> runs) {
        List<Burst> bursts = new ArrayList<>();
        int next = 0;
        while (next < runs.size()) {
            long from = runs.get(next).startedNanos();
            long closed = runs.get(next).endedNanos();
            long to = closed;
            Set<String> methods = new HashSet<>();
            long last = from;
            int first = next;
            while (next < runs.size() && runs.get(next).startedNanos() - closed < 0) {
                EndedCall call = runs.get(next);
                last = call.startedNanos();
                closed = Math.min(closed, call.endedNanos());
                to = Math.max(to, call.endedNanos());
                methods.add(call.method());
                next++;
            }
            bursts.add(new Burst(from, closed, to, last - from, next - first, methods));
        }
        return bursts;
    }

    /**
     * Returns true if most calls that arrived during the burst ran the operation and the number of arrived calls was
     * not higher than usual. If only few calls ran the operation, the calls need different data. If many more calls
     * than usual arrived, each of the calls may have needed the operation anyway. The same is true if the calls arrived
     * in much quicker succession than usual, as the calls of one page do.
     */
    private boolean areAllCalls(Burst burst) {
        double perSecond = evidence.rates().stream()
                .filter(rate -> burst.methods.contains(rate.method()))
                .mapToDouble(MethodRate::perSecond)
                .sum();
        double expected = perSecond * (burst.closedNanos - burst.fromNanos) / 1e9;
        return burst.calls >= MIN_AT_ONCE
                && burst.calls >= HALF * expected
                && burst.calls <= MANY_MORE * expected + MIN_AT_ONCE
                && burst.spreadNanos >= HALF * burst.calls * 1e9 / perSecond;
    }
}
