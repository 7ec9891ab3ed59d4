package tern.rpc.diagnosis.excess;

import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import tern.rpc.NamedTimes;
import tern.rpc.Phase;
import tern.rpc.diagnosis.account.OperationNames;
import tern.rpc.diagnosis.account.Part;
import tern.rpc.diagnosis.account.Part.Kind;
import tern.rpc.diagnosis.excess.OperationsPerCall.Usual;
import tern.rpc.diagnosis.stack.CacheLoads;
import tern.rpc.diagnosis.stack.StackReader;

/**
 * Compares the number of operations per call with the usual number. Operations take more time than usual in two cases:
 * each operation is slower, or calls run more operations. The two cases need different changes.
 */
public final class OperationCounts {

    /** Operations count as slower only if their mean time is at least {@value} times their usual time. */
    private static final double SLOWER = 1.5;

    /**
     * Calls count as running many more operations than usual if the number per call is at least {@value} times the
     * usual number.
     */
    private static final double MANY_MORE = 3;

    /**
     * An operation is assumed to load values into a cache if normal calls run it at most {@value} times on average.
     * Most normal calls then find the value in the cache.
     */
    private static final double BEHIND_CACHE = 0.7;

    /**
     * A cache is assumed to have lost its values only if calls load at most {@value} values on average. After such a
     * loss, each call loads the value once, and only a few calls load it again.
     */
    private static final double ONCE = 1.3;

    /**
     * Calls count as loading cached values more often than usual if the number of loads per call is at least {@value}
     * times the usual number.
     */
    private static final double MORE_MISSES = 2;

    /**
     * An operation that takes its usual time counts as more frequent than usual if calls run it at least {@value} times
     * as often as usual.
     */
    private static final double NOTABLY_MORE = 1.5;

    /** A number is notably larger than usual if it differs by at least {@value} standard deviations. */
    private static final double DEVIATIONS = 2;

    /** Nearly every call runs an operation if calls run it at least {@value} times on average. */
    private static final double NEARLY_EACH = 0.9;

    /** Two numbers of operations count as similar if the smaller number is at least {@value} of the larger number. */
    private static final double SIMILAR = 0.7;

    /**
     * An operation counts as no more frequent than usual if its number per call is at most {@value} times the usual
     * number.
     */
    private static final double AS_OFTEN = 1.2;

    /**
     * An operation that calls run as often as usual counts as slower if it takes more than {@value} times its usual
     * time.
     */
    private static final double A_LITTLE_SLOWER = 1.2;

    /**
     * For a cache that lets only one call load each value, loads are compared with their usual number only if there are
     * at least {@value} loads per call.
     */
    private static final double NOTABLE = 0.1;

    private static final double HALF = 0.5;

    /**
     * New operations are assumed to be additional rather than to replace usual operations if the number of all
     * operations has grown by at least {@value} of the number of new operations.
     */
    private static final double MOSTLY = 0.6;

    private final Evidence evidence;
    private final Operations operations;
    private final OperationsPerCall perCall;
    private final CachedOperations caches;
    private final CountText text;

    public OperationCounts(Evidence evidence, ExcessTime excess, Operations operations) {
        this.evidence = evidence;
        this.operations = operations;
        this.perCall = new OperationsPerCall(evidence, excess, operations);
        this.caches = new CachedOperations(evidence, excess);
        this.text = new CountText(excess, perCall);
    }

    /** Returns the texts about the numbers of operations. */
    public CountText text() {
        return text;
    }

    /**
     * Returns whether calls are late because of the number of the given operations, and not because of their duration.
     * This is the case if calls run many short operations that are not slower than usual, or whose number has grown by
     * at least the same factor as their duration.
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
        Usual usual = perCall.usual(kind, phase, name);
        double now = perCall.now(phase, name);
        boolean isAsOften = usual.count() > 0 && now <= AS_OFTEN * usual.count();
        boolean slower =
                usual.eachNanos() >= 0 && sum.eachNanos() > (isAsOften ? A_LITTLE_SLOWER : SLOWER) * usual.eachNanos();
        return !slower || usual.count() < 0 || hasGrownMore(now, usual, sum.eachNanos());
    }

    /**
     * Returns whether calls run the given operation several times as often as usual. The number of executions per call
     * must also have grown by at least the same factor as the duration of one execution. This condition does not apply
     * to an operation that reloads the lost values of a cache ({@link #isBehindEmptyCache}). Returns false for an
     * operation that is unusual for the called methods, because the operation then belongs to new code.
     */
    public boolean areMore(Part part) {
        Phase phase = Operations.phase(part.kind());
        if (phase == null || !isCounted(part)) {
            return false;
        }
        String name = name(part);
        Map<String, Integer> methods =
                methodsOf(part, phase, operations.of(phase, name).eachNanos());
        Usual usual = perCall.usual(part.kind(), phase, name, methods);
        double now = perCall.now(phase, name, methods);
        double each = each(phase, name, methods);
        if (usual.count() < 0 || each <= 0) {
            return false;
        }
        boolean isMore = usual.count() > 0
                && ((now >= MANY_MORE * usual.count() && hasGrownMore(now, usual, each))
                        || (usual.count() <= BEHIND_CACHE
                                && isNotablyMore(now, usual, (double) perCall.recorded(methods))
                                && each <= A_LITTLE_SLOWER * usual.eachNanos()));
        boolean isLoaded = now >= MANY_MORE * usual.count() && isLoadedMore(part, usual, now, each);
        if (!isMore && !isLoaded && !isMissed(usual, now, each) && !isOfStart(part, phase, methods)) {
            return false;
        }
        // If the number of the other operations of the same kind has decreased equally, the given operation has only
        // replaced them.
        double usuallyAll = perCall.usual(part.kind(), phase, "", methods).count();
        return usuallyAll < 0 || perCall.now(phase, "", methods) - usuallyAll >= HALF * (now - usual.count());
    }

    /**
     * Returns the methods whose numbers of operations are compared with the usual numbers. If each operation has become
     * slower, these are only methods whose calls usually run it: a method that runs it for the first time makes the
     * number grow, but the other methods show that their calls are late because the operation is slow.
     */
    private Map<String, Integer> methodsOf(Part part, Phase phase, double each) {
        Map<String, Integer> usually = methodsThatUsuallyRun(part, phase);
        double usual = operations.usualNamed(phase, part.name());
        boolean isSlower = usual >= 0 && each > SLOWER * usual;
        return usually.isEmpty() || !isSlower ? perCall.methodsThatRun(phase, name(part)) : usually;
    }

    private Map<String, Integer> methodsThatUsuallyRun(Part part, Phase phase) {
        Map<String, Integer> methods = perCall.methodsThatRun(phase, name(part));
        methods.keySet()
                .removeAll(perCall.newMethods(part.kind(), phase, name(part)).keySet());
        return methods;
    }

    /**
     * Returns text about the methods whose calls do not usually run the given operation, if calls to other methods
     * usually run it; otherwise an empty string.
     */
    public String newIn(Part part) {
        Phase phase = Operations.phase(part.kind());
        if (phase == null
                || !isCounted(part)
                || methodsThatUsuallyRun(part, phase).isEmpty()) {
            return "";
        }
        Set<String> methods = perCall.newMethods(part.kind(), phase, name(part)).keySet();
        return methods.isEmpty()
                ? ""
                : "; calls of " + String.join(", ", methods)
                        + " do not usually run it, so also find out why they run it now";
    }

    /**
     * Returns whether stacks show a cache for which calls run the operation, and slow loads are not the reason why
     * calls load more values. If the cache lets only one call load each value, slow loads are never the reason.
     */
    private boolean isLoadedMore(Part part, Usual usual, double now, double each) {
        String cache = caches.cacheOf(part);
        return cache != null
                && (now >= BEHIND_CACHE
                        || hasGrownMore(now, usual, each)
                        || (CacheLoads.loadsOnce(cache) && now >= (usual.count() > 0 ? NOTABLE : HALF)));
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
        Map<String, Integer> usually = methodsThatUsuallyRun(part, phase);
        Map<String, Integer> methods = usually.isEmpty() ? perCall.methodsThatRun(phase, name) : usually;
        Usual usual = perCall.usual(part.kind(), phase, name, methods);
        return isMissed(usual, perCall.now(phase, name, methods), each(phase, name, methods))
                || isOfStart(part, phase, methods)
                || (usual.count() <= BEHIND_CACHE && caches.cacheOf(part) != null);
    }

    /**
     * Returns whether calls run the operation more often than usual, and usually at most every second call runs it. A
     * cache that has lost its values is then more likely than code that runs too many operations.
     */
    public boolean wereRare(Part part) {
        Phase phase = phase(part);
        return areMore(part)
                && perCall.usual(part.kind(), phase, name(part), perCall.methodsThatRun(phase, name(part)))
                                .count()
                        <= HALF;
    }

    /** Returns the cache whose values the operation loads; null if no stack shows one. */
    public @Nullable String cacheOf(Part part) {
        return caches.cacheOf(part);
    }

    /**
     * Returns true if calls ran the given operation soon after the start of the process, did not run it later, and are
     * running it again. In this case, a cache was empty at the start and no longer holds the values. One of three
     * conditions must be met: the operation is short, it takes about as long as at the start, or all operations on its
     * server became slower. In the third case, the additional operations keep the server busy.
     */
    private boolean isOfStart(Part part, Phase phase, Map<String, Integer> methods) {
        String name = name(part);
        double then = operations.ofStart(phase, name, methods.keySet());
        return then >= 0
                && isUnusual(part.kind(), phase, name, methods)
                && perCall.now(phase, name, methods) >= HALF
                && (areMany(part.kind(), name)
                        || operations.of(phase, name).eachNanos() <= SLOWER * then
                        || operations.isServerSlower(part));
    }

    /**
     * Returns the mean time of the given operation. The mean over all calls shows whether it became slower. If only the
     * mean over late calls is known, returns this mean.
     */
    private double each(Phase phase, String name, Map<String, Integer> methods) {
        double late = operations.of(phase, name).eachNanos();
        double all = perCall.each(phase, name, methods);
        return all > 0 ? Math.min(late, all) : late;
    }

    /** Returns whether calls run the operation more often than usual, and chance does not explain the difference. */
    private static boolean isNotablyMore(double now, Usual usual, double calls) {
        return now >= NOTABLY_MORE * usual.count()
                && now - usual.count() >= DEVIATIONS * Math.sqrt(now / Math.max(1, calls));
    }

    private static boolean isMissed(Usual usual, double now, double each) {
        if (usual.count() <= 0 || usual.eachNanos() < 0) {
            return false;
        }
        // While a slow load is in progress, more calls find no value in the cache and load it, too. If the load is the
        // reason, the number of loads therefore grows by at most the same factor as the time of a load. If nearly every
        // call loads a value, however, the cache has lost its values.
        boolean areLoadsTheReason = now >= BEHIND_CACHE || hasGrownMore(now, usual, each);
        boolean isCached = usual.count() <= BEHIND_CACHE && now <= ONCE;
        return isCached
                && ((now >= MANY_MORE * usual.count() && areLoadsTheReason)
                        || (now >= NEARLY_EACH && now >= MORE_MISSES * usual.count())
                        || (now >= MORE_MISSES * usual.count() && each <= SLOWER * usual.eachNanos()));
    }

    /** Returns whether calls run two operations of one kind about equally often, both currently and usually. */
    boolean areEquallyFrequent(Part one, Part other) {
        Phase phase = phase(one);
        Map<String, Integer> methods = perCall.methodsThatRun(phase, name(other));
        return areSimilar(
                        perCall.usual(one.kind(), phase, name(one), methods).count(),
                        perCall.usual(other.kind(), phase, name(other), methods).count())
                && areSimilar(perCall.now(phase, name(one), methods), perCall.now(phase, name(other), methods));
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
        // Only methods whose calls run the given operation are considered. Calls to other methods may run fewer
        // operations than usual, for example because they fail early.
        Map<String, Integer> methods = perCall.methodsThatRun(phase, name(part));
        double usuallyAll = perCall.usual(part.kind(), phase, "", methods).count();
        return usuallyAll >= 0
                && isUnusual(part.kind(), phase, name(part), methods)
                && perCall.now(phase, name(part), methods) > 0
                && perCall.now(phase, "", methods) - usuallyAll
                        >= MOSTLY * perCallOfUnusual(part.kind(), phase, methods);
    }

    /**
     * Returns whether the given operation is absent from normal calls. The operation may be additional, or may replace
     * other operations.
     */
    public boolean areUnusual(Part part) {
        Phase phase = Operations.phase(part.kind());
        if (phase == null || !isCounted(part)) {
            return false;
        }
        Map<String, Integer> methods = perCall.methodsThatRun(phase, name(part));
        return perCall.usual(part.kind(), phase, "", methods).count() >= 0
                && isUnusual(part.kind(), phase, name(part), methods);
    }

    /**
     * Returns whether neither normal calls nor the first calls of the process ran the given operation. If stacks show a
     * cache that loads values with the operation, the cache may have been filled in another way, so returns false.
     */
    public boolean areNeverRun(Part part) {
        Phase phase = phase(part);
        return areUnusual(part)
                && operations.usualNamed(phase, name(part)) < 0
                && operations.ofStart(
                                phase,
                                name(part),
                                methodsThatRun(phase, name(part)).keySet())
                        < 0
                && cacheOf(part) == null;
    }

    /**
     * Returns whether calls run the given operation at most {@code mostPerCall} times on average, both currently and
     * usually. Considers only the methods whose late or failed calls run it, because calls to other methods never run
     * it.
     */
    public boolean areRare(Part part, double mostPerCall) {
        Phase phase = phase(part);
        return areUsuallyRare(part, mostPerCall)
                && perCall.now(phase, name(part), perCall.methodsThatRun(phase, name(part))) <= mostPerCall;
    }

    /**
     * Returns whether calls usually run the given operation at most {@code mostPerCall} times on average. Unlike {@link
     * #areRare}, ignores the current number of operations.
     */
    public boolean areUsuallyRare(Part part, double mostPerCall) {
        Phase phase = phase(part);
        Map<String, Integer> methods = perCall.methodsThatRun(phase, name(part));
        return perCall.usual(part.kind(), phase, name(part), methods).count() <= mostPerCall;
    }

    /** Returns the methods whose late or failed calls run the operation, each with the number of these calls. */
    public Map<String, Integer> methodsThatRun(Phase phase, String name) {
        return perCall.methodsThatRun(phase, name);
    }

    private boolean isUnusual(Kind kind, Phase phase, String name, Map<String, Integer> methods) {
        return perCall.usual(kind, phase, name, methods).count() == 0;
    }

    /** Returns the mean number of new operations per call. An operation is new if normal calls do not contain it. */
    private double perCallOfUnusual(Kind kind, Phase phase, Map<String, Integer> methods) {
        return operations.each(phase).keySet().stream()
                .map(name -> name(new Part(kind, name)))
                .distinct()
                .filter(name -> isUnusual(kind, phase, name, methods))
                .mapToDouble(name -> perCall.now(phase, name, methods))
                .sum();
    }

    /** Returns whether calls usually run any operations of the given kind. */
    public boolean areUsualOfKind(Kind kind) {
        Phase phase = Operations.phase(kind);
        return phase != null && perCall.usual(kind, phase, "").count() > 0;
    }

    /** Returns whether HTTP exchanges of calls are redirected several times as often as usual. */
    public boolean areMoreRedirects() {
        double usually =
                perCall.usual(Kind.HTTP, Phase.HTTP, OperationNames.REDIRECTED).count();
        double now = perCall.now(Phase.HTTP, OperationNames.REDIRECTED);
        return usually >= 0 && now > 0 && now >= MANY_MORE * usually;
    }

    private static boolean isCounted(Part part) {
        boolean isNamed = !part.name().isEmpty() && !part.name().equals(NamedTimes.OTHERS);
        return part.kind() != Kind.LOG && isNamed && !part.name().startsWith(StackReader.CALLED);
    }

    /** Returns whether the number of operations has grown by at least the same factor as their duration. */
    private static boolean hasGrownMore(double count, Usual usual, double eachNanos) {
        return count * usual.eachNanos() >= usual.count() * eachNanos;
    }

    /**
     * Returns the name under which operations are counted. For remote calls, this is the method, so the calls to all of
     * its providers are counted together.
     */
    static String name(Part part) {
        String method = part.kind() == Kind.RPC ? OperationNames.method(part.name()) : null;
        return method == null ? part.name() : method;
    }

    static Phase phase(Part part) {
        Phase phase = Operations.phase(part.kind());
        return phase == null ? Phase.OWN : phase;
    }
}
