package tern.rpc.spring.autoconfigure.insight;

import org.springframework.boot.health.contributor.AbstractHealthIndicator;
import org.springframework.boot.health.contributor.Health;
import org.springframework.boot.health.contributor.Status;
import tern.rpc.diagnosis.Diagnosis;
import tern.rpc.diagnosis.Diagnosis.Miss;
import tern.rpc.diagnosis.Diagnostician;
import tern.rpc.diagnosis.cause.Cause;

/**
 * Reports the health status DEGRADED, with the first cause, while more than one call in a hundred fails, is refused or
 * hangs. Late calls alone do not change the health status.
 */
final class DiagnosisHealthIndicator extends AbstractHealthIndicator {

    static final Status DEGRADED = new Status("DEGRADED", "calls fail, are refused or hang");

    private static final int ONE_IN = 100;

    private final Diagnostician diagnostician;
    private final Status failing;

    /** @param downOnFailure whether the status is DOWN instead of DEGRADED while calls fail */
    DiagnosisHealthIndicator(Diagnostician diagnostician, boolean downOnFailure) {
        super("The diagnosis cannot be read");
        this.diagnostician = diagnostician;
        this.failing = downOnFailure ? Status.DOWN : DEGRADED;
    }

    @Override
    protected void doHealthCheck(Health.Builder health) {
        Diagnosis diagnosis = diagnostician.diagnosis();
        Miss miss = diagnosis.miss();
        health.up();
        if (miss == null) {
            return;
        }
        long ended = miss.calls() + miss.refused();
        if ((miss.failed() + miss.refused()) * ONE_IN > ended || miss.hung() > 0) {
            health.status(failing);
        }
        Cause first = diagnosis.causes().get(0);
        health.withDetail("late", miss.late() + " of " + miss.calls())
                .withDetail("failed", miss.failed())
                .withDetail("refused", miss.refused())
                .withDetail("hung", miss.hung())
                .withDetail("cause", first.title());
    }
}
