package tern.rpc.serialization.protobuf;

import com.google.protobuf.DescriptorProtos.MethodOptions.IdempotencyLevel;
import com.google.protobuf.Descriptors.MethodDescriptor;
import org.jspecify.annotations.Nullable;

/** The option {@code idempotency_level} of a method in a {@code .proto} file. */
public final class SideEffects {

    private SideEffects() {}

    /** @param descriptor of a method, as protobuf makes it; anything else says nothing */
    public static boolean hasNone(@Nullable Object descriptor) {
        return level(descriptor) == IdempotencyLevel.NO_SIDE_EFFECTS;
    }

    /** Whether a second call changes nothing more. */
    public static boolean isIdempotent(@Nullable Object descriptor) {
        return level(descriptor) != IdempotencyLevel.IDEMPOTENCY_UNKNOWN;
    }

    private static IdempotencyLevel level(@Nullable Object descriptor) {
        return descriptor instanceof MethodDescriptor method
                ? method.getOptions().getIdempotencyLevel()
                : IdempotencyLevel.IDEMPOTENCY_UNKNOWN;
    }
}
