package tern.rpc.serialization.hessian;

import tern.rpc.serialization.Serializer;
import tern.rpc.serialization.SerializerContractTest;

class HessianSerializerContractTest extends SerializerContractTest {

    @Override
    protected Serializer serializer() {
        return HessianSerializer.builder().build();
    }

    @Override
    protected Object unwritable() {
        return new Object() {};
    }
}
