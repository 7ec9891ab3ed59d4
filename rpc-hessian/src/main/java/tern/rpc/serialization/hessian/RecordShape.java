package tern.rpc.serialization.hessian;

import java.lang.invoke.MethodHandle;
import java.lang.reflect.RecordComponent;
import java.util.Arrays;
import tern.rpc.serialization.RefusedValues;
import tern.rpc.serialization.SerializationException;

/** Reads a record and creates it through its canonical constructor, which can reject the values. Thread-safe. */
final class RecordShape extends Shape {

    private final MethodHandle constructor;
    private final Slot[] slots;

    RecordShape(TypeRef type) {
        super(
                type.raw(),
                Arrays.stream(type.raw().getRecordComponents())
                        .map(RecordComponent::getName)
                        .toList());
        RecordComponent[] components = type.raw().getRecordComponents();
        this.slots = Arrays.stream(components)
                .map(component ->
                        Slot.field(type, component.getName(), TypeRef.of(component.getGenericType(), type.bindings())))
                .toArray(Slot[]::new);
        try {
            this.constructor = Instances.constructor(
                    type.raw(),
                    Arrays.stream(components).map(RecordComponent::getType).toArray(Class<?>[]::new));
        } catch (NoSuchMethodException impossible) {
            throw new IllegalStateException(impossible);
        }
    }

    @Override
    Object read(ValueReader reader, WireClass wire) {
        int number = reader.references().addUnfinished();
        Object[] values = new Object[slots.length];
        for (int i = 0; i < slots.length; i++) {
            values[i] = slots[i].absent;
        }
        for (int place : wire.bind(this)) {
            reader.fulfil();
            if (place < 0) {
                reader.skip();
            } else {
                values[place] = reader.read(slots[place]);
            }
        }
        try {
            Object made = (Object) constructor.invokeExact(values);
            reader.references().finish(number, made);
            return made;
        } catch (Throwable failure) {
            String record = "record " + type.getName();
            throw new SerializationException(
                    record + " refuses its values: " + RefusedValues.described(record + " could not be read", failure),
                    failure);
        }
    }
}
