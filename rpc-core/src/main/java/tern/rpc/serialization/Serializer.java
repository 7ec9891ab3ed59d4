package tern.rpc.serialization;

import tern.rpc.ServiceDescriptor;

/** A serialization format. Thread-safe; its readers and writers are not. */
public interface Serializer {

    /** The name on the wire: {@code hessian2}. */
    String name();

    /**
     * Prepares the types of a service, at export or reference.
     *
     * @throws IllegalArgumentException if a declared type cannot be encoded; the message names the method and the class
     */
    void prepare(ServiceDescriptor service);

    /** Creates an instance. This is expensive, so instances are reused by a {@link CoderPool}. */
    ObjectReader newReader();

    /** Creates an instance. This is expensive, so instances are reused by a {@link CoderPool}. */
    ObjectWriter newWriter();
}
