package tern.rpc.netty.triple;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import tern.rpc.MethodDescriptor;

/**
 * The paths that select one of several methods with the same name in JSON calls. A path ends with {@code ~} and the
 * first letters of the parameter types, so two methods can have the same path.
 */
final class JsonOverloads {

    private JsonOverloads() {}

    /** Returns the first letters of the parameter types, such as {@code iS} for {@code int} and {@code String}. */
    static String letters(MethodDescriptor method) {
        return method.parameters().stream()
                .map(type -> type.raw().getSimpleName().substring(0, 1))
                .collect(Collectors.joining());
    }

    private static String path(MethodDescriptor method) {
        return method.name() + '~' + letters(method);
    }

    /** Returns the paths of overloads, such as {@code add~ii, add~ll}. */
    static String paths(List<MethodDescriptor> methods) {
        return methods.stream().map(JsonOverloads::path).distinct().collect(Collectors.joining(", "));
    }

    /** Returns the given methods that have the same path as another given method. */
    private static List<MethodDescriptor> twins(List<MethodDescriptor> methods) {
        return methods.stream()
                .filter(method -> methods.stream()
                                .map(JsonOverloads::path)
                                .filter(path(method)::equals)
                                .count()
                        > 1)
                .toList();
    }

    /** Returns an error message that lists the paths of the given methods, which all match the caller's path. */
    static String choice(String name, List<MethodDescriptor> fitting) {
        List<MethodDescriptor> twins = twins(fitting);
        if (twins.size() == fitting.size()) {
            return same(twins) + "; call it by dubbo or tri, or give one of them another name";
        }
        List<MethodDescriptor> unique =
                fitting.stream().filter(method -> !twins.contains(method)).toList();
        String signatures = unique.stream().map(JsonOverloads::signature).collect(Collectors.joining(", "));
        String others = unique.isEmpty() ? "" : paths(unique) + " (" + signatures + ")";
        return name + " has overloads; call one of " + others + (twins.isEmpty() ? "" : ". " + same(twins));
    }

    /**
     * Returns the paths that identify exactly one of the overloads, separated by commas; an empty string if there are
     * none.
     */
    static String unambiguous(List<MethodDescriptor> overloads) {
        List<MethodDescriptor> twins = twins(overloads);
        return paths(
                overloads.stream().filter(method -> !twins.contains(method)).toList());
    }

    /** @throws IllegalArgumentException if another method of the service has the same path */
    static void check(MethodDescriptor method, String protocol) {
        List<MethodDescriptor> twins = twins(method.service().overloads(method.name()));
        if (twins.contains(method)) {
            List<MethodDescriptor> same = twins.stream()
                    .filter(twin -> path(twin).equals(path(method)))
                    .toList();
            throw new IllegalArgumentException(method + ": " + same(same) + ", so the protocol " + protocol
                    + " cannot call them; give one of them another name, or refer to it with protocol tri");
        }
    }

    private static String same(List<MethodDescriptor> twins) {
        Map<String, String> signatures = new LinkedHashMap<>();
        twins.forEach(twin -> signatures.merge(path(twin), signature(twin), (one, other) -> one + " and " + other));
        return signatures.entrySet().stream()
                        .map(path -> path.getKey() + " fits " + path.getValue())
                        .collect(Collectors.joining(", "))
                + ", which paths cannot tell apart";
    }

    private static String signature(MethodDescriptor method) {
        return method.parameters().stream()
                .map(type -> type.raw().getSimpleName())
                .collect(Collectors.joining(", ", method.name() + "(", ")"));
    }
}
