package tern.rpc.diagnosis.excess;

import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Predicate;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import tern.rpc.CallLedger;
import tern.rpc.NamedTimes;
import tern.rpc.Phase;
import tern.rpc.diagnosis.account.Account;
import tern.rpc.diagnosis.account.EndedCall;
import tern.rpc.diagnosis.account.OperationNames;
import tern.rpc.diagnosis.account.Part;
import tern.rpc.diagnosis.account.Part.Kind;
import tern.rpc.diagnosis.calls.Answers;
import tern.rpc.diagnosis.calls.Baseline;
import tern.rpc.diagnosis.calls.UsualOperations;
import tern.rpc.diagnosis.stack.StackReader;

/**
 * The operations of late or failed calls: the number of operations per call, their duration, and the code that runs
 * them.
 */
public final class Operations {

    /** An operation counts as much slower than usual only if it takes at least {@value} times its usual time. */
    static final double WIDE_FACTOR = 3;

    /**
     * Another operation counts as not slower if the time above its usual time is below {@value} of the time by which
     * the examined operation exceeds its own usual time.
     */
    private static final double SMALL = 0.1;

    /**
     * Another operation counts as not slower if its slowdown factor (the time divided by the usual time) is below
     * {@value} of the examined operation's factor.
     */
    private static final double SMALL_FACTOR = 0.05;

    public static final double WIDE_NANOS = 3e6;

    /**
     * If calls run at least {@value} operations on average, the number of operations is the cause, and not their
     * duration.
     */
    public static final int MANY = 8;

    private final ExcessTime excess;
    private final UsualOperations usual;
    private final Answers answers;

    public Operations(ExcessTime excess, Baseline usual, Answers answers) {
        this.excess = excess;
        this.usual = new UsualOperations(usual);
        this.answers = answers;
    }

    /** Returns whether two operations run on the same database or Redis server, as far as their servers are known. */
    public boolean areOfSameServer(String operation, String other) {
        return answers.areOfSameServer(operation, other);
    }

    /** Returns whether the names of two operations show that they run on different servers. */
    public boolean areOfOtherServers(String operation, String other) {
        return !OperationNames.store(operation).isEmpty()
                && !OperationNames.store(other).isEmpty()
                && !areOfSameServer(operation, other);
    }

    /** Returns whether all operations on the server of the given operation became slower. */
    public boolean isServerSlower(Part operation) {
        Kind kind = operation.kind();
        return !allSlower(kind).isEmpty()
                || !allSlowerOf(kind, OperationNames.store(operation.name())).isEmpty();
    }

    /** Returns the phase in which operations of the given kind run; null if the kind does not represent operations. */
    public static @Nullable Phase phase(Kind kind) {
        return switch (kind) {
            case SQL -> Phase.SQL;
            case REDIS -> Phase.REDIS;
            case HTTP -> Phase.HTTP;
            case RPC -> Phase.RPC;
            case LOG -> Phase.LOGGING;
            default -> null;
        };
    }

    /**
     * Returns a predicate for the activities and waits that belong to a cause. A cause is usually a single activity or
     * wait. If the operations of one kind, or of one remote method, were merged into one cause, the predicate matches
     * all of these operations.
     */
    public static Predicate<Part> only(Part cause) {
        boolean joined = cause.name().isEmpty() && phase(cause.kind()) != null;
        if (OperationNames.storeOfAll(cause) != null) {
            return part -> part.kind() == cause.kind() && OperationNames.isNamed(part.name(), cause.name());
        }
        boolean isMethod = cause.kind() == Kind.RPC && OperationNames.method(cause.name()) == null;
        return joined || isMethod
                ? part -> part.kind() == cause.kind() && (joined || OperationNames.isNamed(part.name(), cause.name()))
                : cause::equals;
    }

    /**
     * Operations that have the same name, or are of the same kind.
     *
     * @param count the mean number of operations, among calls with at least one operation
     * @param eachNanos the mean time of one operation; 0 if there was none
     */
    public record Sum(double count, double eachNanos) {}

    /**
     * Returns the operations with the given name. If an asynchronous operation was still running at the end of its call
     * and had taken longer than the latency target, its time until the end of the call is counted.
     *
     * @param name the operation's name; empty for all operations of the phase
     */
    public Sum of(Phase phase, String name) {
        double count = 0;
        double nanos = 0;
        int calls = 0;
        for (ExcessTime.Counted counted : excess.accounts) {
            EndedCall call = counted.call();
            double ofCall = name.isEmpty() ? call.ledger().count(phase) : 0;
            double spent = name.isEmpty() ? call.ledger().nanos(phase, call.endedNanos()) : 0;
            for (NamedTimes.Entry entry : call.ledger().named()) {
                if (entry.kind() == phase && OperationNames.isNamed(entry.name(), name)) {
                    ofCall += entry.count();
                    spent += entry.nanos();
                }
            }
            for (NamedTimes.Entry entry : call.ledger().unfinished()) {
                if (entry.kind() == phase
                        && entry.nanos() > excess.targetNanos()
                        && (name.isEmpty() || OperationNames.isNamed(entry.name(), name))) {
                    // Without a name, the ledger's count already contains the unfinished operation, because the ledger
                    // counts operations when they begin.
                    ofCall += name.isEmpty() ? 0 : entry.count();
                    spent += entry.nanos();
                }
            }
            count += ofCall;
            nanos += spent;
            calls += ofCall > 0 ? 1 : 0;
        }
        return new Sum(calls == 0 ? 0 : count / calls, count == 0 ? 0 : nanos / count);
    }

    /** Returns the usual time of one operation of the given kind; -1 if unknown. */
    public double usualEach(Phase phase) {
        return usual.each(phase);
    }

    /**
     * Returns the usual time of the operation with the given name. If that is unknown, returns the usual time of all
     * operations of the given kind, or -1 if both are unknown.
     */
    public double usualEach(Phase phase, String name) {
        double named = usual.each(phase, name);
        return named >= 0 ? named : usualEach(phase);
    }

    /**
     * Returns the evidence for an operation: how often a call runs it, its duration and its usual duration. Returns an
     * empty list for an operation that is known only from samples or from earlier calls.
     */
    public List<String> figures(String word, Phase phase, String name) {
        if (name.startsWith(StackReader.CALLED)) {
            return List.of();
        }
        double usually = name.isEmpty() ? usualEach(phase) : usualNamed(phase, name);
        Sum sum = sum(phase, name);
        return sum.count() == 0 ? List.of() : List.of(perCall(word, sum, usually));
    }

    /** Formats the number and duration of operations as one line. */
    public static String perCall(String word, Sum sum, double usualEachNanos) {
        return String.format(
                Locale.ROOT,
                "%-8s %.1f per call, %.1f ms each%s",
                word,
                sum.count(),
                sum.eachNanos() / 1e6,
                usualEachNanos < 0 ? "" : String.format(Locale.ROOT, ", usually %.1f ms", usualEachNanos / 1e6));
    }

    /**
     * Returns the operations with the given name. If no operation with this name was recorded, returns all operations
     * of the phase. Returns zero as the number and duration of an operation that is known only from samples.
     */
    public Sum sum(Phase phase, String name) {
        Sum named = of(phase, name);
        return named.count() > 0 || name.startsWith(StackReader.CALLED) ? named : of(phase, "");
    }

    /**
     * Returns the usual time of the operation with the given name; -1 if no usual time is known, for example because
     * the operation is new. For a remote method, or for all operations on a peer, returns the mean of the operations'
     * usual times.
     */
    public double usualNamed(Phase phase, String name) {
        double named = usual.each(phase, name);
        boolean isMethod = phase == Phase.RPC && !name.isEmpty() && OperationNames.method(name) == null;
        return named >= 0 || !(isMethod || name.startsWith(OperationNames.ALL))
                ? named
                : each(phase).keySet().stream()
                        .filter(known -> OperationNames.isNamed(known, name))
                        .mapToDouble(known -> usual.each(phase, known))
                        .filter(nanos -> nanos >= 0)
                        .average()
                        .orElse(-1);
    }

    /**
     * Returns the longest time that an operation took in calls to the given methods soon after the start of the
     * process, when caches were empty; -1 if these calls did not run it.
     */
    double ofStart(Phase phase, String name, Set<String> methods) {
        return each(phase).keySet().stream()
                .filter(known -> OperationNames.isNamed(known, name))
                .flatMap(known -> methods.stream().map(method -> usual.ofStart(phase, method, known)))
                .max(Double::compare)
                .orElse(-1.0);
    }

    /** Returns the mean number of calls that run the given operation at the same time. */
    public double atOnce(Part operation) {
        double spent = 0;
        long from = Long.MAX_VALUE;
        long to = Long.MIN_VALUE;
        for (ExcessTime.Counted counted : excess.accounts) {
            double nanos = counted.times().of(operation);
            if (nanos > 0) {
                spent += nanos;
                from = Math.min(from, counted.call().endedNanos() - (long) nanos);
                to = Math.max(to, counted.call().endedNanos());
            }
        }
        return spent <= 0 ? 0 : spent / Math.max(1, to - from);
    }

    /**
     * Returns the usual number of operations of the given kind per call, for the methods that miss the latency target;
     * -1 if unknown.
     */
    public double usualCount(Phase phase) {
        return usualCount(phase, excess.badByMethod());
    }

    /**
     * Returns the usual number of operations of the given kind per call to one of the given methods; -1 if unknown.
     *
     * @param methods the methods, with their numbers of calls
     */
    public double usualCount(Phase phase, Map<String, Integer> methods) {
        return usual.count(phase, methods);
    }

    /** Returns the mean number of operations of the given kind per late or failed call. */
    public double count(Phase phase) {
        double sum = 0;
        for (ExcessTime.Counted counted : excess.accounts) {
            sum += counted.call().ledger().count(phase);
        }
        return excess.accounts.isEmpty() ? 0 : sum / excess.accounts.size();
    }

    /** Returns the names of all operations of the given kind if all of them became slower; otherwise an empty set. */
    public Set<String> allSlower(Kind kind) {
        return new SlowServers(excess, this).all(kind);
    }

    /**
     * Returns the names of all operations on the given database, Redis server or other peer if all of them became
     * slower; otherwise an empty set.
     */
    public Set<String> allSlowerOf(Kind kind, String store) {
        return new SlowServers(excess, this).allOf(kind, store);
    }

    /**
     * Returns the remote method of an operation if the number of calls to the method is the cause: a served call makes
     * many remote calls to it, possibly to several providers, and each remote call is short and about as fast as usual.
     * Otherwise returns null.
     */
    @Nullable
    public String manyCallsOf(Part part) {
        String method = part.kind() == Kind.RPC ? OperationNames.method(part.name()) : null;
        if (method == null || OperationNames.isFailing(part.name())) {
            return null;
        }
        Sum sum = of(Phase.RPC, method);
        double usually = usualEach(Phase.RPC);
        boolean isQuick = sum.eachNanos() < excess.targetNanos() / 4.0
                && (usually < 0 || sum.eachNanos() <= WIDE_FACTOR * usually + WIDE_NANOS);
        return sum.count() >= MANY && isQuick ? method : null;
    }

    /**
     * Returns the name of the slow operation of the given kind in the calls that spent time on the given activity or
     * wait. A stack shows which code waits for an operation, but not the operation's name.
     *
     * @return the operation that takes more than half of the time of all operations of this kind; null if there is
     *     none, or if this operation takes about its usual time
     */
    @Nullable
    public String slowOne(Kind kind, Part part) {
        Phase phase = phase(kind);
        Map<String, Long> sums = new TreeMap<>();
        for (ExcessTime.Counted counted : excess.accounts) {
            if (counted.times().of(part) > 0) {
                for (NamedTimes.Entry entry : counted.call().ledger().named()) {
                    if (entry.kind() == phase && !entry.name().equals(NamedTimes.OTHERS)) {
                        sums.merge(entry.name(), entry.nanos(), Long::sum);
                    }
                }
            }
        }
        long all = sums.values().stream().mapToLong(Long::longValue).sum();
        return sums.entrySet().stream()
                .filter(entry -> phase != null && 2 * entry.getValue() > all && isSlower(phase, entry.getKey()))
                .map(Map.Entry::getKey)
                .findFirst()
                .orElse(null);
    }

    /**
     * Returns the name of the operation that takes the most time of late or failed calls, if it is slower than usual;
     * otherwise null.
     */
    @Nullable
    public String slowest() {
        for (Part part : excess.account.longestFirst()) {
            Phase phase = phase(part.kind());
            if (phase != null && !part.name().isEmpty()) {
                return isSlower(phase, part.name()) ? part.name() : null;
            }
        }
        return null;
    }

    /** Returns whether the operation takes longer than usual, or has no usual time. */
    public boolean isSlower(Part operation) {
        Phase phase = phase(operation.kind());
        return phase != null && isSlower(phase, operation.name());
    }

    private boolean isSlower(Phase phase, String name) {
        double usually = usualNamed(phase, name);
        return usually < 0 || of(phase, name).eachNanos() > usually + Math.max(usually / 2, WIDE_NANOS);
    }

    /**
     * Returns the names of the two operations of the given kind that take the most time; empty if no name is known.
     *
     * @param onlySlower whether to leave out operations that take about their usual time
     */
    public String names(Kind kind, boolean onlySlower) {
        List<String> all = named(kind)
                .filter(part -> !onlySlower || isSlower(part))
                .map(Part::name)
                .toList();
        // Some operations, such as the beginning of a transaction, appear only in stacks and not in ledgers.
        List<String> recorded = all.stream()
                .filter(name -> !name.startsWith(StackReader.CALLED))
                .toList();
        return String.join(
                ", ", (recorded.isEmpty() ? all : recorded).stream().limit(2).toList());
    }

    private Stream<Part> named(Kind kind) {
        return excess.account.longestFirst().stream()
                .filter(part -> part.kind() == kind && !part.name().isEmpty())
                .filter(part -> !part.name().equals(NamedTimes.OTHERS));
    }

    /**
     * Returns whether all operations of the given kind, such as all statements, became slower by about the same time,
     * as happens on a slow network.
     *
     * @param store the data source, Redis server or peer of these operations; empty for all operations of the kind
     */
    public boolean isSameForAll(Kind kind, String store) {
        Phase phase = phase(kind);
        if (phase == null) {
            return false;
        }
        Map<String, Double> each = new MeanTimes(excess.ledgers(), phase).ofFrequent();
        each.keySet()
                .removeIf(
                        name -> !store.isEmpty() && !OperationNames.store(name).equals(store));
        return new CommonSlowdown(each, name -> usualNamed(phase, name)).isByTheSameTime();
    }

    /**
     * Returns whether all other operations of the given kind, on the same data source or Redis server, take about their
     * usual time in late or failed calls. On a busy machine, all operations become slower. A slowdown is therefore
     * ignored if it is much smaller than the slowdown of the given operation, in milliseconds or as a factor.
     *
     * @param eachNanos the time of the given operation
     */
    public boolean othersAreAsUsual(Phase phase, String name, double eachNanos) {
        String store = OperationNames.store(name);
        Map<String, Double> each = each(phase);
        double ownUsual = Math.max(1, usualEach(phase, name));
        double additional = eachNanos - ownUsual;
        double factor = Math.max(WIDE_FACTOR, SMALL_FACTOR * eachNanos / ownUsual);
        for (Map.Entry<String, Double> entry : each.entrySet()) {
            double usually = usualEach(phase, entry.getKey());
            if (!entry.getKey().equals(name)
                    && OperationNames.store(entry.getKey()).equals(store)
                    && usually > 0
                    && entry.getValue() > factor * usually
                    && entry.getValue() > usually + Math.max(WIDE_NANOS, SMALL * additional)) {
                return false;
            }
        }
        return true;
    }

    /** Returns the mean time of each operation of the given kind, see {@link MeanTimes#each}. */
    public Map<String, Double> each(Phase phase) {
        return new MeanTimes(excess.ledgers(), phase).each();
    }

    /**
     * Returns the line of application code that most often waits for the operation with the given name. Most samples
     * contain the name of their operation. If no sample names the given operation, returns the line that the other
     * samples show in the calls that mainly run this operation. If there is no such line either, returns the line for
     * any operation of the same kind, or null if calls run this operation and others of the same kind. If the name is
     * empty, uses the operation that takes the most time.
     */
    @Nullable
    public String placeOf(Phase phase, String name) {
        if (name.startsWith(StackReader.CALLED)) {
            return excess.samples.shownLineOf(Account.part(phase, name));
        }
        if (name.isEmpty()) {
            String longest = named(Account.part(phase, "").kind())
                    .map(Part::name)
                    .filter(known -> !known.startsWith(StackReader.CALLED))
                    .findFirst()
                    .orElse("");
            return longest.isEmpty() ? shown(excess.samples.lineIn(phase), phase) : placeOf(phase, longest);
        }
        StackTraceElement named =
                excess.samples.lineIn(phase, operation -> operation != null && isSame(operation, name));
        if (named != null) {
            return shown(named, phase);
        }
        Set<CallLedger> calls = Collections.newSetFromMap(new IdentityHashMap<>());
        boolean isRecorded = false;
        boolean others = false; // whether calls run operations of this kind with other names
        for (ExcessTime.Counted counted : excess.accounts) {
            CallLedger ledger = counted.call().ledger();
            long all = 0;
            long ofName = 0;
            for (NamedTimes.Entry entry : ledger.named()) {
                all += entry.kind() == phase ? entry.nanos() : 0;
                ofName += entry.kind() == phase && isSame(entry.name(), name) ? entry.nanos() : 0;
            }
            others |= all > ofName || (ofName == 0 && ledger.count(phase) > 0);
            isRecorded |= ofName > 0;
            if (ofName > 0 && 2 * ofName >= all) {
                calls.add(ledger);
            }
        }
        StackTraceElement line = excess.samples.lineIn(phase, calls);
        boolean isAny = line == null && !(isRecorded && others);
        return shown(isAny ? excess.samples.lineIn(phase) : line, phase);
    }

    private static boolean isSame(String operation, String name) {
        return OperationNames.isNamed(operation, name)
                || OperationNames.isNamed(OperationNames.withoutStatus(operation), OperationNames.withoutStatus(name));
    }

    private @Nullable String shown(@Nullable StackTraceElement line, Phase phase) {
        return line == null ? null : excess.samples.shown(line, phase);
    }

    /**
     * Returns the given line of code as the end of a phrase, with a leading {@code in}; empty if the line is unknown.
     */
    public static String at(@Nullable String place) {
        return place == null ? "" : " in " + place;
    }
}
