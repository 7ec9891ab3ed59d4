package tern.rpc.serialization.hessian;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * A class definition from a message, with cached results derived from it. Thread-safe: the results are immutable, and
 * concurrent threads may derive the same result twice.
 */
final class WireClass {

    /** The maximum number of cached positions per class. A new position replaces the oldest position. */
    private static final int MAX_USES = 16;

    private static final Use[] UNUSED = {};

    final String name;
    final String[] fields;

    /** The position of the definition's first byte in the message from which this object was created. */
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

    /**
     * Returns whether this definition is new. A definition is new until an object of its class has passed the check for
     * allowed classes. A new definition is used only for the current message.
     */
    boolean isNew() {
        return uses.length == 0;
    }

    /**
     * Returns the cached {@link Shape} for objects of this class at a position in a message, such as an argument or a
     * field. Returns null if none is cached.
     */
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
     * Returns the {@link Shape} for objects of this class at a position in a message, and caches it. The service checks
     * whether the class is allowed at this position.
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

    /** Returns the index in the {@link Shape} for each field of the definition, or -1 for an unknown field. */
    int[] bind(Shape to) {
        Binding last = lastBinding;
        if (last == null || last.shape != to) {
            last = new Binding(to, to.bind(fields));
            lastBinding = last;
        }
        return last.places;
    }

    private record Use(ReadableTypes service, Slot position, Shape shape) {}

    // Instances of this record are never compared, so an array is allowed as a component.
    @SuppressWarnings("ArrayRecordComponent")
    private record Binding(Shape shape, int[] places) {}
}
