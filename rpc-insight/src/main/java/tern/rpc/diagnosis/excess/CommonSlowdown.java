package tern.rpc.diagnosis.excess;

import java.util.Collection;
import java.util.Comparator;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.ToDoubleFunction;
import java.util.function.UnaryOperator;
import java.util.stream.Collectors;

/**
 * Compares each operation with its own usual time, to find out whether operations with different usual times have
 * become slower together.
 */
final class CommonSlowdown {

    private static final double LEAST_NANOS = 3e6;
    private static final double HALF = 0.5;
    private static final double OUTSTANDING = 3;

    /** Times count as about the same if the longest time is less than {@value} times the shortest time. */
    private static final double SAME = 1.5;

    private final Map<String, Double> each;
    private final Map<String, Double> usual = new TreeMap<>();

    /**
     * @param each the mean current time of each operation, by the operation's name
     * @param usual returns the usual time of the operation with the given name; -1 if unknown
     */
    CommonSlowdown(Map<String, Double> each, ToDoubleFunction<String> usual) {
        this.each = each;
        each.keySet().forEach(name -> {
            double usually = usual.applyAsDouble(name);
            if (usually >= 0) {
                this.usual.put(name, usually);
            }
        });
    }

    /** Returns whether the usual times of at least two operations are known. */
    boolean isKnown() {
        return usual.size() > 1;
    }

    /**
     * Returns whether the given operation became notably slower. The time above its usual time must be at least half of
     * the usual time, or at least half of the time by which the usually quickest operation exceeds its own usual time.
     * Returns true for a new operation, because nothing is known about it.
     */
    boolean isSlower(String name) {
        Double usually = usual.get(name);
        if (usually == null) {
            return true;
        }
        String quickest = usual.entrySet().stream()
                .min(Map.Entry.<String, Double>comparingByValue().thenComparing(Map.Entry.comparingByKey()))
                .map(Map.Entry::getKey)
                .orElse(name);
        return longer(name) >= Math.max(LEAST_NANOS, HALF * Math.min(usually, longer(quickest)));
    }

    /**
     * Returns whether one group of operations slowed down much more than all others, both in milliseconds and relative
     * to its usual time. The other operations may then be slower only because they wait for something that the slow
     * operations occupy. Returns false if only one group is known.
     *
     * @param group returns the group of the operation with the given name, for example its server
     */
    boolean standsOut(UnaryOperator<String> group) {
        Set<String> groups = usual.keySet().stream().map(group).collect(Collectors.toSet());
        for (String slow : groups.size() > 1 ? groups : Set.<String>of()) {
            double leastTime = Double.MAX_VALUE;
            double leastFactor = Double.MAX_VALUE;
            double mostTime = 0;
            double mostFactor = 1;
            for (String name : usual.keySet()) {
                if (group.apply(name).equals(slow)) {
                    leastTime = Math.min(leastTime, longer(name));
                    leastFactor = Math.min(leastFactor, factor(name));
                } else {
                    mostTime = Math.max(mostTime, longer(name));
                    mostFactor = Math.max(mostFactor, factor(name));
                }
            }
            if (leastTime >= OUTSTANDING * mostTime && leastFactor >= OUTSTANDING * mostFactor) {
                return true;
            }
        }
        return false;
    }

    private double factor(String name) {
        return each.getOrDefault(name, 0.0) / Math.max(1, usual.getOrDefault(name, 1.0));
    }

    private double longer(String name) {
        return each.getOrDefault(name, 0.0) - usual.getOrDefault(name, 0.0);
    }

    /**
     * Returns whether at least two operations have become slower by about the same time. If their usual times are
     * unknown, compares their current times.
     */
    boolean isByTheSameTime() {
        return areSame(isKnown() ? usual.keySet().stream().map(this::longer).toList() : each.values());
    }

    private static boolean areSame(Collection<Double> times) {
        double smallest = times.stream().min(Comparator.naturalOrder()).orElse(0.0);
        double largest = times.stream().max(Comparator.naturalOrder()).orElse(0.0);
        return times.size() > 1 && largest < SAME * smallest;
    }
}
