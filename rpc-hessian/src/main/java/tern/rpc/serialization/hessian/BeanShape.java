package tern.rpc.serialization.hessian;

import java.lang.invoke.MethodHandle;
import java.lang.reflect.Constructor;
import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.jspecify.annotations.Nullable;
import tern.rpc.serialization.SerializationException;

/**
 * Creates an object without running a constructor of its class, and sets its fields one by one from a message.
 * Thread-safe.
 */
final class BeanShape extends Shape {

    private final Constructor<?> allocator;
    private final BeanField[] fields;
    private final @Nullable MethodHandle readResolve;

    BeanShape(TypeRef type) {
        this(type, serializedFields(type.raw(), Object.class));
    }

    private BeanShape(TypeRef type, List<Field> fields) {
        super(type.raw(), fields.stream().map(Field::getName).toList(), overridesHashCode(type.raw()));
        this.allocator = Instances.allocator(type.raw());
        this.fields = fields.stream()
                .map(field -> new BeanField(field, slot(type, field)))
                .toArray(BeanField[]::new);
        this.readResolve = readResolve(type.raw());
    }

    /**
     * Returns the fields of {@code from} and its superclasses below {@code until}, in the order in which hessian-lite
     * writes them.
     */
    static List<Field> serializedFields(Class<?> from, Class<?> until) {
        List<Field> simple = new ArrayList<>();
        List<Field> compound = new ArrayList<>();
        for (Class<?> type = from; type != null && type != until; type = type.getSuperclass()) {
            for (Field field : type.getDeclaredFields()) {
                if ((field.getModifiers() & (Modifier.STATIC | Modifier.TRANSIENT)) == 0) {
                    (isSimple(field.getType()) ? simple : compound).add(field);
                }
            }
        }
        simple.addAll(compound);
        Collections.reverse(simple);
        return simple;
    }

    private static boolean isSimple(Class<?> type) {
        return type.isPrimitive() || (type.getName().startsWith("java.lang.") && type != Object.class);
    }

    static Slot slot(TypeRef owner, Field field) {
        TypeRef declaring = owner.as(field.getDeclaringClass());
        return Slot.field(
                owner,
                field.getName(),
                TypeRef.of(field.getGenericType(), declaring == null ? owner.bindings() : declaring.bindings()));
    }

    /** Returns whether instances of the class are replaced by the result of their method {@code readResolve}. */
    static boolean isResolved(Class<?> type) {
        return readResolve(type) != null;
    }

    private static @Nullable MethodHandle readResolve(Class<?> type) {
        for (Class<?> in = type; in != null && in != Object.class; in = in.getSuperclass()) {
            for (Method method : in.getDeclaredMethods()) {
                if (method.getName().equals("readResolve")
                        && method.getParameterCount() == 0
                        && !method.getReturnType().isPrimitive()) {
                    return Instances.method(method);
                }
            }
        }
        return null;
    }

    private static boolean overridesHashCode(Class<?> type) {
        try {
            return type.getMethod("hashCode").getDeclaringClass() != Object.class;
        } catch (NoSuchMethodException impossible) {
            return true;
        }
    }

    @Override
    boolean isReplaced() {
        return readResolve != null;
    }

    @Override
    @Nullable
    Object read(ValueReader reader, WireClass wire) {
        int[] binding = wire.bind(this);
        try {
            Object bean = allocator.newInstance();
            int number = reader.references().add(bean);
            for (int place : binding) {
                reader.fulfil();
                if (place < 0) {
                    reader.skip();
                } else {
                    fields[place].read(reader, bean);
                }
            }
            if (readResolve == null) {
                return bean;
            }
            Object resolved = (Object) readResolve.invokeExact(bean);
            reader.references().finish(number, resolved);
            return resolved;
        } catch (RuntimeException | Error failure) {
            throw failure;
        } catch (Throwable failure) {
            throw new SerializationException("an instance of " + type.getName() + " cannot be created", failure);
        }
    }
}
