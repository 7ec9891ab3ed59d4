package tern.rpc.serialization.hessian;

import java.lang.invoke.MethodHandle;
import java.lang.reflect.Constructor;
import java.lang.reflect.Field;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import tern.rpc.serialization.SerializationException;

/**
 * Reads an exception. A constructor of a JDK superclass, usually of {@code Throwable}, creates the exception with the
 * received message. Then the fields of the exception's class are set. Constructors of the exception's class do not run,
 * because such a constructor might build the message from other values. Thread-safe.
 */
final class ThrowableShape extends Shape {

    private final JdkThrowables.Form form;
    private final Constructor<?> constructor;
    private final OwnField[] own;

    ThrowableShape(TypeRef type) {
        this(type, JdkThrowables.formOf(type.raw()));
    }

    private ThrowableShape(TypeRef type, JdkThrowables.Form form) {
        this(type, form, ownFields(type, form));
    }

    private ThrowableShape(TypeRef type, JdkThrowables.Form form, List<OwnField> own) {
        super(
                type.raw(),
                Stream.concat(ThrowableParts.NAMES.stream(), own.stream().map(OwnField::name))
                        .toList());
        this.form = form;
        this.own = own.toArray(OwnField[]::new);
        this.constructor = Instances.through(form.constructor(), type.raw());
    }

    /**
     * Returns the class's fields that are not fields of {@code Throwable}. A field of a JDK class is included only if
     * the constructor sets it, because such a field cannot be set directly.
     */
    private static List<OwnField> ownFields(TypeRef type, JdkThrowables.Form form) {
        List<OwnField> fields = new ArrayList<>();
        for (JdkThrowables.Part part : form.parts()) {
            fields.add(new OwnField(part.name(), Slot.field(type, part.name(), TypeRef.of(part.type())), null));
        }
        for (Field field : BeanShape.serializedFields(type.raw(), Throwable.class)) {
            if (ClassOrigin.isOfApplication(field.getDeclaringClass())) {
                fields.add(new OwnField(field.getName(), BeanShape.slot(type, field), BoxedSetter.of(field)));
            }
        }
        return fields;
    }

    @Override
    Object read(ValueReader reader, WireClass wire) {
        reader.throwables().count();
        int number = reader.references().addUnfinished();
        ThrowableParts parts = new ThrowableParts();
        Object[] values = new Object[own.length];
        boolean[] present = new boolean[own.length];
        for (int place : wire.bind(this)) {
            reader.fulfil();
            int ownPlace = place - ThrowableParts.NAMES.size();
            if (place < 0) {
                reader.skip();
            } else if (ownPlace < 0) {
                parts.read(place, reader.throwables());
            } else {
                values[ownPlace] = reader.read(own[ownPlace].slot);
                present[ownPlace] = true;
            }
        }
        try {
            Throwable made = (Throwable) constructor.newInstance(form.arguments(parts, values));
            for (int i = 0; i < own.length; i++) {
                if (present[i]) {
                    own[i].set(made, values[i]);
                }
            }
            reader.references().finish(number, parts.addTo(made));
            return made;
        } catch (Throwable failure) {
            throw new SerializationException("an instance of " + type.getName() + " cannot be created", failure);
        }
    }

    private record OwnField(
            String name, Slot slot, @Nullable MethodHandle setter) {

        void set(Throwable throwable, @Nullable Object value) throws Throwable {
            if (setter != null) {
                setter.invokeExact((Object) throwable, value);
            }
        }
    }

    private static final class BoxedSetter {

        private BoxedSetter() {}

        static MethodHandle of(Field field) {
            return Instances.setter(field)
                    .asType(java.lang.invoke.MethodType.methodType(void.class, Object.class, Object.class));
        }
    }
}
