package tern.rpc;

import org.junit.jupiter.api.Test;

class HessianArchitectureTest extends ModuleRules {

    @Test
    void hessianSeesSerializationAlone() {
        onlySees("tern.rpc.serialization.hessian..", "tern.rpc.serialization");
    }
}
