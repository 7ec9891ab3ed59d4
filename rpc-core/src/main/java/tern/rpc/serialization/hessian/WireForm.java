package tern.rpc.serialization.hessian;

import java.io.IOException;

/** How the instances of one class are written. Thread-safe. */
@FunctionalInterface
interface WireForm {

    /** @throws IOException only from serializers of hessian-lite or of users */
    void write(Object value, HessianOutput out) throws IOException;
}
