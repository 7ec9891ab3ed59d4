package tern.rpc.diagnosis.excess;

import org.jspecify.annotations.Nullable;
import tern.rpc.Phase;
import tern.rpc.diagnosis.account.Part;
import tern.rpc.diagnosis.account.Part.Kind;
import tern.rpc.diagnosis.account.Times;
import tern.rpc.diagnosis.pool.ObservedPool;

/** Finds the operations that keep the connections of a pool busy because calls run them more often than usual. */
public final class FillingOperations {

    /** The additional operations explain a full pool only if they use at least {@value} of its busy connections. */
    private static final double HALF = 0.5;

    /**
     * Calls count as running many more operations than usual if the number per call is at least {@value} times the
     * usual number.
     */
    private static final double MANY_MORE = 3;

    /** If more than {@value} of a pool's connections are in use on average, some calls are assumed to wait for one. */
    private static final double FULL = 0.8;

    private final Evidence evidence;
    private final Operations operations;
    private final OperationCounts counts;
    private final OperationsPerCall perCall;

    public FillingOperations(Evidence evidence, ExcessTime excess, Operations operations, OperationCounts counts) {
        this.evidence = evidence;
        this.operations = operations;
        this.counts = counts;
        this.perCall = new OperationsPerCall(evidence, excess, operations);
    }

    /**
     * Returns the operation, or all operations of a kind, that keep a pool's connections busy because calls run them
     * more often than usual. Without these additional operations, the pool would have free connections. Returns null if
     * there are no such operations.
     *
     * @param byCause the extra time of the calls, by activity or wait
     */
    @Nullable
    public Part of(ObservedPool pool, Times byCause) {
        Kind kind = switch (pool.now().kind()) {
            case JDBC -> Kind.SQL;
            case REDIS -> Kind.REDIS;
            case HTTP -> Kind.HTTP;
            default -> Kind.UNEXPLAINED;
        };
        double busy = pool.holdNanos() < 0 ? -1 : pool.since().taken() / evidence.seconds() * pool.holdNanos() / 1e9;
        for (Part part : byCause.only(part -> part.kind() == kind).longestFirst()) {
            if (busy > 0 && (counts.areMore(part) || areManyMore(part))) {
                double more = moreConnections(part);
                if (more >= HALF * busy && busy - more <= FULL * pool.now().effectiveMax()) {
                    return part;
                }
            }
        }
        return null;
    }

    /**
     * Returns true if the part represents all operations of its kind and calls run several times as many of these
     * operations as usual.
     */
    private boolean areManyMore(Part part) {
        Phase phase = OperationCounts.phase(part);
        double usually = perCall.usual(part.kind(), phase, "").count();
        return part.name().isEmpty()
                && counts.areMany(part.kind(), "")
                && usually > 0
                && perCall.now(phase, "") >= MANY_MORE * usually;
    }

    /** Returns the mean number of connections that are kept busy by the additional operations. */
    private double moreConnections(Part part) {
        Phase phase = OperationCounts.phase(part);
        String name = OperationCounts.name(part);
        double usually = perCall.usual(part.kind(), phase, name).count();
        if (usually < 0) {
            return 0; // the usual number is unknown for a method with late or failed calls
        }
        return (perCall.now(phase, name) - usually)
                * evidence.calls().calls()
                / evidence.seconds()
                * operations.of(phase, name).eachNanos()
                / 1e9;
    }
}
