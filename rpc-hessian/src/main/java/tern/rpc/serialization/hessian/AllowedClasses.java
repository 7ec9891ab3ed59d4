package tern.rpc.serialization.hessian;

import java.io.Serializable;
import java.lang.reflect.Field;
import java.lang.reflect.GenericArrayType;
import java.lang.reflect.Modifier;
import java.lang.reflect.ParameterizedType;
import java.lang.reflect.Type;
import java.lang.reflect.TypeVariable;
import java.lang.reflect.WildcardType;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import tern.rpc.InvalidServiceException;
import tern.rpc.LocalTypes;
import tern.rpc.MethodDescriptor;
import tern.rpc.Payload;
import tern.rpc.ServiceDescriptor;
import tern.rpc.WireName;

/**
 * Collects the application classes that are reachable from one service's method signatures. The search starts at the
 * types of parameters, results and declared exceptions. From there, the search follows field types, superclasses, type
 * arguments, array components and permitted subclasses. Not thread-safe.
 */
final class AllowedClasses {

    /**
     * The advice for a class that the application may not be able to change, because the class belongs to a library.
     */
    private static final String ELSEWHERE =
            ", or, if it is a class of a library, declare a type of your own, a String or a Map";

    private final String packageOfService;
    private final Map<String, Class<?>> byName = new HashMap<>();
    private final Set<Type> seen = new HashSet<>();
    private final List<String> problems = new ArrayList<>();

    private AllowedClasses(ServiceDescriptor service) {
        this.packageOfService = service.packageName();
    }

    /**
     * Returns the classes that are reachable from a service's methods, by class name. A class with a {@link WireName}
     * has its wire name as a second key.
     *
     * @throws InvalidServiceException if classes cannot be serialized. For each class, the message names the method,
     *     the class, and the first place where the class occurs: the parameter, the result or the exception, and the
     *     field
     */
    static Map<String, Class<?>> of(ServiceDescriptor service) {
        AllowedClasses classes = new AllowedClasses(service);
        for (MethodDescriptor method : service.methods()) {
            if (method.payload() != Payload.JAVA) {
                continue; // Hessian encodes only payloads of the kind JAVA.
            }
            String name = service.simpleName() + "." + method.name();
            for (int i = 0; i < method.parameters().size(); i++) {
                classes.visit(method.parameters().get(i).generic(), Place.of(name + ", parameter " + (i + 1)));
            }
            classes.visit(method.result().generic(), Place.of(name + ", result"));
            for (Class<?> exception : method.exceptions()) {
                classes.visit(exception, Place.of(name + ", exception"));
            }
        }
        if (!classes.problems.isEmpty()) {
            throw new InvalidServiceException(service.simpleName(), classes.problems, null);
        }
        return Map.copyOf(classes.byName);
    }

    /**
     * Returns the enum class if the given class belongs to an enum constant with a body; otherwise returns the given
     * class.
     */
    static Class<?> enumOf(Class<?> type) {
        Class<?> superclass = type.getSuperclass();
        return superclass != null && superclass.isEnum() ? superclass : type;
    }

    private void visit(Type type, Place position) {
        if (!seen.add(type)) {
            return;
        }
        if (type instanceof Class<?> known) {
            visitClass(known, position);
        } else if (type instanceof ParameterizedType generic) {
            visit(generic.getRawType(), position);
            visitAll(generic.getActualTypeArguments(), position);
        } else if (type instanceof GenericArrayType array) {
            visit(array.getGenericComponentType(), position);
        } else if (type instanceof WildcardType wildcard) {
            visitAll(wildcard.getUpperBounds(), position);
        } else if (type instanceof TypeVariable<?> variable) {
            visitAll(variable.getBounds(), position);
        }
    }

    private void visitAll(Type[] types, Place position) {
        for (Type type : types) {
            visit(type, position);
        }
    }

    private void visitClass(Class<?> type, Place position) {
        if (type.isArray()) {
            visit(type.getComponentType(), position);
        } else if (!type.isPrimitive() && type != Object.class && type != Void.class) {
            String problem = problem(type, position);
            if (problem != null) {
                problems.add(problem);
            }
            // If a class that cannot be sent belongs to a library, its fields are not checked, because the
            // application's developer cannot change them.
            if (type.isEnum() || (ClassOrigin.isOfApplication(type) && (problem == null || isOfService(type)))) {
                allow(type, position);
            }
        }
    }

    /** Returns the position of the class and the reason why its objects cannot be sent; null if they can be sent. */
    private @Nullable String problem(Class<?> type, Place position) {
        String advice = LocalTypes.libraryAdvice(type);
        if (advice != null) {
            return position + ": " + type.getName() + " cannot be sent; " + advice + orTransient(position);
        }
        boolean concrete = !Modifier.isAbstract(type.getModifiers());
        boolean container = Collection.class.isAssignableFrom(type) || Map.class.isAssignableFrom(type);
        if (concrete && ClassOrigin.isOfApplication(type) && !container && !Serializable.class.isAssignableFrom(type)) {
            return position + ": " + type.getName() + " does not implement java.io.Serializable; implement it"
                    + (isOfService(type) ? "" : ELSEWHERE);
        }
        boolean isOfJdk = !ClassOrigin.isOfApplication(type);
        if (isOfJdk && (concrete ? !JdkTypes.isReadable(type) : JdkTypes.isAlwaysLocal(type))) {
            String instead = LocalTypes.advice(type);
            return position + ": " + type.getName()
                    + " is a JDK class whose objects cannot be sent; "
                    + (instead == null ? "declare " + JdkTypes.replacement(type) : instead)
                    + orTransient(position);
        }
        return null;
    }

    private static String orTransient(Place position) {
        return position.mayBeTransient() ? ", or mark the field transient if it contains no data" : "";
    }

    private boolean isOfService(Class<?> type) {
        return (type.getPackageName() + ".").startsWith(packageOfService + ".");
    }

    private void allow(Class<?> type, Place position) {
        byName.put(type.getName(), enumOf(type));
        WireName name = type.getDeclaredAnnotation(WireName.class);
        if (name != null) {
            byName.put(name.value(), enumOf(type));
        }
        Class<?>[] permitted = type.getPermittedSubclasses();
        if (permitted != null) {
            visitAll(permitted, position);
        }
        if (enumOf(type).isEnum()) {
            return;
        }
        Type superclass = type.getGenericSuperclass();
        if (superclass != null) {
            visitParent(superclass, type, position);
        }
        for (Type parent : type.getGenericInterfaces()) {
            visitParent(parent, type, position);
        }
        if (!type.isInterface()) {
            visitFields(type, position);
        }
    }

    /**
     * Visits a supertype of a reachable class. Visits only the fields and type arguments, because messages are not
     * expected to contain instances of the supertype itself.
     *
     * @param child the class or interface that extends the supertype, for error messages
     */
    private void visitParent(Type parent, Class<?> child, Place childPosition) {
        Class<?> raw = TypeRef.of(parent).raw();
        Place position = Place.of(childPosition + ", supertype " + raw.getName() + " of " + child.getName());
        if (parent instanceof ParameterizedType generic) {
            visitAll(generic.getActualTypeArguments(), position);
        }
        if (ClassOrigin.isOfApplication(raw) && seen.add(new Parent(raw))) {
            Type next = raw.getGenericSuperclass();
            if (next != null) {
                visitParent(next, raw, position);
            }
            for (Type further : raw.getGenericInterfaces()) {
                visitParent(further, raw, position);
            }
            visitFields(raw, position);
        }
    }

    private void visitFields(Class<?> type, Place position) {
        for (Field field : type.getDeclaredFields()) {
            if ((field.getModifiers() & (Modifier.STATIC | Modifier.TRANSIENT)) == 0) {
                visitField(field, position);
            }
        }
    }

    private void visitField(Field field, Place position) {
        int known = problems.size();
        visit(field.getGenericType(), position.field(field));
        if (problems.size() > known && isOfSurroundings(field)) {
            Class<?> type = field.getDeclaringClass();
            problems.subList(known, problems.size()).clear();
            problems.add(position + ": " + type.getName() + " is an inner class, so the "
                    + field.getType().getName() + " around it is sent, too, which is not possible; make "
                    + type.getSimpleName() + " a static class or a record");
        }
    }

    /**
     * Returns whether the compiler added the field to an inner class. Such a field contains the enclosing object or a
     * captured variable.
     */
    private static boolean isOfSurroundings(Field field) {
        return field.isSynthetic()
                && (field.getName().startsWith("this$") || field.getName().startsWith("val$"));
    }

    /**
     * The position of a type, for error messages.
     *
     * @param mayBeTransient whether the position is a field, which could be declared transient
     */
    private record Place(String text, boolean mayBeTransient) {

        static Place of(String text) {
            return new Place(text, false);
        }

        Place field(Field field) {
            Class<?> type = field.getDeclaringClass();
            return new Place(text + ", field " + field.getName() + " of " + type.getName(), !type.isRecord());
        }

        @Override
        public String toString() {
            return text;
        }
    }

    /** A class that the search has found only as a supertype of another class. */
    private record Parent(Class<?> type) implements Type {}
}
