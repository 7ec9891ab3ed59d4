package tern.rpc.serialization.protobuf;

import com.google.protobuf.DescriptorProtos.MethodOptions.IdempotencyLevel;
import com.google.protobuf.Descriptors.MethodDescriptor;
import org.jspecify.annotations.Nullable;

/** Reads the option {@code idempotency_level} of a method in a {@code .proto} file. */
public final class SideEffects {

    private SideEffects() {}

    /**
     * Whether a call changes nothing.
     *
     * @param descriptor a method descriptor of protobuf; any other object has no option
     */
    public static boolean hasNone(@Nullable Object descriptor) {
        return level(descriptor) == IdempotencyLevel.NO_SIDE_EFFECTS;
    }

    /** Whether a repeated call has no further effect. */
    public static boolean isIdempotent(@Nullable Object descriptor) {
        return level(descriptor) != IdempotencyLevel.IDEMPOTENCY_UNKNOWN;
    }

    private static IdempotencyLevel level(@Nullable Object descriptor) {
        return descriptor instanceof MethodDescriptor method
                ? method.getOptions().getIdempotencyLevel()
                : IdempotencyLevel.IDEMPOTENCY_UNKNOWN;
    }
}
