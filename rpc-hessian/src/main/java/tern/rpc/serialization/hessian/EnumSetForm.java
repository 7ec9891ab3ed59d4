package tern.rpc.serialization.hessian;

import com.alibaba.com.caucho.hessian.io.HessianHandle;
import java.io.IOException;
import java.util.EnumSet;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Writes an {@link EnumSet} in the same way as hessian-lite: as a handle object, which contains the enum class and the
 * constants. Unlike hessian-lite, this class does not need {@code sun.misc.Unsafe} to find the enum class. As in
 * {@link HandleForm}, the handle takes a reference number in the message. Thread-safe.
 */
final class EnumSetForm implements WireForm {

    private static final ClassDefinition HANDLE =
            new ClassDefinition(HessianHandle.class.getPackageName() + ".EnumSetHandler", List.of("objects", "type"));

    @Override
    public void write(Object value, HessianOutput out) throws IOException {
        EnumSet<?> set = (EnumSet<?>) value;
        out.skipRef();
        out.begin(HANDLE);
        out.writeObject(set.toArray());
        out.writeObject(elementType(set));
    }

    /**
     * Returns the set's enum class, or null if the enum has no constants. For an empty set, the class is found through
     * a constant of the complement set.
     */
    private static @Nullable Class<?> elementType(EnumSet<?> set) {
        EnumSet<?> some = set.isEmpty() ? complement(set) : set;
        return some.isEmpty() ? null : some.iterator().next().getDeclaringClass();
    }

    private static <E extends Enum<E>> EnumSet<E> complement(EnumSet<E> set) {
        return EnumSet.complementOf(set);
    }
}
