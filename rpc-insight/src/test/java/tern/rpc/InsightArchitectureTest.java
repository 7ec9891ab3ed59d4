package tern.rpc;

import org.junit.jupiter.api.Test;

class InsightArchitectureTest extends ModuleRules {
    private static final String ADVICE = "tern.rpc.advice..";

    /** The rules of the advice and the class that lists them. A number to make smaller. */
    @Override
    protected int mostInACircle() {
        return 17;
    }

    @Test
    void adviceSeesBaseOnly() {
        onlySees(ADVICE);
    }

    @Test
    void waitingSeesBaseAndSnapshotsOfPoolsOnly() {
        onlySees("tern.rpc.waiting..", ADVICE);
    }

    @Test
    void evidenceSeesBaseOnly() {
        onlySees("tern.rpc.evidence..");
    }
}
