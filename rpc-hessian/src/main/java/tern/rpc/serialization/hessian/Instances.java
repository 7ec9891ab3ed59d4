package tern.rpc.serialization.hessian;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.reflect.Constructor;
import java.lang.reflect.Field;
import java.lang.reflect.Method;

/**
 * Gives access to constructors, fields and methods of the classes in messages, regardless of their modifiers.
 * Thread-safe.
 */
final class Instances {

    private static final MethodHandles.Lookup LOOKUP = MethodHandles.lookup();

    private Instances() {}

    /** Returns a constructor that creates instances of a class without running a constructor of this class. */
    static Constructor<?> allocator(Class<?> type) {
        try {
            return through(Object.class.getDeclaredConstructor(), type);
        } catch (NoSuchMethodException impossible) {
            throw new IllegalStateException(impossible);
        }
    }

    /**
     * Returns a constructor that creates instances of {@code type} but runs only the given constructor of a superclass.
     * An ordinary method handle for the superclass constructor would create an instance of the superclass instead.
     */
    static Constructor<?> through(Constructor<?> constructor, Class<?> type) {
        return Reflection.serialization(type, constructor);
    }

    /** Returns a handle of type {@code (Object[])Object} that calls a constructor. */
    static MethodHandle constructor(Class<?> type, Class<?>... parameters) throws NoSuchMethodException {
        try {
            Constructor<?> constructor = type.getDeclaredConstructor(parameters);
            constructor.setAccessible(true);
            return spread(LOOKUP.unreflectConstructor(constructor));
        } catch (IllegalAccessException failure) {
            throw new IllegalArgumentException("no instances of " + type.getName() + " can be created", failure);
        }
    }

    /**
     * Returns a handle of type {@code (Object, T)void} that sets the field. T is the field's type if it is primitive,
     * and Object otherwise.
     */
    static MethodHandle setter(Field field) {
        try {
            field.setAccessible(true);
            Class<?> type = field.getType().isPrimitive() ? field.getType() : Object.class;
            return LOOKUP.unreflectSetter(field).asType(MethodType.methodType(void.class, Object.class, type));
        } catch (IllegalAccessException failure) {
            throw new IllegalArgumentException(field + " cannot be set", failure);
        }
    }

    /**
     * Returns a handle of type {@code (Object)T} that reads the field. T is the field's type if it is primitive, and
     * Object otherwise.
     */
    static MethodHandle getter(Field field) {
        try {
            field.setAccessible(true);
            return getter(LOOKUP.unreflectGetter(field));
        } catch (IllegalAccessException failure) {
            throw new IllegalArgumentException(field + " cannot be read", failure);
        }
    }

    /**
     * Returns a handle of type {@code (Object)T} that calls a method without parameters. T is the result type if it is
     * primitive, and Object otherwise.
     */
    static MethodHandle getter(Method method) {
        try {
            method.setAccessible(true);
            return getter(LOOKUP.unreflect(method));
        } catch (IllegalAccessException failure) {
            throw new IllegalArgumentException(method + " cannot be called", failure);
        }
    }

    private static MethodHandle getter(MethodHandle handle) {
        Class<?> type = handle.type().returnType();
        return handle.asType(MethodType.methodType(type.isPrimitive() ? type : Object.class, Object.class));
    }

    /** Returns a handle of type {@code (Object)Object} that calls the method. */
    static MethodHandle method(Method method) {
        try {
            method.setAccessible(true);
            return LOOKUP.unreflect(method).asType(MethodType.methodType(Object.class, Object.class));
        } catch (IllegalAccessException failure) {
            throw new IllegalArgumentException(method + " cannot be called", failure);
        }
    }

    private static MethodHandle spread(MethodHandle constructor) {
        return constructor
                .asType(constructor.type().changeReturnType(Object.class))
                .asSpreader(Object[].class, constructor.type().parameterCount())
                .asType(MethodType.methodType(Object.class, Object[].class));
    }

    /**
     * The JDK's reflection factory for serialization libraries. The factory is looked up by name, because the compiler
     * warns about direct use.
     */
    private static final class Reflection {

        private static final Object FACTORY;
        private static final Method NEW_CONSTRUCTOR;

        static {
            try {
                Class<?> type = Class.forName("sun.reflect.ReflectionFactory");
                FACTORY = type.getMethod("getReflectionFactory").invoke(null);
                NEW_CONSTRUCTOR = type.getMethod("newConstructorForSerialization", Class.class, Constructor.class);
            } catch (ReflectiveOperationException failure) {
                throw new IllegalStateException("the module jdk.unsupported is missing", failure);
            }
        }

        static Constructor<?> serialization(Class<?> type, Constructor<?> through) {
            try {
                return (Constructor<?>) NEW_CONSTRUCTOR.invoke(FACTORY, type, through);
            } catch (ReflectiveOperationException failure) {
                throw new IllegalArgumentException("no instances of " + type.getName() + " can be created", failure);
            }
        }
    }
}
