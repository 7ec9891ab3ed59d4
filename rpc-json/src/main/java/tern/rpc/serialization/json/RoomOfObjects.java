package tern.rpc.serialization.json;

import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.exc.StreamConstraintsException;
import tools.jackson.databind.BeanDescription;
import tools.jackson.databind.DeserializationConfig;
import tools.jackson.databind.DeserializationContext;
import tools.jackson.databind.deser.SettableBeanProperty;
import tools.jackson.databind.deser.ValueInstantiator;
import tools.jackson.databind.deser.ValueInstantiators;
import tools.jackson.databind.deser.bean.PropertyValueBuffer;

/**
 * Limits the memory of the objects that are decoded from JSON text. An empty object takes only three bytes of text, but
 * its instance needs memory for every field of the class. The objects of one argument may take 1 MiB plus four times
 * the number of bytes read so far. The first {@link #FREE_BYTES} bytes of each object are not counted. Thread-safe.
 */
final class RoomOfObjects implements ValueInstantiators {

    /**
     * The number of bytes of each object that do not count towards the limit. Smaller objects are too small for an
     * attack.
     */
    static final int FREE_BYTES = 24;

    private static final long SPARE_BYTES = 1 << 20;
    private static final int BYTES_FOR_EACH_SENT = 4;
    private static final int HEADER_BYTES = 12;
    private static final int REFERENCE_BYTES = 4;

    @Override
    public @Nullable ValueInstantiator findValueInstantiator(
            DeserializationConfig config, BeanDescription.Supplier description) {
        return null;
    }

    @Override
    public ValueInstantiator modifyValueInstantiator(
            DeserializationConfig config, BeanDescription.Supplier description, ValueInstantiator made) {
        Class<?> type = description.getBeanClass();
        int room = type.getName().startsWith("java.") ? 0 : roomOf(type) - FREE_BYTES;
        return room > 0 ? new Counting(made, room) : made;
    }

    /** Returns the approximate size of a class's instance in bytes. A reference is assumed to take four bytes. */
    static int roomOf(Class<?> type) {
        int bytes = HEADER_BYTES;
        for (Class<?> part = type; part != null; part = part.getSuperclass()) {
            for (Field field : part.getDeclaredFields()) {
                if (!Modifier.isStatic(field.getModifiers())) {
                    bytes += bytesOf(field.getType());
                }
            }
        }
        return bytes;
    }

    private static int bytesOf(Class<?> type) {
        if (type == long.class || type == double.class) {
            return Long.BYTES;
        }
        if (type == boolean.class || type == byte.class) {
            return Byte.BYTES;
        }
        return type == short.class || type == char.class ? Short.BYTES : REFERENCE_BYTES;
    }

    /**
     * The memory that the objects of one argument have taken so far. Stored as an attribute of the decoding context.
     */
    private static final class Taken {
        private long bytes;
        private long allowed = SPARE_BYTES;

        static void add(DeserializationContext context, int room) {
            Taken taken = (Taken) context.getAttribute(Taken.class);
            if (taken == null) {
                taken = new Taken();
                context.setAttribute(Taken.class, taken);
            }
            taken.bytes += room;
            if (taken.bytes > taken.allowed) {
                taken.look(context);
            }
        }

        /**
         * Computes the limit from the current position in the text. Determining the position is expensive, so this
         * method runs only when the previous limit is exceeded.
         */
        private void look(DeserializationContext context) {
            long sent = Math.max(0, context.getParser().currentLocation().getByteOffset());
            allowed = SPARE_BYTES + BYTES_FOR_EACH_SENT * sent;
            if (bytes > allowed) {
                throw new StreamConstraintsException("objects with more fields than were sent take " + bytes
                        + " bytes; at most " + allowed + " are granted to a text of " + sent
                        + " bytes (a MiB and " + BYTES_FOR_EACH_SENT + " times the text)");
            }
        }
    }

    private static final class Counting extends ValueInstantiator.Delegating {
        private static final long serialVersionUID = 1L;
        private final int room;

        Counting(ValueInstantiator made, int room) {
            super(made);
            this.room = room;
        }

        @Override
        public ValueInstantiator createContextual(
                DeserializationContext context, BeanDescription.Supplier description) {
            ValueInstantiator contextual = delegate().createContextual(context, description);
            return contextual == delegate() ? this : new Counting(contextual, room);
        }

        @Override
        public boolean canCreateFromBigInteger() {
            return delegate().canCreateFromBigInteger();
        }

        @Override
        public boolean canCreateFromBigDecimal() {
            return delegate().canCreateFromBigDecimal();
        }

        @Override
        public @Nullable Object createUsingDefault(DeserializationContext context) {
            Taken.add(context, room);
            return delegate().createUsingDefault(context);
        }

        @Override
        public @Nullable Object createUsingDefaultOrWithoutArguments(DeserializationContext context) {
            Taken.add(context, room);
            return delegate().createUsingDefaultOrWithoutArguments(context);
        }

        @Override
        public @Nullable Object createFromObjectWith(DeserializationContext context, Object[] arguments) {
            Taken.add(context, room);
            return delegate().createFromObjectWith(context, arguments);
        }

        @Override
        public @Nullable Object createFromObjectWith(
                DeserializationContext context, SettableBeanProperty[] properties, PropertyValueBuffer buffer) {
            Taken.add(context, room);
            return delegate().createFromObjectWith(context, properties, buffer);
        }
    }
}
