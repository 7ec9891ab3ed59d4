package tern.rpc.diagnosis.excess;

import java.util.Comparator;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;
import tern.rpc.NamedTimes;
import tern.rpc.Phase;
import tern.rpc.diagnosis.account.OperationNames;
import tern.rpc.diagnosis.account.Part;
import tern.rpc.diagnosis.account.Part.Kind;
import tern.rpc.diagnosis.account.Times;

/**
 * Recognizes calls that run many more statements or commands than usual while each operation on the same server has
 * become slower, as with one statement per row and a slow network to the database. These are two causes: the time of
 * the additional operations at their usual duration, and the additional duration of each operation.
 */
public final class ManySlowOperations {

    /** Calls run many more operations than usual if their number is at least {@value} times the usual number. */
    private static final double MANY_MORE = 3;

    /** An operation counts as slower only if it exceeds its usual time by at least {@value} of the usual time. */
    private static final double SLOWER = 0.5;

    /**
     * Operations are assumed to wait for the same reason if the times by which they exceed their usual times differ at
     * most by the factor {@value}.
     */
    private static final double ALIKE = 2;

    private final Operations operations;
    private final OperationsPerCall perCall;
    private final Map<Kind, Found> known = new HashMap<>();

    public ManySlowOperations(Evidence evidence, ExcessTime excess, Operations operations) {
        this.operations = operations;
        this.perCall = new OperationsPerCall(evidence, excess, operations);
    }

    /**
     * The operation that calls run many times.
     *
     * @param name the name of the operation; empty if there is none
     * @param ofNumber the share of its extra time (above its usual time) that results from its number
     * @param slower all slower operations on its server
     */
    private record Found(String name, double ofNumber, Set<String> slower) {

        static final Found NONE = new Found("", 0, Set.of());
    }

    /** Returns whether calls run the operation many times, and each operation on its server is slower, too. */
    public boolean areMany(Part part) {
        return !part.name().isEmpty() && find(part.kind()).name.equals(part.name());
    }

    /** Returns the names of the slower operations; empty if no operation is run many times. */
    public Set<String> slower(Kind kind) {
        return find(kind).slower;
    }

    /**
     * Divides the extra time (above the usual time) of the operations between two causes: calls run one operation many
     * times, and the server of the operation is slow.
     *
     * @return whether there are two causes
     */
    public boolean divide(Kind kind, TimesByCause byCause) {
        Found found = find(kind);
        if (found.name.isEmpty()) {
            return false;
        }
        Part server = Part.of(kind);
        for (Part part : byCause.only(part -> part.kind() == kind).longestFirst()) {
            if (part.name().equals(found.name)) {
                Times both = new Times();
                both.add(part, found.ofNumber);
                both.add(server, 1 - found.ofNumber);
                byCause.divide(part, both);
            } else if (found.slower.contains(part.name())) {
                byCause.move(part, server);
            }
        }
        return true;
    }

    private Found find(Kind kind) {
        return known.computeIfAbsent(kind, this::search);
    }

    private Found search(Kind kind) {
        Phase phase = kind == Kind.SQL || kind == Kind.REDIS ? Operations.phase(kind) : null;
        if (phase == null) {
            return Found.NONE;
        }
        Map<String, Double> each = operations.each(phase);
        each.remove(NamedTimes.OTHERS);
        String many = each.keySet().stream()
                .filter(name -> areManyMore(kind, phase, name))
                .max(Comparator.comparingDouble(
                        name -> operations.of(phase, name).count() * each.getOrDefault(name, 0.0)))
                .orElse(null);
        return many == null ? Found.NONE : divided(kind, phase, many, each);
    }

    private boolean areManyMore(Kind kind, Phase phase, String name) {
        double now = perCall.now(phase, name);
        double usually = perCall.usual(kind, phase, name).count();
        return now >= Operations.MANY && usually >= 0 && now >= MANY_MORE * usually;
    }

    private Found divided(Kind kind, Phase phase, String many, Map<String, Double> each) {
        Double longer = longerOthers(phase, many, each);
        double now = each.getOrDefault(many, 0.0);
        double usually = operations.usualNamed(phase, many);
        if (longer == null || now <= 0) {
            return Found.NONE;
        }
        double additional = usually < 0 ? Math.min(longer, now) : now - usually;
        if (additional < longer / ALIKE || additional > longer * ALIKE) {
            return Found.NONE;
        }
        double count = perCall.now(phase, many);
        double ofNumber = (count - perCall.usual(kind, phase, many).count()) * (now - additional);
        double all = ofNumber + count * additional;
        Set<String> slower = new TreeSet<>(each.keySet());
        slower.removeIf(name -> !OperationNames.store(name).equals(OperationNames.store(many)));
        return ofNumber <= 0 ? Found.NONE : new Found(many, ofNumber / all, slower);
    }

    /**
     * Returns the mean time by which the other operations on the server of the frequent operation exceed their usual
     * times. Returns null if one of these operations is not slower than usual, or if there is none.
     *
     * @param many the name of the operation that calls run many times
     */
    private @Nullable Double longerOthers(Phase phase, String many, Map<String, Double> each) {
        double sum = 0;
        int count = 0;
        for (Map.Entry<String, Double> entry : each.entrySet()) {
            String name = entry.getKey();
            double usually = operations.usualNamed(phase, name);
            if (name.equals(many) || usually < 0 || !OperationNames.store(name).equals(OperationNames.store(many))) {
                continue;
            }
            double longer = entry.getValue() - usually;
            if (longer < Math.max(Operations.WIDE_NANOS, SLOWER * usually)) {
                return null;
            }
            sum += longer;
            count++;
        }
        return count == 0 ? null : sum / count;
    }
}
