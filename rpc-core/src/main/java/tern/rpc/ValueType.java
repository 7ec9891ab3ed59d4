package tern.rpc;

import java.lang.reflect.Type;

/**
 * The declared type of a parameter or a result, with its type variables resolved. There is one instance per position,
 * created at start-up. Serializers use it as the key of their prepared code.
 */
public final class ValueType {

    private final Type generic;
    private final Class<?> raw;

    ValueType(Type generic, Class<?> raw) {
        this.generic = generic;
        this.raw = raw;
    }

    /** Creates a type for a position outside an interface. A type with an unknown class counts as {@code Object}. */
    public static ValueType of(Type type) {
        return new ValueType(type, TypeVariables.rawClass(type));
    }

    public Type generic() {
        return generic;
    }

    public Class<?> raw() {
        return raw;
    }

    @Override
    public String toString() {
        return generic.getTypeName();
    }
}
