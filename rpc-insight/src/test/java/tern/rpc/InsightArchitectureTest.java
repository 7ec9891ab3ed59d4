package tern.rpc;

import org.junit.jupiter.api.Test;

class InsightArchitectureTest extends ModuleRules {
    private static final String ADVICE = "tern.rpc.advice..";

    @Test
    void adviceSeesBaseOnly() {
        onlySees(ADVICE);
    }

    @Test
    void waitingSeesBaseAndSnapshotsOfPoolsOnly() {
        onlySees("tern.rpc.waiting..", ADVICE);
    }
}
