package tern.rpc.serialization.hessian;

import com.alibaba.com.caucho.hessian.io.JavaSerializer;
import java.io.IOException;
import java.lang.invoke.MethodHandle;
import java.lang.reflect.Method;
import org.jspecify.annotations.Nullable;
import tern.rpc.Thrown;

/**
 * Writes the object returned by an instance's {@code writeReplace} method. If the method returns the instance
 * itself, the instance's fields are written. Thread-safe.
 */
final class ReplacedForm implements WireForm {

    private final MethodHandle replacement;
    private final WireForm itself;

    private ReplacedForm(MethodHandle replacement, WireForm itself) {
        this.replacement = replacement;
        this.itself = itself;
    }

    /**
     * Returns the {@link WireForm} that writes instances of the class. Returns null if the {@code writeReplace} method
     * of the class cannot be called or its fields cannot be read, as in JDK classes.
     */
    static @Nullable WireForm of(Class<?> type) {
        Method method = JavaSerializer.getWriteReplace(type);
        BeanForm itself = BeanForm.ofFields(type);
        return itself == null || !method.trySetAccessible() ? null : new ReplacedForm(Instances.method(method), itself);
    }

    @Override
    public void write(Object value, HessianOutput out) throws IOException {
        int known = out.getRef(value);
        if (known >= 0) {
            out.writeRef(known);
            return;
        }
        Object instead = replace(value);
        if (instead == value) {
            itself.write(value, out);
        } else {
            Replacements.check(value, instead);
            out.writeObject(instead);
            out.replaceRef(instead, value);
        }
    }

    private @Nullable Object replace(Object value) {
        try {
            return (Object) replacement.invokeExact(value);
        } catch (RuntimeException | Error failure) {
            throw failure;
        } catch (Throwable failure) {
            throw new IllegalStateException(
                    value.getClass().getName() + ".writeReplace failed: " + Thrown.text(failure), failure);
        }
    }
}
