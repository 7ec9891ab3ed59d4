package tern.rpc.diagnosis.excess;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;
import tern.rpc.diagnosis.account.Part;
import tern.rpc.diagnosis.account.Symptom;
import tern.rpc.diagnosis.account.Times;

/**
 * The extra time of late or failed calls (above their usual time) by cause, in nanoseconds. Rules move the time of a
 * symptom, such as a wait for a pool, to its cause. This class stores the activity or wait in which the moved time was
 * measured. Not thread-safe.
 */
public final class TimesByCause {

    /** The prefix of most symptom texts. */
    public static final String WAIT_FOR = "calls wait for ";

    /**
     * An activity or wait counts as a main cause of a symptom if it takes at least {@value} of the time of all causes
     * of the symptom.
     */
    private static final double MAIN = 0.2;

    private final Times now = new Times();

    // For each cause, the activities and waits in which its time was measured.
    private final Map<Part, Times> origins = new HashMap<>();
    private final Map<Part, List<Symptom>> symptoms = new HashMap<>();
    private final double leastSymptomNanos;

    /**
     * @param leastSymptomNanos the minimum mean time per call that a symptom, such as a wait, must take. Shorter
     *     symptoms are not listed with their causes
     */
    public TimesByCause(double leastSymptomNanos) {
        this.leastSymptomNanos = leastSymptomNanos;
    }

    public void add(Part part, double nanos) {
        if (nanos > 0) {
            now.add(part, nanos);
            origin(part).add(part, nanos);
        }
    }

    public void addAll(Times times) {
        times.longestFirst().forEach(part -> add(part, times.of(part)));
    }

    /** Moves the time that calls spend on one activity or wait, above the usual time, to another activity or wait. */
    public void move(Part from, Part to) {
        if (!from.equals(to)) {
            Times one = new Times();
            one.add(to, 1);
            divide(from, one);
        }
    }

    /**
     * Distributes the time of a symptom among its causes in proportion to their times. Does nothing if there are no
     * causes. If the symptom is one of its own causes, it keeps its share.
     *
     * @param symptom the text of the symptom; it is stored with the main causes
     */
    public void pour(Part from, Times into, String symptom) {
        double sum = into.sum();
        double moved = divide(from, into) * (1 - into.of(from) / Math.max(sum, Double.MIN_VALUE));
        for (Part part : into.longestFirst()) {
            if (moved >= leastSymptomNanos && into.of(part) >= MAIN * sum && !part.equals(from)) {
                symptoms.computeIfAbsent(part, name -> new ArrayList<>()).add(new Symptom(from, symptom, moved));
            }
        }
    }

    /** Returns whether the given activity or wait is neither a wait in a queue nor a wait for a pool. */
    public static boolean isLeaf(Part part) {
        return part.kind() != Part.Kind.QUEUE && part.kind() != Part.Kind.POOL;
    }

    public Map<Part, List<Symptom>> symptoms() {
        return symptoms;
    }

    /**
     * Distributes the extra time of an activity or wait among other activities and waits. Returns the distributed time,
     * or 0 if there are no other activities and waits.
     */
    public double divide(Part from, Times into) {
        double sum = into.sum();
        if (sum <= 0) {
            return 0;
        }
        double moved = now.remove(from);
        Times origin = origins.remove(from);
        for (Part part : into.longestFirst()) {
            double share = into.of(part) / sum;
            now.add(part, moved * share);
            if (origin != null) {
                origin(part).addAll(origin, share);
            }
        }
        return moved;
    }

    private Times origin(Part part) {
        return origins.computeIfAbsent(part, unknown -> new Times());
    }

    /** Returns the fraction of the extra time of an activity or wait that was moved to the given cause, from 0 to 1. */
    public double share(Part measured, Part cause) {
        double all = 0;
        for (Times origin : origins.values()) {
            all += origin.of(measured);
        }
        Times origin = origins.get(cause);
        return origin == null || all <= 0 ? 0 : origin.of(measured) / all;
    }

    /**
     * Returns the extra time that was measured in the accepted activities and waits, by the cause that it was moved to.
     */
    public Times causesOf(Predicate<Part> measured) {
        Times causes = new Times();
        origins.forEach((cause, origin) -> causes.add(cause, origin.sum(measured)));
        return causes;
    }

    public double of(Part part) {
        return now.of(part);
    }

    public double sum() {
        return now.sum();
    }

    public double sum(Part.Kind kind) {
        return now.sum(kind);
    }

    public Times only(Predicate<Part> wanted) {
        return now.only(wanted);
    }

    /**
     * Returns the activities and waits, sorted by their extra time, longest first. Activities and waits with equal
     * times are sorted by name.
     */
    public List<Part> longestFirst() {
        return now.longestFirst();
    }
}
