package tern.rpc;

import java.lang.reflect.Array;
import java.lang.reflect.GenericArrayType;
import java.lang.reflect.ParameterizedType;
import java.lang.reflect.Type;
import java.lang.reflect.TypeVariable;
import java.lang.reflect.WildcardType;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** Replaces the type variables of super-interfaces with the types that a sub-interface declares for them. */
final class TypeVariables {

    private final Map<TypeVariable<?>, Type> bindings = new HashMap<>();

    TypeVariables(Class<?> from) {
        bind(from);
    }

    private void bind(Class<?> type) {
        for (Type parent : type.getGenericInterfaces()) {
            Class<?> raw = rawClass(parent);
            if (parent instanceof ParameterizedType parameterized) {
                TypeVariable<?>[] variables = raw.getTypeParameters();
                Type[] arguments = parameterized.getActualTypeArguments();
                for (int i = 0; i < variables.length; i++) {
                    bindings.put(variables[i], resolve(arguments[i]));
                }
            }
            bind(raw);
        }
    }

    /** Replaces every known type variable in the type. */
    Type resolve(Type type) {
        if (type instanceof TypeVariable<?> variable) {
            return bindings.getOrDefault(variable, variable);
        }
        if (type instanceof ParameterizedType parameterized) {
            Type[] arguments = Arrays.stream(parameterized.getActualTypeArguments())
                    .map(this::resolve)
                    .toArray(Type[]::new);
            return new Resolved((Class<?>) parameterized.getRawType(), arguments, parameterized.getOwnerType());
        }
        if (type instanceof GenericArrayType array) {
            Type component = resolve(array.getGenericComponentType());
            return component instanceof Class<?> known ? arrayOf(known) : new ResolvedArray(component);
        }
        return type;
    }

    /** Returns the run-time class of the type's values; {@code Object} if it is unknown. */
    static Class<?> rawClass(Type type) {
        if (type instanceof Class<?> known) {
            return known;
        }
        if (type instanceof ParameterizedType parameterized) {
            return (Class<?>) parameterized.getRawType();
        }
        if (type instanceof GenericArrayType array) {
            return arrayOf(rawClass(array.getGenericComponentType()));
        }
        if (type instanceof TypeVariable<?> variable) {
            return rawClass(variable.getBounds()[0]);
        }
        return type instanceof WildcardType wildcard ? rawClass(wildcard.getUpperBounds()[0]) : Object.class;
    }

    /**
     * Returns whether the type is or contains a type variable, a wildcard without a bound, or a generic class without
     * type arguments.
     */
    static boolean isVague(Type type) {
        if (type instanceof Class<?> known) {
            return known.isArray() ? isVague(known.getComponentType()) : known.getTypeParameters().length > 0;
        }
        if (type instanceof ParameterizedType parameterized) {
            return Arrays.stream(parameterized.getActualTypeArguments()).anyMatch(TypeVariables::isVague);
        }
        if (type instanceof WildcardType wildcard) {
            Type bound = wildcard.getUpperBounds()[0];
            return bound == Object.class || isVague(bound);
        }
        return !(type instanceof GenericArrayType array) || isVague(array.getGenericComponentType());
    }

    /** Returns the type arguments, the element type of an array, or the upper bounds of a wildcard. */
    static Type[] parts(Type type) {
        if (type instanceof GenericArrayType array) {
            return new Type[] {array.getGenericComponentType()};
        }
        if (type instanceof Class<?> known && known.isArray()) {
            return new Type[] {known.getComponentType()};
        }
        return type instanceof ParameterizedType parameterized
                ? parameterized.getActualTypeArguments()
                : type instanceof WildcardType wildcard ? wildcard.getUpperBounds() : new Type[0];
    }

    /** Returns an unresolved type variable that occurs in the type; null if there is none. */
    static @Nullable TypeVariable<?> unknown(Type type) {
        if (type instanceof TypeVariable<?> variable) {
            return variable;
        }
        for (Type part : parts(type)) {
            TypeVariable<?> variable = unknown(part);
            if (variable != null) {
                return variable;
            }
        }
        return null;
    }

    private static Class<?> arrayOf(Class<?> component) {
        return Array.newInstance(component, 0).getClass();
    }

    private record Resolved(
            Class<?> raw, Type[] arguments, @Nullable Type owner) implements ParameterizedType {
        @Override
        public Type[] getActualTypeArguments() {
            return arguments.clone();
        }

        @Override
        public Type getRawType() {
            return raw;
        }

        @Override
        public @Nullable Type getOwnerType() {
            return owner;
        }

        @Override
        public boolean equals(@Nullable Object other) {
            return other instanceof ParameterizedType that
                    && raw.equals(that.getRawType())
                    && Objects.equals(owner, that.getOwnerType())
                    && Arrays.equals(arguments, that.getActualTypeArguments());
        }

        @Override
        public int hashCode() {
            return Arrays.hashCode(arguments) ^ Objects.hashCode(owner) ^ raw.hashCode();
        }

        @Override
        public String toString() {
            StringBuilder text = new StringBuilder(raw.getName()).append('<');
            for (int i = 0; i < arguments.length; i++) {
                text.append(i == 0 ? "" : ", ").append(arguments[i].getTypeName());
            }
            return text.append('>').toString();
        }
    }

    private record ResolvedArray(Type component) implements GenericArrayType {
        @Override
        public Type getGenericComponentType() {
            return component;
        }

        @Override
        public String toString() {
            return component.getTypeName() + "[]";
        }
    }
}
