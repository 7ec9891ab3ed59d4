package tern.rpc.server;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** A body that calls a Java method on an object. */
final class JavaBody implements MethodBody {

    private final Method method;
    private final Supplier<?> target;
    private @Nullable Class<?> type; // the class of the first object

    JavaBody(Method method, Supplier<?> target) {
        method.setAccessible(true);
        this.method = method;
        this.target = target;
    }

    @Override
    public @Nullable Object run(Object[] arguments) throws Throwable {
        Object object = target.get();
        if (type == null && object != null) {
            type = object.getClass();
        }
        try {
            return method.invoke(object, arguments);
        } catch (InvocationTargetException e) {
            throw e.getCause() == null ? e : e.getCause();
        }
    }

    @Override
    public @Nullable Class<?> type() {
        return type;
    }
}
