package tern.rpc.serialization.protobuf;

import com.google.protobuf.DescriptorProtos.MethodOptions.IdempotencyLevel;
import com.google.protobuf.Descriptors.MethodDescriptor;
import org.jspecify.annotations.Nullable;

/** Reads the {@code idempotency_level} option, which a {@code .proto} file can declare for a method. */
public final class SideEffects {

    private SideEffects() {}

    /**
     * Returns whether the method has no side effects.
     *
     * @param descriptor a protobuf method descriptor; the result is false for any other object
     */
    public static boolean hasNone(@Nullable Object descriptor) {
        return level(descriptor) == IdempotencyLevel.NO_SIDE_EFFECTS;
    }

    /** Returns whether calling the method again has no additional effect. */
    public static boolean isIdempotent(@Nullable Object descriptor) {
        return level(descriptor) != IdempotencyLevel.IDEMPOTENCY_UNKNOWN;
    }

    private static IdempotencyLevel level(@Nullable Object descriptor) {
        return descriptor instanceof MethodDescriptor method
                ? method.getOptions().getIdempotencyLevel()
                : IdempotencyLevel.IDEMPOTENCY_UNKNOWN;
    }
}
