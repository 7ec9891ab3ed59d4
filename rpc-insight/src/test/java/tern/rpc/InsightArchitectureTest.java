package tern.rpc;

import org.junit.jupiter.api.Test;

class InsightArchitectureTest extends ModuleRules {
    private static final String POOL = "tern.rpc.pool..";

    /**
     * The maximum number of classes in a dependency cycle. The classes that compare operations with their usual times
     * depend on each other. Lower this number when the cycle shrinks.
     */
    @Override
    protected int mostInACircle() {
        return 6;
    }

    @Test
    void poolsDependOnBaseOnly() {
        onlySees(POOL);
    }

    @Test
    void diagnosisDependsOnlyOnPoolsEvidenceAndMeters() {
        onlySees("tern.rpc.diagnosis..", POOL, "tern.rpc.evidence..", "tern.rpc.metrics..");
    }

    @Test
    void evidenceDependsOnlyOnBase() {
        onlySees("tern.rpc.evidence..");
    }
}
