package tern.rpc.serialization.hessian;

import java.lang.reflect.AccessibleObject;
import java.lang.reflect.Field;
import java.lang.reflect.RecordComponent;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;
import tern.rpc.WireName;

/** Writes an object field by field, or a record component by component. Thread-safe. */
final class BeanForm implements WireForm {

    private final ClassDefinition definition;
    private final WrittenField[] fields;

    private BeanForm(Class<?> type, List<String> names, WrittenField[] fields) {
        this.definition = new ClassDefinition(nameOf(type), names);
        this.fields = fields;
    }

    private static String nameOf(Class<?> type) {
        WireName name = type.getDeclaredAnnotation(WireName.class);
        return name == null ? type.getName() : name.value();
    }

    /**
     * Returns the {@link WireForm} that writes the fields of the class, or null if these fields are inaccessible, as in
     * JDK classes.
     */
    static @Nullable BeanForm ofFields(Class<?> type) {
        List<Field> fields = BeanShape.serializedFields(type, Object.class);
        if (!fields.stream().allMatch(AccessibleObject::trySetAccessible)) {
            return null;
        }
        return new BeanForm(
                type,
                fields.stream().map(Field::getName).toList(),
                fields.stream().map(WrittenField::of).toArray(WrittenField[]::new));
    }

    static BeanForm ofComponents(Class<?> type) {
        RecordComponent[] components = type.getRecordComponents();
        return new BeanForm(
                type,
                Arrays.stream(components).map(RecordComponent::getName).toList(),
                Arrays.stream(components).map(WrittenField::of).toArray(WrittenField[]::new));
    }

    @Override
    public void write(Object value, HessianOutput out) {
        if (out.addRef(value)) {
            return;
        }
        out.begin(definition);
        int next = 0;
        try {
            while (next < fields.length) {
                fields[next].write(value, out);
                next++;
            }
        } catch (Error failure) {
            throw failure;
        } catch (Throwable failure) {
            throw FieldFailure.at(fields[next].place, failure);
        }
    }
}
