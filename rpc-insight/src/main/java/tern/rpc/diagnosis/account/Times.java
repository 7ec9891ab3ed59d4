package tern.rpc.diagnosis.account;

import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.Predicate;

/** Durations in nanoseconds, by activity or wait. Not thread-safe. */
public final class Times {

    private final Map<Part, Double> nanos = new LinkedHashMap<>();

    public void add(Part part, double spent) {
        if (spent > 0) {
            nanos.merge(part, spent, Double::sum);
        }
    }

    public void addAll(Times other, double factor) {
        other.nanos.forEach((part, spent) -> add(part, spent * factor));
    }

    public double of(Part part) {
        return nanos.getOrDefault(part, 0.0);
    }

    public double sum() {
        return sum(part -> true);
    }

    public double sum(Predicate<Part> wanted) {
        double sum = 0;
        for (Map.Entry<Part, Double> entry : nanos.entrySet()) {
            if (wanted.test(entry.getKey())) {
                sum += entry.getValue();
            }
        }
        return sum;
    }

    public double sum(Part.Kind kind) {
        return sum(part -> part.kind() == kind);
    }

    public Times only(Predicate<Part> wanted) {
        Times chosen = new Times();
        nanos.forEach((part, spent) -> {
            if (wanted.test(part)) {
                chosen.add(part, spent);
            }
        });
        return chosen;
    }

    public double remove(Part part) {
        Double removed = nanos.remove(part);
        return removed == null ? 0 : removed;
    }

    public void scale(double factor) {
        nanos.replaceAll((part, spent) -> spent * factor);
    }

    public void scale(Predicate<Part> wanted, double factor) {
        nanos.replaceAll((part, spent) -> wanted.test(part) ? spent * factor : spent);
    }

    /** Returns the activities and waits, longest first. Entries of equal duration are sorted by kind and name. */
    public List<Part> longestFirst() {
        return nanos.keySet().stream()
                .sorted(Comparator.<Part>comparingDouble(part -> -of(part))
                        .thenComparing(part -> part.kind().ordinal())
                        .thenComparing(Part::name))
                .toList();
    }

    /** Formats a duration in milliseconds. */
    public static String millis(double nanos) {
        return String.format(Locale.ROOT, nanos < 10e6 ? "%.1f" : "%.0f", nanos / 1e6);
    }

    public boolean isEmpty() {
        return nanos.isEmpty();
    }
}
