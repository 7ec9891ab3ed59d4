package tern.rpc;

import java.lang.reflect.GenericArrayType;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.lang.reflect.ParameterizedType;
import java.lang.reflect.Type;
import java.lang.reflect.WildcardType;
import java.util.Arrays;
import java.util.Comparator;
import java.util.EventListener;
import java.util.List;
import java.util.concurrent.Callable;

/** Recognizes callback interfaces. Tern does not support them, because the server would have to call the client. */
final class Callbacks {

    private static final List<Class<?>> OF_THE_JDK =
            List.of(Runnable.class, Callable.class, Comparator.class, EventListener.class);

    private Callbacks() {}

    /**
     * Returns whether the type is a callback interface, or an array or a generic type that contains a callback
     * interface.
     */
    static boolean isIn(Type type) {
        if (type instanceof Class<?> plain) {
            return plain.isArray() ? isIn(plain.getComponentType()) : isCallback(plain);
        }
        if (type instanceof ParameterizedType generic) {
            return isIn(generic.getRawType())
                    || Arrays.stream(generic.getActualTypeArguments()).anyMatch(Callbacks::isIn);
        }
        if (type instanceof GenericArrayType array) {
            return isIn(array.getGenericComponentType());
        }
        return type instanceof WildcardType any
                && Arrays.stream(any.getUpperBounds()).anyMatch(Callbacks::isIn);
    }

    private static boolean isCallback(Class<?> type) {
        if (OF_THE_JDK.stream().anyMatch(known -> known.isAssignableFrom(type) && type.isInterface())
                || type.getName().startsWith("java.util.function.")) {
            return true;
        }
        boolean ofTheApplication =
                type.isInterface() && !type.isAnnotation() && !type.isSealed() && type.getClassLoader() != null;
        return ofTheApplication
                && !isOfAnyLibrary(type)
                && (type.isAnnotationPresent(FunctionalInterface.class) || isListener(type));
    }

    /**
     * Returns whether the type belongs to the JDK or to protobuf. Types of these libraries are never treated as
     * callbacks.
     */
    private static boolean isOfAnyLibrary(Class<?> type) {
        return type.getName().startsWith("java") || type.getName().startsWith("com.google.protobuf.");
    }

    /**
     * Returns whether the interface is a listener: it has at least one abstract method, and all abstract methods return
     * void.
     */
    private static boolean isListener(Class<?> type) {
        List<Method> open = Arrays.stream(type.getMethods())
                .filter(method -> Modifier.isAbstract(method.getModifiers()))
                .toList();
        return !open.isEmpty() && open.stream().allMatch(method -> method.getReturnType() == void.class);
    }
}
