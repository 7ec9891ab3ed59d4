package tern.rpc.diagnosis;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;
import tern.rpc.diagnosis.Part.Kind;

/**
 * Ranks the causes of a miss by the time that they cost bad calls. Time that calls waited for others is passed on to
 * what the others did (the method of wPerf): the wait for a worker to what workers do, the wait for a connection to
 * what its holders do. What waits for nothing else is a cause. docs/diagnosis.md describes the rules.
 */
final class Ranking {

    /** Parts below this share of the excess are details. */
    private static final double MIN_SHARE = 0.05;

    /** Parts below this share of the target are details. */
    private static final double MIN_OF_TARGET = 0.1;

    private static final int MAX_CAUSES = 5;
    private static final double REFUSED_TARGETS = 10;

    private final Evidence evidence;
    private final Excess excess;
    private final Map<String, PoolVerdict> pools = new HashMap<>();
    private final Times leaves = new Times();
    private final Map<Part, List<String>> symptoms = new HashMap<>();

    Ranking(Evidence evidence, long now) {
        this.evidence = evidence;
        this.excess = new Excess(evidence);
        for (PoolLook pool : evidence.pools()) {
            pools.put(pool.now().name(), PoolVerdict.of(pool, evidence.seconds(), now));
        }
    }

    Excess excess() {
        return excess;
    }

    /** The causes, the most expensive first; at least one. */
    List<Cause> causes() {
        leaves.addAll(excess.times, 1);
        addRefused();
        passOnPools();
        passOnQueue();
        passOnRunQueue();
        CauseText text = new CauseText(evidence, excess, pools, symptoms);
        double all = leaves.sum();
        double least = Math.max(all * MIN_SHARE, Math.min(all, evidence.targetNanos() * MIN_OF_TARGET));
        List<Cause> causes = new ArrayList<>();
        for (Part part : leaves.longestFirst()) {
            if (causes.size() < MAX_CAUSES && (leaves.of(part) >= least || causes.isEmpty())) {
                causes.add(text.cause(part, leaves.of(part), all));
            }
        }
        if (causes.isEmpty()) {
            causes.add(text.cause(Account.OWN, 0, 0));
        }
        return causes;
    }

    /** A refused call costs ten targets: for want of a worker, or because of another limit. */
    private void addRefused() {
        double cost =
                REFUSED_TARGETS * evidence.targetNanos() / evidence.calls().bad();
        evidence.refused().forEach((reason, count) -> {
            switch (reason) {
                case "method", "connection", "unread" -> leaves.add(new Part(Kind.LIMIT, reason), count * cost);
                default -> leaves.add(Part.of(Kind.QUEUE), count * cost);
            }
        });
    }

    /** Passes on the wait for connections that calls use for longer than usual. */
    private void passOnPools() {
        for (Part part : leaves.longestFirst()) {
            PoolVerdict verdict = part.kind() == Kind.POOL ? PoolVerdict.find(pools, part) : null;
            if (verdict == null || verdict.reason() != PoolVerdict.Reason.SLOW_TO_USE) {
                continue;
            }
            Times used = excess.ofCallsWith(other -> other.kind() == Kind.POOL || other.kind() == Kind.QUEUE)
                    .only(Ranking::isLeaf);
            pour(part, used, "calls wait for a connection of \"" + part.name() + "\"");
        }
    }

    /** Passes the wait for a worker on to what workers do instead. */
    private void passOnQueue() {
        Times done = leaves.only(part -> isLeaf(part) || part.kind() == Kind.POOL);
        double queued = leaves.of(Part.of(Kind.QUEUE));
        if (queued > 0 && done.sum() >= 0.1 * evidence.targetNanos()) {
            pour(Part.of(Kind.QUEUE), done, "calls wait for a worker");
        }
    }

    /** The wait for a processor belongs to the quota if that stops the process, else to those that compute. */
    private void passOnRunQueue() {
        Part part = Part.of(Kind.RUN_QUEUE);
        if (leaves.of(part) > 0 && evidence.machine().throttled() > 0.05) {
            leaves.add(Part.of(Kind.THROTTLED), leaves.remove(part));
        }
    }

    private void pour(Part from, Times into, String symptom) {
        double sum = into.sum();
        if (sum <= 0) {
            return;
        }
        double waited = leaves.remove(from);
        for (Part part : into.longestFirst()) {
            leaves.add(part, waited * into.of(part) / sum);
            if (into.of(part) >= 0.2 * sum) {
                symptoms.computeIfAbsent(part, name -> new ArrayList<>())
                        .add(symptom + ": " + CauseText.millis(waited) + " ms");
            }
        }
    }

    private static boolean isLeaf(Part part) {
        return part.kind() != Kind.QUEUE && part.kind() != Kind.POOL;
    }

    static Predicate<Part> only(Part cause) {
        return cause::equals;
    }
}
