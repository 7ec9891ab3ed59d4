package tern.rpc;

import org.junit.jupiter.api.Test;

class HessianArchitectureTest extends ModuleRules {

    /**
     * The reader needs a circle: shapes of classes contain slots, and slots contain shapes. Lower this number when the
     * circle gets smaller.
     */
    @Override
    protected int mostInACircle() {
        return 28;
    }

    @Test
    void hessianSeesSerializationAlone() {
        onlySees("tern.rpc.serialization.hessian..", "tern.rpc.serialization");
    }
}
