package tern.rpc.serialization.hessian;

import com.alibaba.com.caucho.hessian.io.HessianProtocolException;
import java.io.IOException;

/** Writes the instances of one class. Thread-safe. */
@FunctionalInterface
interface WireForm {

    /**
     * Writes an instance.
     *
     * @throws IOException if one of hessian-lite's or the application's serializers throws it
     */
    void write(Object value, HessianOutput out) throws IOException;

    /** Finds the {@link WireForm} for a class. Thread-safe. */
    interface Lookup {

        /**
         * Returns the {@code WireForm} that writes instances of a class.
         *
         * @throws RuntimeException if the class cannot be serialized
         */
        WireForm of(Class<?> type) throws HessianProtocolException;
    }
}
