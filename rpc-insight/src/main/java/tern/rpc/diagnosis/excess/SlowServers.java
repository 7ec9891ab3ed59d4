package tern.rpc.diagnosis.excess;

import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;
import tern.rpc.NamedTimes;
import tern.rpc.Phase;
import tern.rpc.diagnosis.account.EndedCall;
import tern.rpc.diagnosis.account.OperationNames;
import tern.rpc.diagnosis.account.Part;
import tern.rpc.diagnosis.account.Part.Kind;
import tern.rpc.diagnosis.account.Times;

/**
 * Finds out whether all operations of one kind (such as all statements), or all operations on one peer (such as one of
 * several data sources or Redis servers), became slower. If so, the server of these operations, or the network to the
 * server, is the likely cause.
 */
public final class SlowServers {

    /**
     * If only two operations are known and one of them takes more than {@value} of their extra time (above their usual
     * time), this operation is assumed to be slow, and not the server.
     */
    private static final double DOMINANT = 0.8;

    /** An operation counts as much slower than usual if it takes at least {@value} times its usual time. */
    private static final double MUCH_SLOWER = 10;

    /** Another peer can count as quick only if at least {@value} of its operations were measured. */
    private static final int MIN_QUICK = 3;

    private final ExcessTime excess;
    private final Operations operations;

    public SlowServers(ExcessTime excess, Operations operations) {
        this.excess = excess;
        this.operations = operations;
    }

    /** Returns the names of all operations of the given kind if all of them became slower; otherwise an empty set. */
    Set<String> all(Kind kind) {
        Phase phase = Operations.phase(kind);
        Map<String, Double> each = phase == null ? Map.of() : new MeanTimes(excess.ledgers(), phase).ofFrequent();
        if (phase == null) {
            return Set.of();
        }
        Set<String> slower = slower(kind, phase, each);
        if (slower.isEmpty()) {
            return Set.of();
        }
        // Several data sources, Redis servers or peers rarely become slow at the same time for different reasons. If
        // only one of them is slow, the slowdown does not concern all operations of this kind.
        boolean oneOfSeveral = isOfPeer(kind)
                || each.keySet().stream()
                        .anyMatch(name -> !OperationNames.store(name).isEmpty());
        CommonSlowdown together = new CommonSlowdown(each, name -> operations.usualNamed(phase, name));
        boolean isOneSlow = stores(kind, each.keySet()).size() == 1
                || isAnyQuick(phase, each.keySet())
                || together.standsOut(name -> storeOf(kind, name));
        return (oneOfSeveral && isOneSlow) || arePunctual(kind, "", phase, slower) ? Set.of() : slower;
    }

    /**
     * Returns whether methods that meet the target run other operations of the given kind. If so, the slow operations
     * are slow for a reason that concerns only them, and not because of their server or the network.
     */
    private boolean arePunctual(Kind kind, String store, Phase phase, Set<String> slower) {
        Map<String, Double> each = new MeanTimes(excess.ledgers(), phase).ofFrequent();
        double longer = slower.stream()
                .filter(name -> operations.usualNamed(phase, name) >= 0)
                .mapToDouble(name -> each.getOrDefault(name, 0.0) - operations.usualNamed(phase, name))
                .min()
                .orElse(0);
        return excess.punctualMethods().runOthers(kind, store, slower, longer);
    }

    /**
     * Returns the operations of one store or peer if all of them became slower than usual; otherwise an empty set. The
     * usual times of at least two operations must be known, because a new operation may be slow even if the server is
     * not slower than usual.
     */
    Set<String> allOf(Kind kind, String store) {
        Phase phase = Operations.phase(kind);
        if (phase == null || store.isEmpty()) {
            return Set.of();
        }
        Map<String, Double> each = new MeanTimes(excess.ledgers(), phase).ofFrequent();
        each.keySet().removeIf(name -> !OperationNames.store(name).equals(store));
        boolean isKnown = new CommonSlowdown(each, name -> operations.usualNamed(phase, name)).isKnown();
        boolean isQuickPeer = isOfPeer(kind) && areOthersQuick(phase, store, each.keySet());
        Set<String> slower = isKnown && !isQuickPeer ? slower(kind, phase, each) : Set.of();
        return arePunctual(kind, store, phase, slower) ? Set.of() : slower;
    }

    /**
     * Returns the names of the given operations if all of them became slower. Returns an empty set if writing
     * statements hang although the database answers reading statements. If another client repeatedly blocks a Redis
     * server, returns the names of the commands waiting for it. Otherwise returns an empty set.
     */
    private Set<String> slower(Kind kind, Phase phase, Map<String, Double> each) {
        if (kind == Kind.SQL && new HangingWrites(excess, operations).isAny(each.keySet())) {
            return Set.of();
        }
        if (areSlower(kind, phase, each)) {
            return new LinkedHashSet<>(each.keySet());
        }
        return kind == Kind.REDIS ? new RedisPauses(excess, operations).delayed(each.keySet()) : Set.of();
    }

    /**
     * Considers only stores and peers whose operations have all become slower. Returns the store or peer whose
     * operations take the largest part of the given times; null if there is none.
     *
     * @param times the time by which operations of one kind exceed their usual time
     */
    @Nullable
    public String slowest(Kind kind, Times times) {
        Times byStore = new Times();
        for (Part part : times.only(part -> part.kind() == kind).longestFirst()) {
            byStore.add(new Part(kind, OperationNames.store(part.name())), times.of(part));
        }
        return byStore.longestFirst().stream()
                .map(Part::name)
                .filter(store -> !allOf(kind, store).isEmpty())
                .findFirst()
                .orElse(null);
    }

    /** @param each the mean time of each operation, by the operation's name */
    private boolean areSlower(Kind kind, Phase phase, Map<String, Double> each) {
        double usually = operations.usualEach(phase);
        if (usually < 0 || each.size() < 2) {
            return false;
        }
        double threshold = least(usually);
        CommonSlowdown together = new CommonSlowdown(each, name -> operations.usualNamed(phase, name));
        double sum = excess.times.sum(part -> part.kind() == kind && each.containsKey(part.name()));
        for (Map.Entry<String, Double> entry : each.entrySet()) {
            boolean dominant = excess.times.of(new Part(kind, entry.getKey())) > DOMINANT * sum;
            boolean isSlower = together.isKnown() ? together.isSlower(entry.getKey()) : entry.getValue() >= threshold;
            if (!isSlower || (dominant && each.size() < 3 && !(isOfPeer(kind) && areAllMuchSlower(phase, each)))) {
                return false;
            }
        }
        return !together.isKnown() || !together.standsOut(UnaryOperator.identity());
    }

    /**
     * Returns whether every operation takes many times as long as usual, as if the peer did not answer. In this case,
     * the operation that takes most of the time may simply be the most frequent one.
     */
    private boolean areAllMuchSlower(Phase phase, Map<String, Double> each) {
        return each.entrySet().stream().allMatch(entry -> {
            double usually = operations.usualNamed(phase, entry.getKey());
            return usually > 0 && entry.getValue() >= MUCH_SLOWER * usually;
        });
    }

    private static double least(double usually) {
        return Math.max(Operations.WIDE_FACTOR * usually, usually + Operations.WIDE_NANOS);
    }

    /**
     * Returns the stores or peers of the given operations. A remote call whose name contains no provider, such as a
     * stream, does not count if the providers of other remote calls are known.
     */
    private static Set<String> stores(Kind kind, Set<String> names) {
        Set<String> stores = new TreeSet<>();
        for (String name : names) {
            if (kind != Kind.RPC || !OperationNames.store(name).isEmpty()) {
                stores.add(storeOf(kind, name));
            }
        }
        if (stores.isEmpty()) {
            names.forEach(name -> stores.add(storeOf(kind, name)));
        }
        return stores;
    }

    /** Returns the store or peer of the operation; for a peer without a name, its address. */
    private static String storeOf(Kind kind, String name) {
        String store = OperationNames.store(name);
        return store.isEmpty() && isOfPeer(kind) ? OperationNames.address(name) : store;
    }

    /** Returns whether the names of operations of the given kind contain a peer even if there is only one peer. */
    private static boolean isOfPeer(Kind kind) {
        return kind == Kind.HTTP || kind == Kind.RPC;
    }

    /**
     * Returns whether the peer answers other requests in their usual time. If so, neither the peer as a whole nor the
     * network to it is slow. Considers only calls that met the target during the miss.
     */
    private boolean areOthersQuick(Phase phase, String store, Set<String> slow) {
        Map<String, long[]> sums = new HashMap<>();
        for (EndedCall call : excess.goodDuringMiss()) {
            for (NamedTimes.Entry entry : call.ledger().named()) {
                if (entry.kind() == phase
                        && !slow.contains(entry.name())
                        && OperationNames.store(entry.name()).equals(store)) {
                    long[] sum = sums.computeIfAbsent(entry.name(), name -> new long[2]);
                    sum[0] += entry.count();
                    sum[1] += entry.nanos();
                }
            }
        }
        return sums.entrySet().stream().anyMatch(entry -> {
            double usually = operations.usualNamed(phase, entry.getKey());
            long[] sum = entry.getValue();
            return usually > 0 && sum[0] >= MIN_QUICK && sum[1] < least(usually) * sum[0];
        });
    }

    /**
     * Returns whether another store or peer answered quickly in calls that met the target, which rules out a slow
     * network.
     */
    private boolean isAnyQuick(Phase phase, Set<String> slow) {
        double leastNanos = least(operations.usualEach(phase));
        Map<String, long[]> sums = new HashMap<>();
        for (EndedCall call : excess.good()) {
            for (NamedTimes.Entry entry : call.ledger().named()) {
                if (entry.kind() == phase) {
                    long[] sum = sums.computeIfAbsent(entry.name(), name -> new long[2]);
                    sum[0] += entry.count();
                    sum[1] += entry.nanos();
                }
            }
        }
        return sums.entrySet().stream()
                .anyMatch(entry -> !slow.contains(entry.getKey())
                        && entry.getValue()[0] >= MIN_QUICK
                        && entry.getValue()[1] < leastNanos * entry.getValue()[0]);
    }
}
