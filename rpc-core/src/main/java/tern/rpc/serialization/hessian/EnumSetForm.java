package tern.rpc.serialization.hessian;

import com.alibaba.com.caucho.hessian.io.HessianHandle;
import java.io.IOException;
import java.util.EnumSet;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A set of constants as hessian-lite's handle for it: the class of the enum and the constants. hessian-lite finds the class
 * by {@code sun.misc.Unsafe}. As with {@link HandleForm}, the handle takes a number among the values of the message.
 * Thread-safe.
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

    /** The elements of an empty set are those that its complement has. */
    private static @Nullable Class<?> elementType(EnumSet<?> set) {
        EnumSet<?> some = set.isEmpty() ? complement(set) : set;
        return some.isEmpty() ? null : some.iterator().next().getDeclaringClass();
    }

    private static <E extends Enum<E>> EnumSet<E> complement(EnumSet<E> set) {
        return EnumSet.complementOf(set);
    }
}
