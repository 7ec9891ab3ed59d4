package tern.rpc.serialization;

import tern.rpc.ServiceDescriptor;

/** A serialization format. The serializer is thread-safe, but its readers and writers are not. */
public interface Serializer {

    /** Returns the name of the format on the wire, such as {@code hessian2}. */
    String name();

    /**
     * Prepares the types of a service when it is exported or referenced.
     *
     * @throws IllegalArgumentException if a declared type cannot be encoded; the message names the method and the
     *     class
     */
    void prepare(ServiceDescriptor service);

    /** Creates a reader. Readers are expensive, so a {@link CoderPool} reuses them. */
    ObjectReader newReader();

    /** Creates a writer. Writers are expensive, so a {@link CoderPool} reuses them. */
    ObjectWriter newWriter();
}
