package tern.rpc.serialization.hessian;

import java.util.ArrayList;
import java.util.List;
import java.util.function.ToLongFunction;
import org.jspecify.annotations.Nullable;
import tern.rpc.serialization.SerializationException;

/**
 * Reads an instance of a JDK class from named parts. hessian-lite determines these parts, which may differ from the
 * fields of the class. Thread-safe.
 */
final class FormShape extends Shape {

    /**
     * Creates the value from its parts, which are in the order of their names. If the message does not contain a part,
     * the part has its default value or is null.
     */
    @FunctionalInterface
    interface Assembly {
        Object of(@Nullable Object[] parts, ValueReader reader);
    }

    private final Slot[] slots;
    private final Assembly assembly;
    private final @Nullable ToLongFunction<Object> weight;

    private FormShape(Builder builder, Assembly assembly) {
        super(builder.type, List.copyOf(builder.names));
        this.slots = builder.slots.toArray(Slot[]::new);
        this.assembly = assembly;
        this.weight = builder.weight;
    }

    static Builder of(Class<?> type) {
        return new Builder(type);
    }

    @Override
    Object read(ValueReader reader, WireClass wire) {
        int number = reader.references().addUnfinished();
        Object[] parts = new Object[slots.length];
        for (int i = 0; i < slots.length; i++) {
            parts[i] = slots[i].absent;
        }
        for (int place : wire.bind(this)) {
            reader.fulfil();
            if (place < 0) {
                reader.skip();
            } else {
                parts[place] = reader.read(slots[place]);
            }
        }
        try {
            Object made = assembly.of(parts, reader);
            reader.references().finish(number, made);
            if (weight != null) {
                reader.weigh(weight.applyAsLong(made));
            }
            return made;
        } catch (SerializationException failure) {
            throw failure;
        } catch (RuntimeException failure) {
            throw new SerializationException("values that do not form a " + type.getName(), failure);
        }
    }

    /**
     * Collects the names and types of the parts that hessian-lite writes for the class. The {@link Assembly} receives
     * the parts in the same order.
     */
    static final class Builder {

        private final Class<?> type;
        private final List<String> names = new ArrayList<>();
        private final List<Slot> slots = new ArrayList<>();
        private @Nullable ToLongFunction<Object> weight;

        private Builder(Class<?> type) {
            this.type = type;
        }

        Builder part(String name, Class<?> declared) {
            names.add(name);
            slots.add(Slot.field(TypeRef.of(type), name, TypeRef.of(declared)));
            return this;
        }

        /**
         * Sets a function that returns an additional cost of hashing or comparing a value, beyond the costs of the
         * value's parts. The unit is the cost of visiting one small value. By default, there is no additional cost.
         */
        // The cast is safe, because "visits" receives only values created by the Assembly, and these values have the
        // type T.
        @SuppressWarnings("unchecked")
        <T> Builder weighing(ToLongFunction<T> visits) {
            this.weight = (ToLongFunction<Object>) visits;
            return this;
        }

        FormShape by(Assembly assembly) {
            return new FormShape(this, assembly);
        }
    }
}
