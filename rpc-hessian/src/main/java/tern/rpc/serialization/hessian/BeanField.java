package tern.rpc.serialization.hessian;

import java.lang.invoke.MethodHandle;
import java.lang.reflect.Field;
import java.util.Objects;

/** Reads the value of one bean field from a message and sets the field. Thread-safe. */
final class BeanField {

    private static final char TEXT = '"';

    private final Slot slot;
    private final MethodHandle setter;
    private final char kind;

    BeanField(Field field, Slot slot) {
        this.slot = slot;
        this.setter = Instances.setter(field);
        this.kind = field.getType() == String.class
                ? TEXT
                : field.getType().descriptorString().charAt(0);
    }

    void read(ValueReader reader, Object bean) throws Throwable {
        switch (kind) {
            case 'I' -> setter.invokeExact(bean, reader.readInt(slot));
            case TEXT -> setter.invokeExact(bean, reader.readText(slot));
            case 'J' -> setter.invokeExact(bean, reader.readLong(slot));
            case 'D' -> setter.invokeExact(bean, reader.readDouble(slot));
            case 'Z' -> setter.invokeExact(bean, reader.readBoolean(slot));
            case 'F' -> setter.invokeExact(bean, (float) primitive(reader));
            case 'S' -> setter.invokeExact(bean, (short) primitive(reader));
            case 'B' -> setter.invokeExact(bean, (byte) primitive(reader));
            case 'C' -> setter.invokeExact(bean, (char) primitive(reader));
            default -> setter.invokeExact(bean, reader.read(slot));
        }
    }

    /** Reads a primitive value. If the message contains null, the value is zero. */
    private Object primitive(ValueReader reader) {
        return Objects.requireNonNull(reader.read(slot));
    }
}
