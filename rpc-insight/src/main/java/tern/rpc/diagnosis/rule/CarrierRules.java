package tern.rpc.diagnosis.rule;

import java.util.List;
import tern.rpc.Phase;
import tern.rpc.diagnosis.account.OperationNames;
import tern.rpc.diagnosis.account.Part;
import tern.rpc.diagnosis.account.Part.Kind;
import tern.rpc.diagnosis.account.Sample;
import tern.rpc.diagnosis.account.Times;
import tern.rpc.diagnosis.excess.Evidence;
import tern.rpc.diagnosis.excess.ExcessTime;
import tern.rpc.diagnosis.excess.Operations;
import tern.rpc.diagnosis.excess.TimesByCause;
import tern.rpc.diagnosis.stack.StackReader;

/**
 * Attributes the waits of virtual threads for a carrier thread to the code that occupies the carrier threads. There are
 * only as many carrier threads as processors, and a virtual thread that uses processor time leaves its carrier thread
 * only at its next wait. Other processes may prolong this time, but they do not explain why the other virtual threads
 * wait.
 */
final class CarrierRules {

    /**
     * Operations are attributed to waits for a carrier thread only if these waits take at least {@value} of the calls'
     * extra time (above their usual time).
     */
    private static final double NOTABLE = 0.1;

    /** An operation is late because of the carrier threads if at least {@value} of its samples show a wait for one. */
    private static final double MUCH = 0.25;

    /**
     * An activity that takes more than {@value} of the calls' extra time (above their usual time) is not attributed to
     * waits for a carrier thread, because it must have another reason.
     */
    private static final double HALF = 0.5;

    /**
     * An operation that takes more than {@value} times as long as the waits for a carrier thread must have another
     * reason than these waits.
     */
    private static final double FAR_LONGER = 5;

    private static final Part WAIT = Part.of(Kind.CARRIER);

    private final Evidence evidence;
    private final ExcessTime excess;
    private final Operations operations;
    private final TimesByCause byCause;

    CarrierRules(Evidence evidence, ExcessTime excess, Operations operations, TimesByCause byCause) {
        this.evidence = evidence;
        this.excess = excess;
        this.operations = operations;
        this.byCause = byCause;
    }

    void apply() {
        Times code = evidence.tasks().carriers().occupying();
        if (code.isEmpty()) {
            byCause.move(WAIT, Part.of(Kind.RUN_QUEUE));
        } else {
            byCause.pour(WAIT, code, TimesByCause.WAIT_FOR + "a carrier thread");
        }
    }

    /**
     * Attributes operations, and waits for locks without a known owner, to the causes of the waits for a carrier
     * thread, if their calls wait for a carrier thread for a large part of the time. Such a call gets its answer or its
     * lock in time, but continues late, and a call that holds a lock releases it late. If known code occupies the
     * carrier threads, operations on several stores or peers that became slower are late for the same reason, even if
     * only other virtual threads, such as those of a client, wait for a carrier thread.
     */
    void passOnOperations() {
        if (excess.times.of(WAIT) < NOTABLE * excess.times.sum()) {
            return;
        }
        Times causes = byCause.causesOf(WAIT::equals);
        boolean areSeveral = areSeveralSlower();
        for (Part part : byCause.longestFirst()) {
            boolean isSmall = byCause.of(part) <= HALF * byCause.sum();
            if ((isSmall && (isLateOperation(part, areSeveral) || isLateLock(part))) || doHoldersWait(part)) {
                byCause.pour(part, causes.only(cause -> !cause.equals(part)), TimesByCause.WAIT_FOR + part.name());
            }
        }
    }

    private boolean isLateOperation(Part part, boolean areSeveral) {
        Phase phase = part.kind() == Kind.LOG ? null : Operations.phase(part.kind());
        return phase != null
                && !excess.isMostlyFailure(part)
                && (excess.samples.movedFrom(phase).of(WAIT) >= MUCH || areSeveral)
                && operations.sum(phase, part.name()).eachNanos() <= FAR_LONGER * waitNanos();
    }

    private boolean isLateLock(Part part) {
        return isLockWithoutOwner(part)
                && excess.ofMethodsWith(part).of(WAIT) >= MUCH * excess.times.of(part)
                && excess.accountOfCallsWith(part).of(part) <= FAR_LONGER * waitNanos();
    }

    private boolean isLockWithoutOwner(Part part) {
        return part.kind() == Kind.LOCK
                && part.name().contains(StackReader.WANTED)
                && excess.samples.owners().ownerOf(part) == null;
    }

    /**
     * Returns whether many samples of the calls that most likely hold the lock show a wait for a carrier thread.
     * The wait for the lock may then be much longer than these waits, because one holder after another is late.
     */
    private boolean doHoldersWait(Part lock) {
        List<Sample> holders =
                isLockWithoutOwner(lock) ? excess.samples.owners().ofLikelyHolders(lock) : List.of();
        long waiting =
                holders.stream().filter(sample -> sample.part().equals(WAIT)).count();
        return !holders.isEmpty() && waiting >= MUCH * holders.size();
    }

    /** Returns whether code occupies the carrier threads while operations on several stores or peers became slower. */
    private boolean areSeveralSlower() {
        long stores = byCause.longestFirst().stream()
                .filter(part -> part.kind() != Kind.LOG && Operations.phase(part.kind()) != null)
                .filter(this::isUsuallyFaster)
                .map(part -> part.kind() + OperationNames.store(part.name()))
                .distinct()
                .count();
        return stores >= 2 && !evidence.tasks().carriers().occupying().isEmpty();
    }

    private boolean isUsuallyFaster(Part part) {
        Phase phase = Operations.phase(part.kind());
        return phase != null && operations.usualNamed(phase, part.name()) >= 0 && operations.isSlower(part);
    }

    /** Returns the mean wait for a carrier thread in calls that wait for one. */
    private double waitNanos() {
        return excess.accountOfCallsWith(WAIT).of(WAIT);
    }
}
