package tern.rpc.serialization.hessian;

import java.util.List;

/** A constant of an enum by its name. Thread-safe. */
final class EnumForm implements WireForm {

    private final ClassDefinition definition;

    /** @param type the enum, or the class of a constant with a body */
    EnumForm(Class<?> type) {
        Class<?> named = type.isEnum() ? type : type.getSuperclass();
        this.definition = new ClassDefinition(named.getName(), List.of("name"));
    }

    @Override
    public void write(Object value, HessianOutput out) {
        if (!out.addRef(value)) {
            out.begin(definition);
            out.writeString(((Enum<?>) value).name());
        }
    }
}
