package tern.rpc.spring.autoconfigure;

import java.lang.reflect.Method;
import java.lang.reflect.Parameter;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.stream.Collectors;
import tern.rpc.MethodDescriptor;
import tern.rpc.MethodType;
import tern.rpc.ServiceDescriptor;
import tern.rpc.TypingErrors;
import tern.rpc.settings.InvalidPropertyException;

/** Checks the properties for methods and parameters of a reference. Error messages name the property at fault. */
final class MethodProperties {

    private final ServiceDescriptor service;
    private final String prefix;
    private final Map<String, InvalidPropertyException> missing = new TreeMap<>();

    private MethodProperties(ServiceDescriptor service, String prefix) {
        this.service = service;
        this.prefix = prefix;
    }

    /**
     * Checks the properties of a reference. Returns an exception for each property that names a method or parameter
     * that does not exist in the interface. The keys are the names of these properties without their last element.
     * These exceptions are not thrown, because another interface with the same simple name might have the method or
     * parameter.
     *
     * @param prefix the prefix of the property names, without a dot at the end
     * @throws InvalidPropertyException if a property does not fit a method of the interface, for example because it
     *     makes a method one-way although the method returns a value or is a stream
     * @throws IllegalArgumentException if the interface cannot be called
     */
    static Map<String, InvalidPropertyException> check(
            Class<?> type, String prefix, RpcClientProperties.Service properties) {
        if (properties.methods().isEmpty() && properties.hashKey() == null) {
            return Map.of();
        }
        MethodProperties checked = new MethodProperties(ServiceDescriptor.of(type), prefix);
        List<String> declared =
                Arrays.stream(type.getMethods()).map(Method::getName).toList();
        properties
                .methods()
                .forEach((name, method) -> checked.method(name, ClientSettings.methodNamed(name, declared), method));
        boolean isForAll = properties.methods().values().stream().allMatch(method -> method.hashKey() == null);
        if (properties.hashKey() != null && isForAll) {
            checked.hashKey(properties.hashKey());
        }
        return checked.missing;
    }

    private void hashKey(String name) {
        if (service.methods().stream()
                .noneMatch(method -> method.parameterNames().contains(name))) {
            missing.put(prefix, noParameter(prefix + ".hash-key", name, service.simpleName(), service.methods()));
        }
    }

    private void method(String written, String name, RpcClientProperties.Method properties) {
        String own = prefix + ".methods." + written;
        List<MethodDescriptor> overloads = service.overloads(name);
        if (overloads.isEmpty()) {
            missing.put(own, noMethod(own + "." + firstSet(properties), name));
        }
        for (MethodDescriptor method : overloads) {
            String key = properties.hashKey();
            if (key != null && !method.parameterNames().contains(key)) {
                throw overloads.stream()
                                .anyMatch(other -> other.parameterNames().contains(key))
                        ? notInAllOverloads(own + ".hash-key", key, method)
                        : noParameter(own + ".hash-key", key, method.toString(), overloads);
            }
            if (Boolean.TRUE.equals(properties.oneWay()) && !mayBeOneWay(method)) {
                throw new InvalidPropertyException(
                        own + ".one-way",
                        own + ".one-way is true, but " + method + " "
                                + (method.type() == MethodType.UNARY ? "returns " + method.result() : "is a stream"),
                        "Remove the property, because only void methods can be one-way.",
                        null);
            }
        }
    }

    private InvalidPropertyException notInAllOverloads(String property, String key, MethodDescriptor method) {
        Method declared = method.javaMethod();
        String types = declared == null
                ? ""
                : Arrays.stream(declared.getParameterTypes())
                        .map(Class::getSimpleName)
                        .collect(Collectors.joining(", ", "(", ")"));
        return new InvalidPropertyException(
                property,
                property + " is '" + key + "', but the overload " + method + types
                        + " has no parameter with this name, which all overloads need",
                "Set " + prefix
                        + ".hash-key instead, which applies to the methods and overloads that have the parameter.",
                null);
    }

    private static boolean mayBeOneWay(MethodDescriptor method) {
        return method.type() == MethodType.UNARY && method.result().raw() == void.class;
    }

    private InvalidPropertyException noMethod(String property, String name) {
        List<String> names = service.methods().stream()
                .map(MethodDescriptor::name)
                .distinct()
                .toList();
        String closest = names.stream()
                .filter(known -> TypingErrors.between(known, name) <= Math.max(1, name.length() / 3))
                .min(Comparator.comparingInt(known -> TypingErrors.between(known, name)))
                .orElse(null);
        return new InvalidPropertyException(
                property,
                property + " is set, but " + service.simpleName() + " has no method '" + name + "'; it has "
                        + String.join(", ", names),
                (closest == null ? "" : "Did you mean " + closest + "? ") + "Correct the name, or remove the property.",
                null);
    }

    private static String firstSet(RpcClientProperties.Method method) {
        return method.timeout() != null
                ? "timeout"
                : method.idempotent() != null
                        ? "idempotent"
                        : method.oneWay() != null
                                ? "one-way"
                                : method.waitForReady() != null
                                        ? "wait-for-ready"
                                        : method.hashKey() != null ? "hash-key" : "hedging";
    }

    /** @param methods the methods that lack the parameter */
    private static InvalidPropertyException noParameter(
            String property, String name, String where, List<MethodDescriptor> methods) {
        String problem = property + " is '" + name + "', but " + where + " has no parameter with this name";
        boolean isNamed = methods.stream()
                .map(MethodDescriptor::javaMethod)
                .filter(Objects::nonNull)
                .flatMap(method -> Arrays.stream(method.getParameters()))
                .allMatch(Parameter::isNamePresent);
        if (!isNamed) {
            return new InvalidPropertyException(
                    property,
                    problem + ", because its class file has no parameter names",
                    "Compile the interface with -parameters.",
                    null);
        }
        List<String> names = methods.stream()
                .flatMap(method -> method.parameterNames().stream())
                .distinct()
                .toList();
        return new InvalidPropertyException(
                property,
                problem + "; it has " + (names.isEmpty() ? "none" : String.join(", ", names)),
                "Correct the name, or remove the property.",
                null);
    }
}
