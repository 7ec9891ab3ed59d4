package tern.rpc.diagnosis;

import tern.rpc.diagnosis.Part.Kind;

/** Attributes refusals by a limit to the work that made the served calls slow or made them fail. */
final class RefusalRules {

    /** The calls are about as many as usual if there are fewer than this multiple of the usual number. */
    private static final double MORE = 1.5;

    /** The served calls are in trouble themselves if at least this share of them is late, fails or hangs. */
    private static final double MANY_BAD = 0.1;

    /** Work is noticeable if it takes at least this share of the latency target. */
    private static final double NOTABLE = 0.1;

    private final Evidence evidence;
    private final Leaves leaves;

    RefusalRules(Evidence evidence, Leaves leaves) {
        this.evidence = evidence;
        this.leaves = leaves;
    }

    /**
     * A limit on concurrent calls, a bulkhead or a circuit breaker refuses calls because the calls that it admits
     * became slow or fail. A limit that refuses calls although the admitted calls are well is a cause itself. So is a
     * limit that is reached because there are more calls than usual.
     */
    void apply() {
        Evidence.Counts counts = evidence.calls();
        long bad = Math.max(counts.late(), counts.failed()) + counts.hung();
        double usually = evidence.usual().figure("calls");
        double perSecond = (counts.calls() + counts.refused()) / evidence.seconds();
        if (bad < MANY_BAD * (counts.calls() + counts.hung()) || usually <= 0 || perSecond >= MORE * usually) {
            return;
        }
        Times work = leaves.only(RefusalRules::isWork);
        if (work.sum() < NOTABLE * evidence.targetNanos()) {
            return;
        }
        for (Part part : leaves.longestFirst()) {
            if (part.kind() == Kind.LIMIT && !part.name().equals(Ranking.UNREAD)) {
                leaves.pour(part, work, "calls are refused (" + part.name() + ")");
            }
        }
    }

    private static boolean isWork(Part part) {
        return Leaves.isLeaf(part) && part.kind() != Kind.LIMIT && part.kind() != Kind.UNEXPLAINED;
    }
}
