package tern.rpc.serialization.hessian;

import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Reads the elements of primitive arrays. The elements are not counted as values, because an element's size in memory
 * is at most eight times its size in the message.
 */
final class PrimitiveElements {

    private PrimitiveElements() {}

    static int intAt(HessianInput in, Slot element) {
        int tag = in.next();
        return Tags.kind(tag) == Tags.INT ? in.intOf(tag) : (int) Objects.requireNonNull(narrowed(in, tag, element));
    }

    static long longAt(HessianInput in, Slot element) {
        int tag = in.next();
        return Tags.kind(tag) == Tags.LONG ? in.longOf(tag) : (long) Objects.requireNonNull(narrowed(in, tag, element));
    }

    static double doubleAt(HessianInput in, Slot element) {
        int tag = in.next();
        return Tags.kind(tag) == Tags.DOUBLE
                ? in.doubleOf(tag)
                : (double) Objects.requireNonNull(narrowed(in, tag, element));
    }

    static @Nullable Object at(HessianInput in, Slot element) {
        return narrowed(in, in.next(), element);
    }

    private static @Nullable Object narrowed(HessianInput in, int tag, Slot element) {
        return switch (Tags.kind(tag)) {
            case Tags.NULL -> element.absent;
            case Tags.BOOLEAN -> element.accept(tag == 'T');
            case Tags.INT -> element.accept(in.intOf(tag));
            case Tags.LONG -> element.accept(in.longOf(tag));
            case Tags.DOUBLE -> element.accept(in.doubleOf(tag));
            case Tags.TEXT -> element.accept(in.textOf(tag, 1));
            default -> throw in.unexpected(tag, "a number, a flag or a character");
        };
    }
}
