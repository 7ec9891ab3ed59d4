package tern.rpc.serialization.hessian;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * A class definition as received, with results that were derived from it. Thread-safe: the results never change, and
 * threads that race derive them again.
 */
final class WireClass {

    /** The maximum number of cached positions for one class. A new position replaces the oldest position. */
    private static final int MAX_USES = 16;

    private static final Use[] UNUSED = {};

    final String name;
    final String[] fields;

    /** The position of the definition in the message that contained it first. */
    final int start;

    final int end;

    private volatile Use[] uses = UNUSED;
    private @Nullable Binding lastBinding;

    WireClass(String name, String[] fields, int start, int end) {
        this.name = name;
        this.fields = fields;
        this.start = start;
        this.end = end;
    }

    /** Whether no object of this class has been allowed yet. Such a definition belongs only to the current message. */
    boolean isNew() {
        return uses.length == 0;
    }

    /** Returns the shape for an object of this class at a position, if the cache has it. Otherwise returns null. */
    @Nullable
    Shape known(ReadableTypes service, Slot position) {
        for (Use use : uses) {
            if (use.position == position && use.service == service) {
                return use.shape;
            }
        }
        return null;
    }

    /**
     * Returns the shape for an object of this class at a position and caches the shape. The service checks whether the
     * class is allowed there.
     */
    Shape shape(ReadableTypes service, Slot position) {
        Shape shape = service.shape(name, position);
        Use[] old = uses;
        Use[] more = Arrays.copyOf(old, Math.min(old.length + 1, MAX_USES));
        System.arraycopy(old, 0, more, 1, more.length - 1);
        more[0] = new Use(service, position, shape);
        uses = more;
        return shape;
    }

    /** Returns for each field of the definition its place in the shape, or -1. */
    int[] bind(Shape to) {
        Binding last = lastBinding;
        if (last == null || last.shape != to) {
            last = new Binding(to, to.bind(fields));
            lastBinding = last;
        }
        return last.places;
    }

    private record Use(ReadableTypes service, Slot position, Shape shape) {}

    @SuppressWarnings("ArrayRecordComponent") // The record is never compared.
    private record Binding(Shape shape, int[] places) {}
}
