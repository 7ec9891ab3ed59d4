package tern.rpc;

import java.lang.reflect.Type;

/**
 * The declared type of a parameter or a result, with its type variables resolved. One instance is created for each
 * parameter and each result at startup. Serializers use it as the key for prepared code.
 */
public final class ValueType {

    private final Type generic;
    private final Class<?> raw;

    ValueType(Type generic, Class<?> raw) {
        this.generic = generic;
        this.raw = raw;
    }

    /**
     * Creates the type of a value that is not declared in a service interface. A type whose class is unknown is treated
     * as {@code Object}.
     */
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
