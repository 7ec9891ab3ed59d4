package tern.rpc.serialization.hessian;

import java.io.IOException;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.reflect.Field;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Writes the exceptions of one class with the fields that other Hessian readers expect. Writes at most
 * {@link HessianOutput#frames} stack frames. If messages exceed the limits of Tern's own readers, they are shortened.
 * If causes exceed these limits, they are omitted. In an answer, causes whose classes are unknown to callers are
 * written without their messages. Thread-safe.
 */
final class ThrowableWriter implements WireForm {

    private static final List<String> COMMON = List.of("suppressedExceptions", "stackTrace", "cause", "detailMessage");
    private static final ClassDefinition FOREIGN = new ClassDefinition(RuntimeException.class.getName(), COMMON);
    private static final StackTraceElement[] NO_FRAMES = {};

    private final ClassDefinition definition;
    private final List<Function<Object, @Nullable Object>> own = new ArrayList<>();
    private final Function<Throwable, @Nullable String> message;

    ThrowableWriter(Class<?> type, String wireName) {
        this.message = messageOf(type);
        List<String> ownNames = new ArrayList<>();
        for (JdkThrowables.Part part : JdkThrowables.formOf(type).parts()) {
            ownNames.add(part.name());
            own.add(part.getter());
        }
        for (Field field : BeanShape.serializedFields(type, Throwable.class)) {
            if (ClassOrigin.isOfApplication(field.getDeclaringClass())) {
                ownNames.add(field.getName());
                own.add(getter(field));
            }
        }
        this.definition = new ClassDefinition(
                wireName, Stream.concat(COMMON.stream(), ownNames.stream()).toList());
    }

    @Override
    public void write(Object value, HessianOutput out) throws IOException {
        if (out.addRef(value)) {
            return;
        }
        Throwable throwable = (Throwable) value;
        if (out.links > 0 && out.isForeign(value.getClass())) {
            writeForeign(throwable, out);
            return;
        }
        out.begin(definition);
        out.links++;
        writeFields(throwable, out);
        out.links--;
    }

    /**
     * Writes a {@code RuntimeException} without causes instead of an exception whose class is unknown to callers,
     * because every reader has the class {@code RuntimeException}.
     */
    private static void writeForeign(Throwable throwable, HessianOutput out) throws IOException {
        out.begin(FOREIGN);
        out.writeObject(Collections.emptyList());
        out.writeObject(frames(throwable, out.frames));
        out.writeObject(throwable); // In a Throwable, a cause that is the object itself means "no cause".
        out.writeString(shortened(ForeignCauses.described(throwable)));
    }

    private void writeFields(Throwable throwable, HessianOutput out) throws IOException {
        boolean linked = out.links <= LinkedThrowables.MAX_LINKS;
        out.writeObject(linked ? suppressed(throwable) : Collections.emptyList());
        out.writeObject(frames(throwable, out.frames));
        Throwable cause = throwable.getCause();
        out.writeObject(cause == null || !linked ? throwable : cause);
        out.writeString(shortened(message.apply(throwable)));
        @Nullable Predicate<Class<?>> foreign = out.foreign;
        out.foreign = null; // an exception in a field keeps its class, because it must match the field's type
        for (Function<Object, @Nullable Object> getter : own) {
            out.writeObject(getter.apply(throwable));
        }
        out.foreign = foreign;
    }

    private static List<Throwable> suppressed(Throwable throwable) {
        Throwable[] all = throwable.getSuppressed();
        return all.length == 0
                ? Collections.emptyList()
                : new ArrayList<>(Arrays.asList(all).subList(0, Math.min(all.length, LinkedThrowables.MAX_LINKS)));
    }

    private static StackTraceElement[] frames(Throwable throwable, int maxFrames) {
        if (maxFrames == 0) {
            return NO_FRAMES.clone();
        }
        StackTraceElement[] all = throwable.getStackTrace();
        return all.length <= maxFrames ? all : Arrays.copyOf(all, maxFrames);
    }

    private static @Nullable String shortened(@Nullable String text) {
        return text == null || text.length() <= LinkedThrowables.MAX_MESSAGE
                ? text
                : text.substring(0, LinkedThrowables.MAX_MESSAGE);
    }

    /**
     * Returns a function that reads an exception's original message. Some classes override {@code getMessage()} to
     * extend the original message. If the extended message were sent, the class would extend it again on the reader's
     * side.
     */
    private static Function<Throwable, @Nullable String> messageOf(Class<?> type) {
        Class<?> first = type;
        while (first.getSuperclass() != null && ClassOrigin.isOfApplication(first.getSuperclass())) {
            first = first.getSuperclass();
        }
        if (!ClassOrigin.isOfApplication(first) || !overridesMessage(type)) {
            return type == java.net.URISyntaxException.class
                    ? throwable -> ((java.net.URISyntaxException) throwable).getReason()
                    : Throwable::getMessage;
        }
        MethodHandle given = plainMessage(first);
        return throwable -> {
            try {
                return (String) given.invokeExact(throwable);
            } catch (Throwable failure) {
                throw new IllegalStateException("no message of " + type.getName(), failure);
            }
        };
    }

    private static boolean overridesMessage(Class<?> type) {
        try {
            return type.getMethod("getMessage").getDeclaringClass() != Throwable.class;
        } catch (NoSuchMethodException impossible) {
            throw new IllegalStateException(impossible);
        }
    }

    private static MethodHandle plainMessage(Class<?> caller) {
        try {
            return MethodHandles.privateLookupIn(caller, MethodHandles.lookup())
                    .findSpecial(Throwable.class, "getMessage", MethodType.methodType(String.class), caller)
                    .asType(MethodType.methodType(String.class, Throwable.class));
        } catch (ReflectiveOperationException failure) {
            throw new IllegalStateException("module of " + caller.getName() + " is not open to tern.rpc.core", failure);
        }
    }

    private static Function<Object, @Nullable Object> getter(Field field) {
        field.setAccessible(true);
        return object -> {
            try {
                return field.get(object);
            } catch (IllegalAccessException impossible) {
                throw new IllegalStateException(impossible);
            }
        };
    }
}
