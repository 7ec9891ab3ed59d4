package tern.rpc;

import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Describes a service. The descriptor is read from the service's interface and validated once. All exports and
 * references of an interface share one descriptor. Immutable.
 */
public final class ServiceDescriptor {

    private static final ClassValue<ServiceDescriptor> DESCRIPTORS = new ClassValue<>() {
        @Override
        protected ServiceDescriptor computeValue(Class<?> type) {
            return new ServiceDescriptor(type);
        }
    };

    private final @Nullable Class<?> type;
    private final String name;
    private final List<MethodDescriptor> methods;
    private final List<String> methodNames;
    private final Map<String, MethodDescriptor[]> byName = new HashMap<>();
    private final Map<Method, MethodDescriptor> byMethod = new HashMap<>();
    private final List<String> warnings = new ArrayList<>();

    private ServiceDescriptor(Class<?> type) {
        this.type = type;
        this.name = nameOf(type);
        if (!type.isInterface() || type.isAnnotation()) {
            throw new IllegalArgumentException(type.getName() + " is not an interface; a service must be an interface");
        }
        Marks.check(type);
        List<MethodDescriptor> found = new ArrayList<>();
        TypeVariables variables = new TypeVariables(type);
        for (Method method : distinctMethods(type)) {
            MethodSignature signature = MethodSignature.of(type, method, variables);
            warnings.addAll(signature.warnings());
            found.add(new MethodDescriptor(this, found.size(), signature, Effects.ANY));
        }
        if (found.isEmpty()) {
            throw new IllegalArgumentException(type.getName() + " has no methods that could be called");
        }
        this.methods = List.copyOf(found);
        this.methodNames = namesOf(methods);
        index();
        for (Method method : type.getMethods()) {
            String descriptor = descriptorOf(method);
            for (MethodDescriptor known : methods) {
                Method same = known.javaMethod();
                if (same != null
                        && same.getName().equals(method.getName())
                        && known.descriptor().equals(descriptor)) {
                    byMethod.put(method, known);
                }
            }
        }
    }

    private ServiceDescriptor(String name, List<Operation> operations) {
        this.type = null;
        this.name = name;
        List<MethodDescriptor> found = new ArrayList<>();
        for (Operation operation : operations) {
            found.add(new MethodDescriptor(this, found.size(), MethodSignature.of(operation), operation.effects()));
        }
        this.methods = List.copyOf(found);
        this.methodNames = namesOf(methods);
        index();
    }

    private static List<String> namesOf(List<MethodDescriptor> methods) {
        return methods.stream().map(MethodDescriptor::name).distinct().sorted().toList();
    }

    private void index() {
        for (MethodDescriptor method : methods) {
            byName.merge(method.name(), new MethodDescriptor[] {method}, ServiceDescriptor::concat);
        }
        byName.forEach((called, overloads) -> {
            if (overloads.length > 1
                    && Arrays.stream(overloads).anyMatch(method -> method.type().clientStreams())) {
                throw new IllegalArgumentException(name + "." + called
                        + " takes a stream and has the name of another method; callers choose it before its first"
                        + " message is read, so give it a name of its own");
            }
        });
    }

    /**
     * A method of a service without a Java interface.
     *
     * @param request the class of a protobuf message, or {@code byte[]} for a service that encodes and decodes
     *     messages itself
     * @param response the class of the response message, or {@code byte[]} for a service that encodes and decodes
     *     messages itself
     * @param answers how the Java method delivers a stream of answers: PUBLISHER if it returns a publisher, OBSERVER if
     *     it gets an observer as an argument
     * @param effects the side effects of a call
     */
    public record Operation(
            String name, MethodType type, Class<?> request, Class<?> response, JavaShape answers, Effects effects) {

        public Operation {
            if (answers != JavaShape.PUBLISHER && answers != JavaShape.OBSERVER) {
                throw new IllegalArgumentException(
                        name + " answers with " + answers + "; expected PUBLISHER or OBSERVER");
            }
        }

        /** Creates an operation whose calls may have side effects. */
        public Operation(String name, MethodType type, Class<?> request, Class<?> response, JavaShape answers) {
            this(name, type, request, response, answers, Effects.ANY);
        }

        /**
         * Creates an operation whose calls may have side effects, and whose streamed answers are returned as a
         * publisher.
         */
        public Operation(String name, MethodType type, Class<?> request, Class<?> response) {
            this(name, type, request, response, JavaShape.PUBLISHER);
        }
    }

    /** The side effects of a call. */
    public enum Effects {
        ANY,
        /** Repeating a call has no further effect. */
        IDEMPOTENT,
        /** The call has no side effects. */
        NONE
    }

    /** Creates the descriptor of a service without a Java interface, such as a service generated by gRPC. */
    public static ServiceDescriptor of(String name, List<Operation> operations) {
        return new ServiceDescriptor(name, operations);
    }

    /**
     * Reads the interface, or returns its cached descriptor.
     *
     * @throws IllegalArgumentException if a method cannot be called remotely; the message names the method and the type
     *     to use instead
     */
    public static ServiceDescriptor of(Class<?> type) {
        return DESCRIPTORS.get(type);
    }

    /** Returns the name of a service interface on the wire, without reading its methods. */
    public static String nameOf(Class<?> type) {
        WireName wireName = type.getAnnotation(WireName.class);
        return wireName == null ? type.getName() : wireName.value();
    }

    /**
     * Returns the instance methods, one for each name and parameter list. If a sub-interface overrides a method with a
     * more specific result type, only the more specific method is returned.
     */
    private static Iterable<Method> distinctMethods(Class<?> type) {
        Method[] all = type.getMethods();
        Arrays.sort(all, Comparator.comparing(Method::getName).thenComparing(ServiceDescriptor::descriptorOf));
        Map<String, Method> distinct = new LinkedHashMap<>();
        for (Method method : all) {
            if (!Modifier.isStatic(method.getModifiers()) && !method.isBridge() && !isLocal(method)) {
                distinct.merge(
                        method.getName() + descriptorOf(method),
                        method,
                        (one, other) -> one.getReturnType().isAssignableFrom(other.getReturnType()) ? other : one);
            }
        }
        return distinct.values();
    }

    private static boolean isLocal(Method method) {
        RpcMethod own = method.getAnnotation(RpcMethod.class);
        RpcMethod marks = own == null && method.isDefault() ? Marks.of(method, RpcMethod.class) : own;
        if (marks == null || !marks.local()) {
            return false;
        }
        if (!method.isDefault()) {
            throw new IllegalArgumentException(method.getDeclaringClass().getSimpleName() + "." + method.getName()
                    + " is marked local but has no body; only default methods can be local");
        }
        return true;
    }

    private static String descriptorOf(Method method) {
        StringBuilder text = new StringBuilder();
        for (Class<?> parameter : method.getParameterTypes()) {
            text.append(parameter.descriptorString());
        }
        return text.toString();
    }

    private static MethodDescriptor[] concat(MethodDescriptor[] some, MethodDescriptor[] more) {
        MethodDescriptor[] all = Arrays.copyOf(some, some.length + more.length);
        System.arraycopy(more, 0, all, some.length, more.length);
        return all;
    }

    /** Returns the Java interface; null for a service without one. */
    public @Nullable Class<?> type() {
        return type;
    }

    /**
     * Returns the name on the wire: the name that {@link WireName} sets, or otherwise the fully qualified interface
     * name.
     */
    public String name() {
        return name;
    }

    public String simpleName() {
        return type == null ? name.substring(name.lastIndexOf('.') + 1) : type.getSimpleName();
    }

    /** Returns the class loader that loads the classes named in messages of the service. */
    public @Nullable ClassLoader classLoader() {
        return type == null ? ServiceDescriptor.class.getClassLoader() : type.getClassLoader();
    }

    /** Returns the interface's package; empty for a service without a Java interface. */
    public String packageName() {
        return type == null ? "" : type.getPackageName();
    }

    public List<MethodDescriptor> methods() {
        return methods;
    }

    /** Returns the names of the methods in alphabetical order. The name of overloads occurs once. */
    public List<String> methodNames() {
        return methodNames;
    }

    /**
     * Returns the warnings to log at startup: one sentence for each parameter or result whose declared type is not
     * fully specified, for example because it contains a type variable.
     */
    public List<String> warnings() {
        return List.copyOf(warnings);
    }

    /**
     * Returns the method with the given name and concatenated JVM descriptors of the parameter types; null if the
     * service has no such method.
     */
    public @Nullable MethodDescriptor method(String name, String descriptor) {
        MethodDescriptor[] overloads = byName.get(name);
        if (overloads != null) {
            for (MethodDescriptor overload : overloads) {
                if (overload.descriptor().equals(descriptor)) {
                    return overload;
                }
            }
        }
        return null;
    }

    /** Returns all methods with this name; the list may be empty. */
    public List<MethodDescriptor> overloads(String name) {
        MethodDescriptor[] overloads = byName.get(name);
        return overloads == null ? List.of() : List.of(overloads);
    }

    /** Returns the descriptor of a reflected method; null if it is not a remote method. */
    public @Nullable MethodDescriptor method(Method method) {
        return byMethod.get(method);
    }

    @Override
    public String toString() {
        return name;
    }
}
