package tern.rpc.serialization.hessian;

import java.lang.invoke.MethodHandle;
import java.lang.reflect.Modifier;
import java.util.Collection;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import tern.rpc.serialization.SerializationException;

/** A cache with one {@link Shape} for each class that may be read. Thread-safe. */
final class Shapes {

    private static final Object[] NO_ARGUMENTS = {};

    private final Map<TypeRef, Shape> shapes = new ConcurrentHashMap<>();
    private final Map<Class<?>, MethodHandle> emptyContainers = new ConcurrentHashMap<>();

    Shape of(TypeRef type) {
        Shape known = shapes.get(type);
        if (known == null) {
            known = make(type);
            LostState.check(type.raw());
            shapes.put(type, known);
        }
        return known;
    }

    private static Shape make(TypeRef type) {
        Class<?> raw = type.raw();
        if (raw.isEnum()) {
            return new EnumShape(raw);
        }
        if (raw.isArray() || raw.isPrimitive() || isContainer(raw) || Modifier.isAbstract(raw.getModifiers())) {
            throw new SerializationException(raw.getName() + " is not a class whose objects can be read");
        }
        try {
            if (raw.isRecord()) {
                return new RecordShape(type);
            }
            return Throwable.class.isAssignableFrom(raw) ? new ThrowableShape(type) : new BeanShape(type);
        } catch (RuntimeException failure) {
            throw new SerializationException(
                    "the fields of " + raw.getName() + " cannot be reached; is its module open to tern.rpc.core?",
                    failure);
        }
    }

    private static boolean isContainer(Class<?> type) {
        return Collection.class.isAssignableFrom(type) || Map.class.isAssignableFrom(type);
    }

    @SuppressWarnings("unchecked") // The cast is safe, because each element is checked when it is read.
    CollectionType collection(Class<?> type, Slot slot) {
        if (!Collection.class.isAssignableFrom(type)) {
            throw slot.mismatch("a list of class " + type.getName());
        }
        return CollectionType.of(type, size -> (Collection<Object>) empty(type));
    }

    MapType map(Class<?> type, Slot slot) {
        if (!Map.class.isAssignableFrom(type)) {
            throw slot.mismatch("a map of class " + type.getName());
        }
        return new MapType(type, () -> (Map<?, ?>) empty(type));
    }

    private Object empty(Class<?> type) {
        MethodHandle constructor = emptyContainers.computeIfAbsent(type, Shapes::constructor);
        try {
            return (Object) constructor.invokeExact(NO_ARGUMENTS);
        } catch (Throwable failure) {
            throw new SerializationException(type.getName() + " cannot be created without values", failure);
        }
    }

    private static MethodHandle constructor(Class<?> type) {
        try {
            return Instances.constructor(type);
        } catch (NoSuchMethodException | RuntimeException failure) {
            throw new SerializationException(type.getName() + " has no usable constructor without parameters", failure);
        }
    }
}
