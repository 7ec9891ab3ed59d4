package tern.rpc.serialization.hessian;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * A class definition as it came, with what was found out of it. Thread-safe: what is found out never changes, and threads
 * that race find it out again.
 */
final class WireClass {

    /** Positions of one class that are remembered; more of them take turns. */
    private static final int MAX_USES = 16;

    private static final Use[] UNUSED = {};

    final String name;
    final String[] fields;

    /** Where the definition stands in the message that brought it. */
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

    /** Whether no object of it was allowed yet; then it belongs to the present message alone. */
    boolean isNew() {
        return uses.length == 0;
    }

    /** How an object of this class becomes a value of a position, if that is known already to be allowed there. */
    @Nullable
    Shape known(ServicePolicy service, Slot position) {
        for (Use use : uses) {
            if (use.position == position && use.service == service) {
                return use.shape;
            }
        }
        return null;
    }

    /** The same, worked out if the service allows it there. */
    Shape shape(ServicePolicy service, Slot position) {
        Shape shape = service.shape(name, position);
        Use[] old = uses;
        Use[] more = Arrays.copyOf(old, Math.min(old.length + 1, MAX_USES));
        System.arraycopy(old, 0, more, 1, more.length - 1);
        more[0] = new Use(service, position, shape);
        uses = more;
        return shape;
    }

    /** For each field of the definition its place in the shape, or -1. */
    int[] bind(Shape to) {
        Binding last = lastBinding;
        if (last == null || last.shape != to) {
            last = new Binding(to, to.bind(fields));
            lastBinding = last;
        }
        return last.places;
    }

    private record Use(ServicePolicy service, Slot position, Shape shape) {}

    @SuppressWarnings("ArrayRecordComponent") // Never compared.
    private record Binding(Shape shape, int[] places) {}
}
