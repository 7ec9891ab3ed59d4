package tern.rpc;

import org.junit.jupiter.api.Test;

class HessianArchitectureTest extends ModuleRules {

    /** The reader: shapes of classes contain slots, and slots contain shapes. A number to make smaller. */
    @Override
    protected int mostInACircle() {
        return 28;
    }

    @Test
    void hessianSeesSerializationAlone() {
        onlySees("tern.rpc.serialization.hessian..", "tern.rpc.serialization");
    }
}
