package tern.rpc.serialization.hessian;

import org.jspecify.annotations.Nullable;

/** A class definition as it came, with what its last use found out. Not thread-safe. */
final class WireClass {

    final String name;
    final String[] fields;
    private @Nullable Shape boundTo;
    private int[] binding = {};
    private @Nullable ServicePolicy policy;
    private @Nullable Slot slot;
    private @Nullable Shape shape;

    WireClass(String name, String[] fields) {
        this.name = name;
        this.fields = fields;
    }

    /** How an object of this class becomes a value of a position, if the service allows it there. */
    Shape shape(ServicePolicy service, Slot position) {
        Shape known = shape;
        if (known == null || policy != service || slot != position) {
            known = service.shape(name, position);
            policy = service;
            slot = position;
            shape = known;
        }
        return known;
    }

    /** For each field of the definition its place in the shape, or -1. */
    int[] bind(Shape to) {
        if (boundTo != to) {
            binding = to.bind(fields);
            boundTo = to;
        }
        return binding;
    }
}
