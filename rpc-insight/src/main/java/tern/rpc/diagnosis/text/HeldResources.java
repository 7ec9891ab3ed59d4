package tern.rpc.diagnosis.text;

import java.util.Comparator;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import tern.rpc.Phase;
import tern.rpc.diagnosis.account.Part;
import tern.rpc.diagnosis.account.Symptom;
import tern.rpc.diagnosis.cause.Cause.Change;
import tern.rpc.diagnosis.excess.Evidence;
import tern.rpc.diagnosis.excess.ExcessTime;
import tern.rpc.diagnosis.excess.Operations;
import tern.rpc.diagnosis.pool.PoolVerdict;

/**
 * Extends the recommended change if other calls wait for a resource that a call holds during the cause: a lock, locked
 * rows, a database connection or a permit.
 */
final class HeldResources {

    /** A wait for a connection counts as noticeable if it takes at least {@value} of the latency target. */
    private static final double NOTABLE_WAIT = 0.1;

    /** More permits are recommended only if the wait for a permit is at least {@value} times the time of its use. */
    private static final double PERMIT_FACTOR = 3;

    /** More permits are not recommended if the operation takes at least {@value} times its usual time. */
    private static final double MUCH_SLOWER = 3;

    /** The kinds of operations that can run during a transaction without using the transaction's database. */
    private static final Set<Part.Kind> OF_OTHER_SERVERS = EnumSet.of(Part.Kind.HTTP, Part.Kind.RPC, Part.Kind.REDIS);

    /** The kinds of causes that are failures. Without the failure, calls would hold the resource for a short time. */
    private static final Set<String> FAILURES = Set.of("PEER FAILS", "FAILURE");

    /** The advice for operations that run while their calls hold a database connection. */
    private static final String OUTSIDE =
            " (run it outside of the transaction; with JPA, spring.jpa.open-in-view=false returns the connection with"
                    + " the transaction)";

    /** The text before the owner's name in the name of a lock. */
    private static final String HELD = " held in ";

    private final Evidence evidence;
    private final ExcessTime excess;
    private final Operations operations;
    private final Map<String, PoolVerdict> pools;
    private final Map<Part, List<Symptom>> symptoms;

    HeldResources(
            Evidence evidence,
            ExcessTime excess,
            Operations operations,
            Map<String, PoolVerdict> pools,
            Map<Part, List<Symptom>> symptoms) {
        this.evidence = evidence;
        this.excess = excess;
        this.operations = operations;
        this.pools = pools;
        this.symptoms = symptoms;
    }

    /**
     * Extends the recommended change for a cause. Calls hold a resource for too long because an operation fails and is
     * repeated, so the advice for a failure begins with the failure.
     *
     * @param kind the kind of the cause, such as {@code PEER FAILS}
     */
    Change extended(Change change, Part part, String kind) {
        if (change.property() != null) {
            return change;
        }
        String held = held(part);
        if (FAILURES.contains(kind)) {
            return Change.of(
                    change.where(),
                    change.text()
                            + (held == null ? "" : "; do not hold " + held.replaceFirst(" while .*", "") + " meanwhile")
                            + permitOfFailure(part));
        }
        return withMorePermits(
                held == null ? change : Change.of(change.where(), "do not hold " + held + "; " + change.text()), part);
    }

    /** Returns the lock, rows or pool that other calls wait for, and the advice about it; null if there is none. */
    private @Nullable String held(Part part) {
        String held = null;
        for (Symptom symptom : symptoms.getOrDefault(part, List.of())) {
            Part wanted = symptom.waitedFor();
            if (wanted.kind() == Part.Kind.LOCK && wanted.name().contains(HELD)) {
                held = "a lock that other calls wait for: " + wanted.name();
            } else if (held == null && wanted.kind() == Part.Kind.SQL && OF_OTHER_SERVERS.contains(part.kind())) {
                held = "locked rows that other calls wait for, in " + wanted.name() + ",";
            }
        }
        if (held != null) {
            return held + " while this operation runs";
        }
        PoolVerdict pool = poolHeldDuring(part);
        return pool == null ? null : pool.resource() + " while this operation runs" + OUTSIDE;
    }

    /**
     * Returns the database pool whose connections are held while the operation runs; null if there is none. If calls
     * wait for several pools, returns the one whose connections are held longest compared with their usual time.
     */
    private @Nullable PoolVerdict poolHeldDuring(Part part) {
        return symptoms.getOrDefault(part, List.of()).stream()
                .filter(symptom -> isHeldDuring(part, symptom))
                .map(symptom -> PoolVerdict.find(pools, symptom.waitedFor()))
                .filter(Objects::nonNull)
                .max(Comparator.comparingDouble(PoolVerdict::timesLonger).thenComparing(PoolVerdict::name))
                .orElse(null);
    }

    /**
     * Returns whether the given operation probably runs while the call holds a database connection. The call is assumed
     * to hold a connection if other calls wait noticeably long for a database connection.
     */
    private boolean isHeldDuring(Part part, Symptom symptom) {
        Phase phase = Operations.phase(part.kind());
        if (phase == null || part.kind() == Part.Kind.SQL || part.kind() == Part.Kind.LOG) {
            return false;
        }
        PoolVerdict pool =
                symptom.waitedFor().kind() == Part.Kind.POOL ? PoolVerdict.find(pools, symptom.waitedFor()) : null;
        return pool != null && pool.isDatabase() && symptom.nanos() > NOTABLE_WAIT * evidence.targetNanos();
    }

    /**
     * Recommends more permits in addition to the given change, if calls wait for a permit much longer than they use it.
     * Developers can often change the number of permits, but not the peer. If the operation takes much longer than
     * usual, the number of permits was sufficient before, so no change is recommended.
     */
    private Change withMorePermits(Change change, Part part) {
        double work = excess.times.of(part);
        Symptom permit = permit(part);
        return permit == null || work <= 0 || permit.nanos() < PERMIT_FACTOR * work || isMuchSlower(part)
                ? change
                : Change.of(
                        change.where(),
                        "allow more permits if more calls may do this at the same time: calls wait "
                                + Math.round(permit.nanos() / work)
                                + " times as long for the " + permit.waitedFor().name() + " as they hold it; otherwise "
                                + change.text());
    }

    /** Returns the advice for permits that are held while an operation is repeated; empty if there are none. */
    private String permitOfFailure(Part part) {
        Symptom permit = permit(part);
        return permit == null
                ? ""
                : "; release the permit before each new attempt, because other calls wait for the "
                        + permit.waitedFor().name();
    }

    private @Nullable Symptom permit(Part part) {
        return symptoms.getOrDefault(part, List.of()).stream()
                .filter(symptom -> symptom.waitedFor().kind() == Part.Kind.LOCK
                        && symptom.waitedFor().name().startsWith(Part.SEMAPHORE))
                .max(Comparator.comparingDouble(Symptom::nanos))
                .orElse(null);
    }

    private boolean isMuchSlower(Part operation) {
        Phase phase = Operations.phase(operation.kind());
        if (phase == null) {
            return false;
        }
        double usual = operations.usualEach(phase, operation.name());
        return usual > 0 && operations.of(phase, operation.name()).eachNanos() >= MUCH_SLOWER * usual;
    }
}
