package tern.rpc.serialization.hessian;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import tern.rpc.serialization.SerializationException;

/** A class of the JDK in the form that hessian-lite gives it, which need not be that of its fields. Thread-safe. */
final class FormShape extends Shape {

    /** Makes the value of its parts, which stand in the order of the names; null where one did not come. */
    @FunctionalInterface
    interface Assembly {
        Object of(@Nullable Object[] parts, ValueReader reader);
    }

    private final Slot[] slots;
    private final Assembly assembly;

    private FormShape(Class<?> type, List<String> names, Slot[] slots, Assembly assembly) {
        super(type, names);
        this.slots = slots;
        this.assembly = assembly;
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
            return made;
        } catch (SerializationException failure) {
            throw failure;
        } catch (RuntimeException failure) {
            throw new SerializationException("parts that make no " + type.getName(), failure);
        }
    }

    /** Names the parts in the order in which the assembly gets them. */
    static final class Builder {

        private final Class<?> type;
        private final List<String> names = new ArrayList<>();
        private final List<Slot> slots = new ArrayList<>();

        private Builder(Class<?> type) {
            this.type = type;
        }

        Builder part(String name, Class<?> declared) {
            names.add(name);
            slots.add(Slot.field(TypeRef.of(type), name, TypeRef.of(declared)));
            return this;
        }

        FormShape by(Assembly assembly) {
            return new FormShape(type, List.copyOf(names), slots.toArray(Slot[]::new), assembly);
        }
    }
}
