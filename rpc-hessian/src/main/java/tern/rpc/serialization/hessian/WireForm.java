package tern.rpc.serialization.hessian;

import java.io.IOException;

/** Writes the instances of one class. Thread-safe. */
@FunctionalInterface
interface WireForm {

    /**
     * Writes an instance.
     *
     * @throws IOException only from serializers of hessian-lite or of users
     */
    void write(Object value, HessianOutput out) throws IOException;
}
