package tern.rpc.diagnosis.excess;

import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.Predicate;
import java.util.function.ToDoubleFunction;
import org.jspecify.annotations.Nullable;
import tern.rpc.NamedTimes;
import tern.rpc.Phase;
import tern.rpc.diagnosis.account.EndedCall;
import tern.rpc.diagnosis.account.OperationNames;
import tern.rpc.diagnosis.account.Part;
import tern.rpc.diagnosis.account.Part.Kind;
import tern.rpc.diagnosis.account.Times;
import tern.rpc.diagnosis.calls.CallRecords;
import tern.rpc.diagnosis.pool.ObservedPool;
import tern.rpc.diagnosis.stack.StackReader;

/**
 * Compares the number of operations per call with the usual number. Operations take more time than usual in two cases:
 * each operation is slower, or calls run more operations. The two cases need different changes.
 */
public final class OperationCounts {

    /** Operations are considered slower only if one operation takes at least this multiple of its usual time. */
    private static final double SLOWER = 1.5;

    /**
     * Calls are considered to run many more operations than usual if the number per call is at least this multiple of
     * the usual number.
     */
    private static final double MANY_MORE = 3;

    /**
     * An operation is assumed to load values into a cache if usual calls run it at most this often on average. Most
     * usual calls then find the value in the cache.
     */
    private static final double BEHIND_CACHE = 0.7;

    /**
     * If a cache has lost its values, each call runs the operation that loads a value once, and a few calls run it
     * again. If the mean number of runs per call is higher than this, there must be a different reason.
     */
    private static final double ONCE = 1.3;

    /**
     * Calls are considered to run an operation that loads cached values more often than usual if its number per call is
     * at least this multiple of the usual number.
     */
    private static final double MORE_MISSES = 2;

    /** Two numbers of operations are similar if the smaller one is at least this share of the larger one. */
    private static final double SIMILAR = 0.7;

    private static final double HALF = 0.5;

    /**
     * New operations are considered additional to the usual operations, instead of replacing them, if the number of all
     * operations has grown by at least this share of the number of new operations.
     */
    private static final double MOSTLY = 0.6;

    /** If more than this share of a pool's connections is in use on average, some calls are assumed to wait for one. */
    private static final double FULL = 0.8;

    private final Evidence evidence;
    private final ExcessTime excess;
    private final Operations operations;
    private final CachedOperations caches;

    public OperationCounts(Evidence evidence, ExcessTime excess, Operations operations) {
        this.evidence = evidence;
        this.excess = excess;
        this.operations = operations;
        this.caches = new CachedOperations(evidence, excess);
    }

    /**
     * The usual operations that share one name.
     *
     * @param count the usual number of operations per call; -1 if unknown
     * @param eachNanos the usual time of one operation; -1 if unknown
     */
    private record UsualOf(double count, double eachNanos) {

        static final UsualOf UNKNOWN = new UsualOf(-1, -1);
    }

    /**
     * Returns whether the number of the given operations per call is the cause. This is the case if calls run many
     * short operations and their number has grown by at least the same factor as their duration.
     *
     * @param name the operations' name; empty for all operations of the kind
     */
    public boolean areMany(Kind kind, String name) {
        Phase phase = Operations.phase(kind);
        if (phase == null) {
            return false;
        }
        Operations.Sum sum = operations.of(phase, name);
        if (sum.count() < Operations.MANY || sum.eachNanos() >= evidence.targetNanos() / 4.0) {
            return false;
        }
        UsualOf usual = usual(kind, phase, name);
        boolean slower = usual.eachNanos >= 0 && sum.eachNanos() > SLOWER * usual.eachNanos;
        return !slower || usual.count < 0 || hasGrownMore(perCall(phase, name), usual, sum.eachNanos());
    }

    /**
     * Returns whether calls run the given operation several times as often as usual. The number of executions per call
     * must also have grown by at least the same factor as the duration of one execution, unless the operation loads
     * values for a cache that has lost them ({@link #isBehindEmptyCache}). Returns false for an operation that is
     * unusual for the called methods, because the operation then belongs to new code.
     */
    public boolean areMore(Part part) {
        Phase phase = Operations.phase(part.kind());
        if (phase == null || !isCounted(part)) {
            return false;
        }
        String name = name(part);
        Map<String, Integer> methods = methodsThatRun(phase, name);
        UsualOf usual = usual(part.kind(), phase, name, methods);
        double now = perCall(phase, name, methods);
        double each = operations.of(phase, name).eachNanos();
        if (usual.count < 0 || each <= 0) {
            return false;
        }
        boolean isMore = usual.count > 0 && now >= MANY_MORE * usual.count && hasGrownMore(now, usual, each);
        boolean isLoaded = now >= MANY_MORE * usual.count
                && (now >= BEHIND_CACHE || hasGrownMore(now, usual, each))
                && caches.cacheOf(part) != null;
        if (!isMore && !isLoaded && !isMissed(usual, now, each) && !isOfStart(part, phase, methods)) {
            return false;
        }
        // If the number of other operations of the same kind has decreased equally, this operation has only replaced
        // them.
        double usuallyAll = operations.usualCount(phase, methods);
        return usuallyAll < 0 || perCall(phase, "", methods) - usuallyAll >= HALF * (now - usual.count);
    }

    /**
     * Returns whether the given operation loads values for a cache that no longer holds them. In this case, usually
     * only some calls run the operation, but now nearly every call runs it once. The additional executions may slow
     * down their server, so each execution may also take longer. If stacks show a cache that loads values with the
     * operation, calls may also run it several times.
     */
    public boolean isBehindEmptyCache(Part part) {
        Phase phase = Operations.phase(part.kind());
        if (phase == null || !areMore(part)) {
            return false;
        }
        String name = name(part);
        Map<String, Integer> methods = methodsThatRun(phase, name);
        UsualOf usual = usual(part.kind(), phase, name, methods);
        return isMissed(
                        usual,
                        perCall(phase, name, methods),
                        operations.of(phase, name).eachNanos())
                || isOfStart(part, phase, methods)
                || (usual.count <= BEHIND_CACHE && caches.cacheOf(part) != null);
    }

    /**
     * Returns whether calls run the operation more often than usual, and usually at most every second call runs it. A
     * cache that has lost its values is then more likely than code that runs too many operations.
     */
    public boolean wereRare(Part part) {
        Phase phase = phase(part);
        return areMore(part) && usual(part.kind(), phase, name(part), methodsThatRun(phase, name(part))).count <= HALF;
    }

    /** Returns the cache whose values the operation loads; null if no stack shows one. */
    public @Nullable String cacheOf(Part part) {
        return caches.cacheOf(part);
    }

    /**
     * Returns true if calls ran the given operation soon after the start, did not run it later, and are running it
     * again. In this case, a cache was empty at the start and no longer holds the values. The operation must be short
     * or take about as long as at the start.
     */
    private boolean isOfStart(Part part, Phase phase, Map<String, Integer> methods) {
        String name = name(part);
        double then = operations.ofStart(phase, name, methods.keySet());
        return then >= 0
                && isUnusual(part.kind(), phase, name, methods)
                && perCall(phase, name, methods) >= HALF
                && (areMany(part.kind(), name) || operations.of(phase, name).eachNanos() <= SLOWER * then);
    }

    private static boolean isMissed(UsualOf usual, double now, double each) {
        if (usual.count <= 0 || usual.eachNanos < 0) {
            return false;
        }
        // While a slow load is in progress, more calls find no value in the cache and load it, too. If the load is the
        // reason, the number of loads therefore grows by at most the same factor as the time of a load. If nearly every
        // call loads a value, however, the cache has lost its values.
        boolean areLoadsTheReason = now >= BEHIND_CACHE || hasGrownMore(now, usual, each);
        boolean isCached = usual.count <= BEHIND_CACHE && now <= ONCE;
        return isCached
                && ((now >= MANY_MORE * usual.count && areLoadsTheReason)
                        || (now >= MORE_MISSES * usual.count && each <= SLOWER * usual.eachNanos));
    }

    /** Returns whether calls run two operations of one kind about equally often, both currently and usually. */
    boolean areEquallyFrequent(Part one, Part other) {
        Phase phase = phase(one);
        Map<String, Integer> methods = methodsThatRun(phase, name(other));
        return areSimilar(
                        usual(one.kind(), phase, name(one), methods).count,
                        usual(other.kind(), phase, name(other), methods).count)
                && areSimilar(perCall(phase, name(one), methods), perCall(phase, name(other), methods));
    }

    private static boolean areSimilar(double one, double other) {
        return Math.min(one, other) >= SIMILAR * Math.max(one, other);
    }

    /**
     * Returns true if the given operation is new and calls run it in addition to their usual operations of the same
     * kind. Returns false if the new operation replaces other operations, as after a change of an address.
     */
    public boolean areNew(Part part) {
        Phase phase = Operations.phase(part.kind());
        if (phase == null || !isCounted(part)) {
            return false;
        }
        // Other methods may run fewer operations than usual, for example because their calls fail early.
        Map<String, Integer> methods = methodsThatRun(phase, name(part));
        double usuallyAll = operations.usualCount(phase, methods);
        return usuallyAll >= 0
                && isUnusual(part.kind(), phase, name(part), methods)
                && perCall(phase, name(part), methods) > 0
                && perCall(phase, "", methods) - usuallyAll >= MOSTLY * perCallOfUnusual(part.kind(), phase, methods);
    }

    /**
     * Returns whether usual calls do not run the given operation. The operation may be additional, or may replace other
     * operations.
     */
    public boolean areUnusual(Part part) {
        Phase phase = Operations.phase(part.kind());
        if (phase == null || !isCounted(part)) {
            return false;
        }
        Map<String, Integer> methods = methodsThatRun(phase, name(part));
        return operations.usualCount(phase, methods) >= 0 && isUnusual(part.kind(), phase, name(part), methods);
    }

    /**
     * Returns whether calls run the given operation at most {@code mostPerCall} times on average, both currently and
     * usually. Considers only the methods whose late or failed calls run it, because calls to other methods never run
     * it.
     */
    public boolean areRare(Part part, double mostPerCall) {
        Phase phase = phase(part);
        Map<String, Integer> methods = methodsThatRun(phase, name(part));
        return usual(part.kind(), phase, name(part), methods).count <= mostPerCall
                && perCall(phase, name(part), methods) <= mostPerCall;
    }

    /** Returns the methods whose late or failed calls run the operation, each with the number of these calls. */
    public Map<String, Integer> methodsThatRun(Phase phase, String name) {
        Map<String, Integer> methods = excess.badByMethod();
        methods.keySet()
                .removeIf(method ->
                        ofMethod(evidence.bad(), method).stream().noneMatch(call -> count(call, phase, name) > 0));
        return methods;
    }

    private boolean isUnusual(Kind kind, Phase phase, String name, Map<String, Integer> methods) {
        return usual(kind, phase, name, methods).count == 0;
    }

    /** Returns the mean number of new operations per call. An operation is new if usual calls do not contain it. */
    private double perCallOfUnusual(Kind kind, Phase phase, Map<String, Integer> methods) {
        return operations.each(phase).keySet().stream()
                .map(name -> name(new Part(kind, name)))
                .distinct()
                .filter(name -> isUnusual(kind, phase, name, methods))
                .mapToDouble(name -> perCall(phase, name, methods))
                .sum();
    }

    /** Returns whether calls usually run other operations of the same kind. */
    public boolean areUsualOfKind(Kind kind) {
        Phase phase = Operations.phase(kind);
        return phase != null && usual(kind, phase, "").count > 0;
    }

    /** Returns whether HTTP exchanges of calls are redirected several times as often as usual. */
    public boolean areMoreRedirects() {
        double usually = usual(Kind.HTTP, Phase.HTTP, OperationNames.REDIRECTED).count;
        double now = perCall(Phase.HTTP, OperationNames.REDIRECTED);
        return usually >= 0 && now > 0 && now >= MANY_MORE * usually;
    }

    private static boolean isCounted(Part part) {
        boolean isNamed = !part.name().isEmpty() && !part.name().equals(NamedTimes.OTHERS);
        return part.kind() != Kind.LOG && isNamed && !part.name().startsWith(StackReader.CALLED);
    }

    /** Returns whether the number of operations has grown by at least the same factor as their duration. */
    private static boolean hasGrownMore(double count, UsualOf usual, double eachNanos) {
        return count * usual.eachNanos >= usual.count * eachNanos;
    }

    /**
     * Returns the name under which operations are counted. For remote calls, this is the method, so the calls to all of
     * its providers are counted together.
     */
    private static String name(Part part) {
        String method = part.kind() == Kind.RPC ? OperationNames.method(part.name()) : null;
        return method == null ? part.name() : method;
    }

    /** Returns the evidence that calls run the given operation more often than usual. */
    public String figures(Part part) {
        return "often    " + numbers(part);
    }

    /** Returns text with the current and the usual number of the given operations per call. */
    public String numbers(Part part) {
        return counts(part.kind(), name(part), methodsThatRun(phase(part), name(part)));
    }

    /** Returns text with the current and the usual number of redirected exchanges per call. */
    public String redirects() {
        return counts(Kind.HTTP, OperationNames.REDIRECTED, excess.badByMethod());
    }

    private String counts(Kind kind, String name, Map<String, Integer> methods) {
        Phase phase = Operations.phase(kind);
        Phase counted = phase == null ? Phase.OWN : phase;
        return String.format(
                Locale.ROOT,
                "%s per call, usually %s",
                number(perCall(counted, name, methods)),
                number(usual(kind, counted, name, methods).count));
    }

    /** Returns how much more often than usual calls run the operation, as in {@code 3.0 times as often as usual}. */
    public String moreOften(Part part) {
        Phase phase = phase(part);
        String name = name(part);
        Map<String, Integer> methods = methodsThatRun(phase, name);
        double usually = usual(part.kind(), phase, name, methods).count;
        return usually <= 0
                ? "more often than usual"
                : number(perCall(phase, name, methods) / usually) + " times as often as usual";
    }

    private static Phase phase(Part part) {
        Phase phase = Operations.phase(part.kind());
        return phase == null ? Phase.OWN : phase;
    }

    private static String number(double value) {
        return String.format(Locale.ROOT, value >= 10 || value == 0 ? "%.0f" : value >= 0.1 ? "%.1f" : "%.3f", value);
    }

    /**
     * Returns the operation, or all operations of a kind, that keep a pool's connections busy because calls run them
     * more often than usual. Without these additional operations, the pool would have free connections. Returns null if
     * there are no such operations.
     *
     * @param byCause the extra time of the calls, by activity or wait
     */
    @Nullable
    public Part filling(ObservedPool pool, Times byCause) {
        Kind kind = switch (pool.now().kind()) {
            case JDBC -> Kind.SQL;
            case REDIS -> Kind.REDIS;
            case HTTP -> Kind.HTTP;
            default -> Kind.UNEXPLAINED;
        };
        double busy = pool.holdNanos() < 0 ? -1 : pool.since().taken() / evidence.seconds() * pool.holdNanos() / 1e9;
        for (Part part : byCause.only(part -> part.kind() == kind).longestFirst()) {
            if (busy > 0 && (areMore(part) || areManyMore(part))) {
                double more = moreConnections(part);
                if (more >= HALF * busy && busy - more <= FULL * pool.now().effectiveMax()) {
                    return part;
                }
            }
        }
        return null;
    }

    /**
     * Returns true if the part represents all operations of its kind and calls run several times as many of these
     * operations as usual.
     */
    private boolean areManyMore(Part part) {
        Phase phase = phase(part);
        double usually = usual(part.kind(), phase, "").count;
        return part.name().isEmpty()
                && areMany(part.kind(), "")
                && usually > 0
                && perCall(phase, "") >= MANY_MORE * usually;
    }

    /** Returns the mean number of connections that are kept busy by the additional operations. */
    private double moreConnections(Part part) {
        Phase phase = phase(part);
        String name = name(part);
        double usually = usual(part.kind(), phase, name).count;
        if (usually < 0) {
            return 0; // unknown for a method with late or failed calls
        }
        return (perCall(phase, name) - usually)
                * evidence.calls().calls()
                / evidence.seconds()
                * operations.of(phase, name).eachNanos()
                / 1e9;
    }

    private UsualOf usual(Kind kind, Phase phase, String name) {
        return usual(kind, phase, name, excess.badByMethod());
    }

    /** @param methods the methods to consider, with the numbers of their late or failed calls */
    private UsualOf usual(Kind kind, Phase phase, String name, Map<String, Integer> methods) {
        if (name.isEmpty()) {
            return new UsualOf(operations.usualCount(phase, methods), operations.usualEach(phase));
        }
        double count = 0;
        double nanos = 0;
        int calls = 0;
        for (Map.Entry<String, Integer> method : methods.entrySet()) {
            Times usual = evidence.usual().of(method.getKey());
            if (usual == null) {
                return UsualOf.UNKNOWN;
            }
            calls += method.getValue();
            for (Part part : usual.longestFirst()) {
                double each = part.kind() == kind && OperationNames.isNamed(part.name(), name)
                        ? operations.usualNamed(phase, part.name())
                        : 0;
                if (each > 0) {
                    count += method.getValue() * usual.of(part) / each;
                    nanos += method.getValue() * usual.of(part);
                }
            }
        }
        double each = count > 0 ? nanos / count : operations.usualNamed(phase, name);
        return calls == 0 ? UsualOf.UNKNOWN : new UsualOf(count / calls, each);
    }

    /**
     * Returns the mean number of operations per call, over all calls to the methods that miss the latency target. The
     * mean over late calls alone would be wrong, because calls that run a slow operation are late more often than other
     * calls.
     */
    double perCall(Phase phase, String name) {
        return perCall(phase, name, excess.badByMethod());
    }

    /** @param methods the methods to consider, with the numbers of their late or failed calls */
    private double perCall(Phase phase, String name, Map<String, Integer> methods) {
        double sum = 0;
        int calls = 0;
        for (Map.Entry<String, Integer> method : methods.entrySet()) {
            List<EndedCall> bad = ofMethod(evidence.bad(), method.getKey());
            List<EndedCall> good = ofMethod(evidence.good(), method.getKey());
            double share = good.isEmpty() ? 1 : shareOfBad(bad.size(), good.size());
            ToDoubleFunction<EndedCall> count = call -> count(call, phase, name);
            double ofBad = bad.stream().mapToDouble(count).average().orElse(0);
            double ofGood = good.stream().mapToDouble(count).average().orElse(0);
            sum += method.getValue() * (share * ofBad + (1 - share) * ofGood);
            calls += method.getValue();
        }
        return calls == 0 ? 0 : sum / calls;
    }

    /**
     * Returns the share of calls that satisfy the condition, among all calls that satisfy the condition or run the
     * given operations. Only late or failed calls are tested; calls that met the target count as not satisfying the
     * condition.
     */
    double share(Phase phase, String name, Predicate<EndedCall> condition) {
        double matching = 0;
        double all = 0;
        for (Map.Entry<String, Integer> method : excess.badByMethod().entrySet()) {
            List<EndedCall> bad = ofMethod(evidence.bad(), method.getKey());
            List<EndedCall> good = ofMethod(excess.goodDuringMiss(), method.getKey());
            Predicate<EndedCall> runs = call -> count(call, phase, name) > 0;
            double share = good.isEmpty() ? 1 : shareOfBad(bad.size(), good.size());
            double ofBad = share / bad.size();
            double ofGood = (1 - share) / Math.max(1, good.size());
            double ended = ofBad * bad.stream().filter(condition).count();
            double others =
                    ofBad * bad.stream().filter(condition.negate().and(runs)).count()
                            + ofGood * good.stream().filter(runs).count();
            double calls = method.getValue() / share;
            matching += calls * ended;
            all += calls * (ended + others);
        }
        return all == 0 ? 0 : matching / all;
    }

    /** Estimates the share of late or failed calls from the numbers of recorded calls. */
    private double shareOfBad(int bad, int good) {
        double goodCalls = (double) EndedCall.ONE_IN * good;
        double recorded = bad / (bad + goodCalls);
        if (bad < CallRecords.BAD_CALLS) {
            return recorded;
        }
        // The ring buffer of late calls is full, so there may have been more late calls than the recorded ones.
        Evidence.Counts calls = evidence.calls();
        double overall = (double) Math.max(calls.late(), calls.failed()) / Math.max(1, calls.calls());
        return good < CallRecords.GOOD_CALLS ? Math.max(recorded, overall) : Math.min(recorded, overall);
    }

    private static List<EndedCall> ofMethod(List<EndedCall> calls, String method) {
        return calls.stream().filter(call -> call.method().equals(method)).toList();
    }

    private static double count(EndedCall call, Phase phase, String name) {
        if (name.isEmpty()) {
            return call.ledger().count(phase);
        }
        double count = 0;
        for (NamedTimes.Entry entry : call.ledger().named()) {
            if (entry.kind() == phase && OperationNames.isNamed(entry.name(), name)) {
                count += entry.count();
            }
        }
        return count;
    }
}
