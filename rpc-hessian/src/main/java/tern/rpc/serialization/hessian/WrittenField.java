package tern.rpc.serialization.hessian;

import java.lang.invoke.MethodHandle;
import java.lang.reflect.Field;
import java.lang.reflect.RecordComponent;
import java.util.Date;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Writes one bean field or record component according to its declared type. Thread-safe. */
final class WrittenField {

    private static final char TEXT = '"';
    private static final char DATE = 'T';
    private static final char BOXED_FLOAT = 'f';

    /** The declared types of fields that are written as a plain date, regardless of the value's class. */
    private static final Set<Class<?>> DATES =
            Set.of(Date.class, java.sql.Date.class, java.sql.Time.class, java.sql.Timestamp.class);

    /** The names of the class and the field, for error messages. */
    final String place;

    private final MethodHandle getter;
    private final char kind;
    private final LastForm form = new LastForm();

    private WrittenField(Class<?> owner, String name, MethodHandle getter, char kind) {
        this.place = owner.getName() + '.' + name;
        this.getter = getter;
        this.kind = kind;
    }

    static WrittenField of(Field field) {
        Class<?> type = field.getType();
        char kind = DATES.contains(type) ? DATE : kind(type);
        String name = field.isSynthetic()
                ? field.getName() + " (of the compiler, for an inner class; make the class static)"
                : field.getName();
        return new WrittenField(field.getDeclaringClass(), name, Instances.getter(field), kind);
    }

    /**
     * Returns the writer for a record component. The component's values are boxed before they are written, as in
     * hessian-lite.
     */
    static WrittenField of(RecordComponent component) {
        Class<?> type = component.getType();
        return new WrittenField(
                component.getDeclaringRecord(),
                component.getName(),
                Instances.getter(component.getAccessor()),
                type == float.class ? BOXED_FLOAT : kind(type));
    }

    private static char kind(Class<?> type) {
        return type == String.class ? TEXT : type.descriptorString().charAt(0);
    }

    void write(Object owner, HessianOutput out) throws Throwable {
        switch (kind) {
            case 'I' -> out.writeInt((int) getter.invokeExact(owner));
            case 'J' -> out.writeLong((long) getter.invokeExact(owner));
            case 'D' -> out.writeDouble((double) getter.invokeExact(owner));
            case 'Z' -> out.writeBoolean((boolean) getter.invokeExact(owner));
            case 'F' -> out.writeDouble((float) getter.invokeExact(owner));
            case 'S' -> out.writeInt((short) getter.invokeExact(owner));
            case 'B' -> out.writeInt((byte) getter.invokeExact(owner));
            case 'C' -> out.writeString(String.valueOf((char) getter.invokeExact(owner)));
            case BOXED_FLOAT -> out.writeFloat((float) getter.invokeExact(owner));
            case TEXT -> out.writeString((String) (Object) getter.invokeExact(owner));
            case DATE -> writeDate((Date) (Object) getter.invokeExact(owner), out);
            default -> out.writeObject((Object) getter.invokeExact(owner), form);
        }
    }

    private static void writeDate(@Nullable Date date, HessianOutput out) {
        if (date == null) {
            out.writeNull();
        } else {
            LostState.checkTime(date);
            out.writeUTCDate(date.getTime());
        }
    }
}
