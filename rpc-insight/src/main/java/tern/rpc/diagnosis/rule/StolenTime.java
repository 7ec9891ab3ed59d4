package tern.rpc.diagnosis.rule;

import java.util.EnumSet;
import java.util.Set;
import tern.rpc.diagnosis.account.Part;
import tern.rpc.diagnosis.account.Part.Kind;
import tern.rpc.diagnosis.account.Times;
import tern.rpc.diagnosis.pool.PoolVerdict;
import tern.rpc.pool.PoolKind;

/**
 * While the host gives processor time to other virtual machines, attributes the delay of late calls to the processors.
 * Everything on this machine then becomes slower at the same time: code, databases and other servers, and the JVM
 * itself. Meanwhile, the processors seem to be idle.
 */
final class StolenTime extends Rule {

    /** A kind of work counts as slower if it takes at least {@value} of the time above the calls' usual time. */
    private static final double NOTABLE = 0.1;

    /**
     * An activity or wait that takes more than {@value} of the time above the calls' usual time remains a separate
     * cause.
     */
    private static final double NEARLY_ALL = 0.9;

    /**
     * An activity or wait remains a separate cause if it takes most of the time above the calls' usual time, and more
     * than {@value} times the latency target.
     */
    private static final double LONG_TARGETS = 3;

    private static final Set<Kind> SLOWED = EnumSet.of(
            Kind.SQL,
            Kind.REDIS,
            Kind.HTTP,
            Kind.RPC,
            Kind.LOG,
            Kind.COMPUTING,
            Kind.NATIVE,
            Kind.JVM_PAUSE,
            Kind.OUTSIDE,
            Kind.UNEXPLAINED);

    StolenTime(Rule other) {
        super(other);
    }

    /**
     * Attributes the time above the calls' usual time to the processors. Does nothing if one activity or wait takes
     * much more of this time than all others, or if only one kind of work has become slower.
     */
    void apply() {
        Times slowed = byCause.only(this::isSlowed);
        double all = byCause.sum();
        if (!evidence.machine().isStolen() || kinds(slowed, all) < 2 || hasCauseOfItsOwn(all)) {
            return;
        }
        Part processors = Part.of(Kind.RUN_QUEUE);
        for (Part part : slowed.longestFirst()) {
            byCause.move(part, processors);
        }
    }

    private static long kinds(Times slowed, double all) {
        return slowed.longestFirst().stream()
                .map(Part::kind)
                .distinct()
                .filter(kind -> slowed.sum(kind) >= NOTABLE * all)
                .count();
    }

    private boolean hasCauseOfItsOwn(double all) {
        return byCause.longestFirst().stream()
                .filter(part -> part.kind() != Kind.RUN_QUEUE)
                .anyMatch(part -> {
                    double nanos = byCause.of(part);
                    boolean isMost = nanos > all / 2;
                    boolean isCode = part.kind() == Kind.COMPUTING || !isSlowed(part);
                    return nanos > NEARLY_ALL * all
                            || (isMost && (isCode || nanos > LONG_TARGETS * evidence.targetNanos()));
                });
    }

    private boolean isSlowed(Part part) {
        if (part.kind() == Kind.COMPUTING) {
            return !evidence.machine().isMostlyIn(part.name());
        }
        PoolVerdict pool = part.kind() == Kind.POOL ? PoolVerdict.find(pools, part) : null;
        boolean waitsForTasks = pool != null && pool.pool().now().kind() == PoolKind.EXECUTOR;
        return SLOWED.contains(part.kind()) || waitsForTasks;
    }
}
