package tern.rpc.serialization.hessian;

import java.lang.reflect.Array;
import java.lang.reflect.GenericArrayType;
import java.lang.reflect.ParameterizedType;
import java.lang.reflect.Type;
import java.lang.reflect.TypeVariable;
import java.lang.reflect.WildcardType;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A declared type in which each type variable and wildcard is replaced by its known type. Immutable.
 *
 * @param raw the class; for an array, the array class
 * @param arguments the type arguments of a generic class, empty if they are not known; for an array, the component type
 */
record TypeRef(Class<?> raw, List<TypeRef> arguments) {

    static final TypeRef OBJECT = new TypeRef(Object.class, List.of());

    static TypeRef of(Type type) {
        return of(type, Map.of());
    }

    static TypeRef of(Type type, Map<TypeVariable<?>, TypeRef> bindings) {
        if (type instanceof Class<?> known) {
            return known.isArray() ? arrayOf(of(known.getComponentType())) : new TypeRef(known, List.of());
        }
        if (type instanceof ParameterizedType generic) {
            return new TypeRef(
                    (Class<?>) generic.getRawType(),
                    Arrays.stream(generic.getActualTypeArguments())
                            .map(argument -> of(argument, bindings))
                            .toList());
        }
        if (type instanceof GenericArrayType array) {
            return arrayOf(of(array.getGenericComponentType(), bindings));
        }
        if (type instanceof WildcardType wildcard) {
            return of(wildcard.getUpperBounds()[0], bindings);
        }
        if (type instanceof TypeVariable<?> variable) {
            TypeRef bound = bindings.get(variable);
            return bound != null ? bound : new TypeRef(erasure(variable), List.of());
        }
        return OBJECT;
    }

    private static TypeRef arrayOf(TypeRef component) {
        return new TypeRef(Array.newInstance(component.raw, 0).getClass(), List.of(component));
    }

    /**
     * Returns a type's class, without type arguments. The type arguments of a bound are dropped, because the bound of a
     * type variable may refer to the same type variable.
     */
    private static Class<?> erasure(Type type) {
        if (type instanceof Class<?> known) {
            return known;
        }
        if (type instanceof ParameterizedType generic) {
            return (Class<?>) generic.getRawType();
        }
        return type instanceof TypeVariable<?> variable ? erasure(variable.getBounds()[0]) : Object.class;
    }

    TypeRef argument(int index) {
        return index < arguments.size() ? arguments.get(index) : OBJECT;
    }

    /** Returns the type argument for each of the class's type variables. */
    Map<TypeVariable<?>, TypeRef> bindings() {
        TypeVariable<?>[] variables = raw.getTypeParameters();
        Map<TypeVariable<?>, TypeRef> bindings = new HashMap<>();
        for (int i = 0; i < variables.length && i < arguments.size(); i++) {
            bindings.put(variables[i], arguments.get(i));
        }
        return bindings;
    }

    /**
     * Returns the given supertype of this type, with its type arguments, or null if {@code ancestor} is not a
     * supertype.
     */
    @Nullable
    TypeRef as(Class<?> ancestor) {
        if (raw == ancestor) {
            return this;
        }
        if (!ancestor.isAssignableFrom(raw)) {
            return null;
        }
        Map<TypeVariable<?>, TypeRef> bindings = bindings();
        Type superclass = raw.getGenericSuperclass();
        if (superclass != null) {
            TypeRef found = of(superclass, bindings).as(ancestor);
            if (found != null) {
                return found;
            }
        }
        for (Type parent : raw.getGenericInterfaces()) {
            TypeRef found = of(parent, bindings).as(ancestor);
            if (found != null) {
                return found;
            }
        }
        return null;
    }

    @Override
    public String toString() {
        if (raw.isArray()) {
            return argument(0) + "[]";
        }
        if (arguments.isEmpty()) {
            return raw.getName();
        }
        String text = arguments.toString();
        return raw.getName() + '<' + text.substring(1, text.length() - 1) + '>';
    }
}
