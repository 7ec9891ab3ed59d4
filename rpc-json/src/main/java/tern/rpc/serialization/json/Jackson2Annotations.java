package tern.rpc.serialization.json;

import java.lang.annotation.Annotation;
import java.lang.reflect.AnnotatedElement;
import java.lang.reflect.Constructor;
import java.lang.reflect.Field;
import java.lang.reflect.GenericArrayType;
import java.lang.reflect.ParameterizedType;
import java.lang.reflect.Type;
import java.lang.reflect.WildcardType;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import tern.rpc.MethodDescriptor;
import tern.rpc.ValueType;

/**
 * Finds annotations of Jackson 2 that Jackson 3 ignores. Without a warning, a user would not notice that Jackson 3 does
 * not use the serializers and builders in these annotations. The annotations of
 * {@code com.fasterxml.jackson.annotation} still have an effect. Searches the application classes in a method's
 * signature, and the classes of their fields.
 */
final class Jackson2Annotations {

    private static final String IGNORED = "com.fasterxml.jackson.databind.";

    /**
     * False if the annotations of Jackson 2 are not on the class path. Java then hides them in the application's
     * classes, so there is nothing to find.
     */
    private static final boolean ARE_VISIBLE = exists(IGNORED + "annotation.JsonSerialize");

    private final Set<Type> seen = new HashSet<>();
    private final List<String> warnings = new ArrayList<>();

    private Jackson2Annotations() {}

    /** Returns one warning for each class with ignored annotations. */
    static List<String> of(MethodDescriptor method) {
        Jackson2Annotations found = new Jackson2Annotations();
        if (ARE_VISIBLE) {
            for (ValueType parameter : method.parameters()) {
                found.search(parameter.generic());
            }
            found.search(method.result().generic());
        }
        return found.warnings;
    }

    private static boolean exists(String type) {
        try {
            Class.forName(type, false, Jackson2Annotations.class.getClassLoader());
            return true;
        } catch (ClassNotFoundException | LinkageError e) {
            return false;
        }
    }

    private void search(Type type) {
        if (!seen.add(type)) {
            return;
        }
        if (type instanceof ParameterizedType generic) {
            search(generic.getRawType());
            searchAll(generic.getActualTypeArguments());
        } else if (type instanceof GenericArrayType array) {
            search(array.getGenericComponentType());
        } else if (type instanceof WildcardType wildcard) {
            searchAll(wildcard.getUpperBounds());
        } else if (type instanceof Class<?> known) {
            searchClass(known);
        }
    }

    private void searchAll(Type[] types) {
        for (Type type : types) {
            search(type);
        }
    }

    private void searchClass(Class<?> type) {
        if (type.isArray()) {
            search(type.getComponentType());
        } else if (type.getClassLoader() != null && type.getClassLoader() != ClassLoader.getPlatformClassLoader()) {
            try {
                searchMembers(type);
            } catch (LinkageError | TypeNotPresentException e) {
                // The members cannot be searched, because one of them has a type from a missing optional library. The
                // class may still be sent.
                return;
            }
        }
    }

    private void searchMembers(Class<?> type) {
        List<AnnotatedElement> elements = new ArrayList<>(List.of(type));
        elements.addAll(List.of(type.getDeclaredFields()));
        elements.addAll(List.of(type.getDeclaredMethods()));
        for (Constructor<?> constructor : type.getDeclaredConstructors()) {
            elements.add(constructor);
            elements.addAll(List.of(constructor.getParameters()));
        }
        Set<String> found = new TreeSet<>();
        for (AnnotatedElement element : elements) {
            for (Annotation annotation : element.getDeclaredAnnotations()) {
                if (annotation.annotationType().getName().startsWith(IGNORED)) {
                    found.add("@" + annotation.annotationType().getSimpleName());
                }
            }
        }
        if (!found.isEmpty()) {
            warnings.add(
                    "Annotations of Jackson 2 on " + type.getName() + " have no effect, because Jackson 3 reads and"
                            + " writes JSON: " + String.join(", ", found)
                            + ". Import them from tools.jackson.databind instead of com.fasterxml.jackson.databind");
        }
        for (Field field : type.getDeclaredFields()) {
            search(field.getGenericType());
        }
        if (type.getSuperclass() != null) {
            search(type.getSuperclass());
        }
    }
}
