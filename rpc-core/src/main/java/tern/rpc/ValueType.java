package tern.rpc;

import java.lang.reflect.Type;

/**
 * The declared type of a parameter or a result, with type variables resolved. One instance per position, made at
 * start-up, so that a serializer can use it as the key of what it prepared.
 */
public final class ValueType {

    private final Type generic;
    private final Class<?> raw;

    ValueType(Type generic, Class<?> raw) {
        this.generic = generic;
        this.raw = raw;
    }

    /** For positions outside an interface; a type of which the class is not known counts as {@code Object}. */
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
