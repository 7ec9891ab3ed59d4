package tern.rpc;

import org.junit.jupiter.api.Test;

class HessianArchitectureTest extends ModuleRules {

    @Test
    void hessianDependsOnlyOnSerialization() {
        onlySees("tern.rpc.serialization.hessian..", "tern.rpc.serialization");
    }
}
