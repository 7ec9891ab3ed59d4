package tern.rpc.serialization.hessian;

import java.util.List;

/** Writes an enum constant by its name. Thread-safe. */
final class EnumForm implements WireForm {

    private final ClassDefinition definition;

    EnumForm(Class<?> type) {
        this.definition = new ClassDefinition(type.getName(), List.of("name"));
    }

    @Override
    public void write(Object value, HessianOutput out) {
        if (!out.addRef(value)) {
            out.begin(definition);
            out.writeString(((Enum<?>) value).name());
        }
    }
}
