package tern.rpc.diagnosis.peer;

import java.util.Comparator;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import tern.rpc.NamedTimes;
import tern.rpc.Phase;
import tern.rpc.diagnosis.account.OperationNames;
import tern.rpc.diagnosis.account.Part;
import tern.rpc.diagnosis.account.Part.Kind;
import tern.rpc.diagnosis.account.Times;
import tern.rpc.diagnosis.excess.Evidence;
import tern.rpc.diagnosis.excess.ExcessTime;
import tern.rpc.diagnosis.excess.Operations;
import tern.rpc.diagnosis.excess.TimesByCause;

/**
 * Finds the only peer that has become slow while the processors are busy. Busy processors delay the operations on all
 * peers, so they do not explain why the operations on one peer take much longer than the operations on all others.
 */
public final class OneSlowPeer {

    /**
     * The operations on the slow peer must take at least {@value} of the extra time of all operations (above their
     * usual time).
     */
    private static final double MOST = 0.8;

    /**
     * If at least two operations each take {@value} of the peer's time, the peer is the cause, and not a method.
     */
    private static final double NOTABLE = 0.1;

    /** Operations on other peers may have become slower by at most {@value} of the time of the slow peer. */
    private static final double LITTLE = 0.1;

    /** The share of the periods in which a CPU quota stops the process. */
    private static final double MOSTLY_THROTTLED = 0.5;

    private final Evidence evidence;
    private final ExcessTime excess;
    private final Operations operations;

    public OneSlowPeer(Evidence evidence, ExcessTime excess, Operations operations) {
        this.evidence = evidence;
        this.excess = excess;
        this.operations = operations;
    }

    /**
     * Merges the operations on the only slow peer into one cause. Does nothing if a CPU quota stops the process most of
     * the time, because the operations on the peer that calls use most then seem to be the slowest.
     *
     * @return whether there is such a peer
     */
    public boolean merge(TimesByCause byCause) {
        if (evidence.machine().throttled() >= MOSTLY_THROTTLED) {
            return false;
        }
        for (Kind kind : new Kind[] {Kind.RPC, Kind.HTTP}) {
            Phase phase = Operations.phase(kind);
            String peer = phase == null ? null : only(phase);
            if (peer == null) {
                continue;
            }
            Times all = byCause.only(part -> Operations.phase(part.kind()) != null && part.kind() != Kind.LOG);
            Times ofPeer = all.only(part -> part.kind() == kind
                    && (part.name().isEmpty() || addresses(part).equals(Set.of(peer))));
            if (ofPeer.sum() < MOST * all.sum() || ofPeer.sum() < evidence.targetNanos()) {
                continue;
            }
            Times slow = ofPeer.only(part -> ofPeer.of(part) >= NOTABLE * ofPeer.sum());
            if (slow.longestFirst().size() > 1 || slow.of(Part.of(kind)) > 0) {
                Part merged = new Part(kind, OperationNames.ALL + peer);
                ofPeer.longestFirst().forEach(part -> byCause.move(part, merged));
            }
            return true;
        }
        return false;
    }

    /** Returns the address of the only peer whose operations have become much slower; null if there is none. */
    private @Nullable String only(Phase phase) {
        // for each peer, the longest time by which an operation exceeds its usual time
        Map<String, Double> longer = new HashMap<>();
        operations.each(phase).forEach((name, nanos) -> {
            double usually = operations.usualNamed(phase, OperationNames.withoutStatus(name));
            String peer = OperationNames.store(name);
            if (usually >= 0 && !peer.isEmpty()) {
                longer.merge(peer, Math.max(0, nanos - usually), Math::max);
            }
        });
        Map.Entry<String, Double> slowest = longer.entrySet().stream()
                .max(Map.Entry.<String, Double>comparingByValue().thenComparing(Map.Entry.comparingByKey()))
                .orElse(null);
        if (slowest == null || slowest.getValue() < evidence.maxDelayNanos()) {
            return null;
        }
        double others = longer.entrySet().stream()
                .filter(entry -> !entry.getKey().equals(slowest.getKey()))
                .map(Map.Entry::getValue)
                .max(Comparator.naturalOrder())
                .orElse(Double.MAX_VALUE);
        return others <= LITTLE * slowest.getValue() ? slowest.getKey() : null;
    }

    /** Returns the addresses of the peers on which the given operations run. */
    private Set<String> addresses(Part part) {
        String only = OperationNames.storeOfAll(part);
        if (only != null) {
            return Set.of(only);
        }
        String named = OperationNames.store(part.name());
        if (!named.isEmpty()) {
            return Set.of(named);
        }
        Phase phase = Operations.phase(part.kind());
        return excess.accounts.stream()
                .flatMap(counted -> counted.call().ledger().named().stream())
                .filter(entry -> entry.kind() == phase && isOf(entry, part))
                .map(entry -> OperationNames.store(entry.name()))
                .collect(Collectors.toCollection(TreeSet::new));
    }

    private static boolean isOf(NamedTimes.Entry entry, Part part) {
        return OperationNames.isNamed(OperationNames.withoutStatus(entry.name()), part.name());
    }
}
