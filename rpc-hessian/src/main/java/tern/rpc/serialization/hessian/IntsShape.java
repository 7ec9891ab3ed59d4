package tern.rpc.serialization.hessian;

import java.util.List;
import tern.rpc.serialization.SerializationException;

/**
 * Reads an instance of a JDK class from up to four ints. hessian-lite writes many classes of {@code java.time} as ints.
 * Thread-safe.
 */
final class IntsShape extends Shape {

    /**
     * Creates the value from the ints, which are in the order of their names. An int is zero if the message does not
     * contain it, or if the class needs fewer than four ints.
     */
    @FunctionalInterface
    interface Assembly {
        Object of(int first, int second, int third, int fourth);
    }

    private final Slot[] slots;
    private final Assembly assembly;

    IntsShape(Class<?> type, List<String> names, Assembly assembly) {
        super(type, names);
        TypeRef owner = TypeRef.of(type);
        this.slots = names.stream()
                .map(name -> Slot.field(owner, name, TypeRef.of(int.class)))
                .toArray(Slot[]::new);
        this.assembly = assembly;
    }

    @Override
    Object read(ValueReader reader, WireClass wire) {
        int number = reader.references().addUnfinished();
        int first = 0;
        int second = 0;
        int third = 0;
        int fourth = 0;
        for (int place : wire.bind(this)) {
            reader.fulfil();
            if (place < 0) {
                reader.skip();
                continue;
            }
            int value = reader.readInt(slots[place]);
            switch (place) {
                case 0 -> first = value;
                case 1 -> second = value;
                case 2 -> third = value;
                default -> fourth = value;
            }
        }
        try {
            Object made = assembly.of(first, second, third, fourth);
            reader.references().finish(number, made);
            return made;
        } catch (RuntimeException failure) {
            throw new SerializationException("values that do not form a " + type.getName(), failure);
        }
    }
}
