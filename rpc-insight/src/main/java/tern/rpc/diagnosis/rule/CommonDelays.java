package tern.rpc.diagnosis.rule;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.EnumSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.TreeSet;
import tern.rpc.Phase;
import tern.rpc.diagnosis.account.OperationNames;
import tern.rpc.diagnosis.account.Part;
import tern.rpc.diagnosis.account.Part.Kind;
import tern.rpc.diagnosis.account.Times;
import tern.rpc.diagnosis.cause.Cause.Change;
import tern.rpc.diagnosis.cause.Cause.Where;
import tern.rpc.diagnosis.cause.CauseDescription;
import tern.rpc.diagnosis.excess.Evidence;
import tern.rpc.diagnosis.excess.ExcessTime;
import tern.rpc.diagnosis.excess.OperationCounts;
import tern.rpc.diagnosis.excess.Operations;
import tern.rpc.diagnosis.excess.TimesByCause;
import tern.rpc.diagnosis.machine.Machine;

/**
 * Recognizes calls that are late because each of their operations takes a little longer. No single peer or store
 * is then the cause, although one of them always happens to take the most time.
 */
public final class CommonDelays {

    private static final int SEVERAL = 3;

    /**
     * A common delay is assumed only if the rules attribute at least {@value} of the time above the calls' usual time
     * to operations and to the work of the calls' own threads.
     */
    private static final double NEARLY_ALL = 0.7;

    /**
     * A common delay is assumed only if at least {@value} of the time above the calls' usual time was measured in
     * operations that became slower and in the work of the calls' own threads.
     */
    private static final double EXPLAINED = 0.5;

    /**
     * A common delay is assumed only if at least {@value} of the operations with known usual times have become slower.
     */
    private static final double MOST = 0.75;

    /**
     * A common delay is assumed only if no operation exceeds its usual time by more than {@value} of the latency
     * target.
     */
    private static final double LITTLE = 0.3;

    /** An operation counts as slower if it takes at least {@value} times its usual time. */
    private static final double SLOWER = 1.15;

    private static final double LEAST_NANOS = 3e5;

    /**
     * An operation stands out if its slowdown exceeds {@value} times the median slowdown of all operations, both in
     * milliseconds and as a factor.
     */
    private static final double SIMILAR = 3;

    private static final int MAX_FACTS = 4;

    private static final Set<Kind> OPERATIONS = EnumSet.of(Kind.SQL, Kind.REDIS, Kind.HTTP, Kind.RPC);

    private static final Set<Kind> OWN =
            EnumSet.of(Kind.COMPUTING, Kind.UNEXPLAINED, Kind.RUN_QUEUE, Kind.NATIVE, Kind.QUEUE);

    private final Evidence evidence;
    private final Operations operations;
    private final OperationCounts counts;

    public CommonDelays(Evidence evidence, Operations operations, OperationCounts counts) {
        this.evidence = evidence;
        this.operations = operations;
        this.counts = counts;
    }

    /**
     * The current and the usual time of one operation.
     *
     * @param group the store or the peer of the operation
     */
    private record Delay(Kind kind, String name, String group, double nanos, double usualNanos) {

        double longer() {
            return nanos - usualNanos;
        }

        double factor() {
            return nanos / Math.max(1, usualNanos);
        }

        boolean isSlower() {
            return longer() >= LEAST_NANOS && factor() >= SLOWER;
        }

        String text() {
            return name + " " + Times.millis(nanos) + " ms, usually " + Times.millis(usualNanos);
        }
    }

    /**
     * If all operations have become a little slower, attributes their time and the calls' own time to one cause: the
     * garbage collector if the process allocates much more memory than usual, the processors if they are saturated, and
     * otherwise something that the operations share. Does nothing if most of the time above the calls' usual time was
     * measured in waits for pools or locks, or in operations that hang, because a small delay of each operation does
     * not explain them.
     */
    void passOn(ExcessTime excess, TimesByCause byCause) {
        Times slower = byCause.only(part -> (OPERATIONS.contains(part.kind()) && !OperationNames.isFailing(part.name()))
                || OWN.contains(part.kind()));
        double all = byCause.sum();
        if (slower.sum() < NEARLY_ALL * all
                || isOneOutstanding(slower, all)
                || !areAllDelayed()
                || measuredNanos(excess) < EXPLAINED * all) {
            return;
        }
        Part cause = Part.of(shared(byCause));
        slower.longestFirst().forEach(part -> byCause.move(part, cause));
    }

    /** Returns the kind of the shared resource that delays all operations. */
    private Kind shared(TimesByCause byCause) {
        Machine machine = evidence.machine();
        if (machine.allocatesMuch() && byCause.of(Part.of(Kind.COLLECTOR)) > 0) {
            return Kind.COLLECTOR; // Allocating and clearing this much memory slows down all threads.
        }
        return machine.isFull() && !machine.delay().isAsUsual() ? Kind.RUN_QUEUE : Kind.SLOWDOWN;
    }

    /**
     * Returns the part of the time above the calls' usual time that was measured in the work of the calls' own threads
     * and in operations that became slower.
     */
    private double measuredNanos(ExcessTime excess) {
        return excess.times.sum(part -> OWN.contains(part.kind()))
                + delays().stream()
                        .filter(Delay::isSlower)
                        .mapToDouble(delay -> excess.times.of(new Part(delay.kind(), delay.name())))
                        .sum();
    }

    /**
     * Returns whether code that uses processor time causes most of the delay of late calls, or whether calls run an
     * operation more often than usual.
     */
    private boolean isOneOutstanding(Times slower, double all) {
        return slower.longestFirst().stream()
                .anyMatch(part -> OPERATIONS.contains(part.kind())
                        ? counts.areMore(part) || counts.areMany(part.kind(), part.name())
                        : part.kind() == Kind.COMPUTING && 2 * slower.of(part) > all);
    }

    private boolean areAllDelayed() {
        List<Delay> known = delays();
        List<Delay> slower = known.stream().filter(Delay::isSlower).toList();
        Set<String> groups = new TreeSet<>();
        slower.forEach(delay -> groups.add(delay.group()));
        if (slower.size() < SEVERAL || groups.size() < 2 || slower.size() < MOST * known.size()) {
            return false;
        }
        double time = median(slower, Comparator.comparingDouble(Delay::longer)).longer();
        double factor =
                median(slower, Comparator.comparingDouble(Delay::factor)).factor();
        return slower.stream()
                .allMatch(delay -> delay.longer() <= LITTLE * evidence.targetNanos()
                        && (delay.longer() <= SIMILAR * time || delay.factor() <= SIMILAR * factor));
    }

    private static Delay median(List<Delay> delays, Comparator<Delay> order) {
        return delays.stream().sorted(order).toList().get(delays.size() / 2);
    }

    /** Returns the current and usual times of all operations whose usual times are known. */
    private List<Delay> delays() {
        List<Delay> delays = new ArrayList<>();
        for (Phase phase : List.of(Phase.SQL, Phase.REDIS, Phase.HTTP, Phase.RPC)) {
            operations.each(phase).forEach((name, nanos) -> {
                double usually = operations.usualNamed(phase, name);
                if (usually > 0) {
                    Kind kind = Kind.valueOf(phase.name());
                    String store = OperationNames.store(name);
                    delays.add(new Delay(kind, name, kind + " " + store, nanos, usually));
                }
            });
        }
        return delays;
    }

    /** Describes operations that have become a little slower together, although processors are free. */
    public CauseDescription describe() {
        List<Delay> slower = delays().stream()
                .filter(Delay::isSlower)
                .sorted(Comparator.comparingDouble(Delay::longer).reversed())
                .toList();
        List<String> facts = new ArrayList<>();
        slower.stream().limit(MAX_FACTS).forEach(delay -> facts.add("slower   " + delay.text()));
        Machine machine = evidence.machine();
        if (machine.own() >= 0) {
            facts.add(String.format(
                    Locale.ROOT,
                    "busy     %.1f of %.1f processors by this process, %.1f by others",
                    machine.own(),
                    machine.processors(),
                    Math.max(0, machine.others())));
        }
        return new CauseDescription(
                "EVERYTHING SLOWER",
                slower.size() + " operations",
                Change.of(
                        Where.MACHINE,
                        "do not search one slow operation: each operation of these calls takes a little longer, so"
                                + " check what the operations share (the processors and the host of this machine, the"
                                + " network); run operations in parallel or run fewer of them, because calls that add"
                                + " up many operations are late first"),
                facts);
    }
}
