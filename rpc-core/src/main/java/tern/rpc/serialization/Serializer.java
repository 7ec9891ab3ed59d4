package tern.rpc.serialization;

import tern.rpc.ServiceDescriptor;

/** One format. Thread-safe; its readers and writers are not. */
public interface Serializer {

    /** As on the wire: {@code hessian2}. */
    String name();

    /**
     * Prepares for the types of a service, at export or reference.
     *
     * @throws IllegalArgumentException naming the method and the class, if a declared type cannot be written
     */
    void prepare(ServiceDescriptor service);

    /** A new one; costly, so it is reused through a {@link CoderPool}. */
    ObjectReader newReader();

    /** A new one; costly, so it is reused through a {@link CoderPool}. */
    ObjectWriter newWriter();
}
