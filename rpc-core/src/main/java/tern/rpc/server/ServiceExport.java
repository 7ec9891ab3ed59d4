package tern.rpc.server;

import java.lang.reflect.Method;
import java.util.Objects;
import java.util.function.Function;
import java.util.function.Supplier;
import tern.rpc.MethodDescriptor;
import tern.rpc.ServiceDescriptor;
import tern.rpc.ServiceKey;
import tern.rpc.endpoint.Endpoint;

/**
 * One service offered to callers.
 *
 * @param bodies gives what runs for each of its methods; asked once, at start-up
 * @param weight announced to callers: the share of calls that this provider wants
 */
public record ServiceExport(
        ServiceDescriptor service, ServiceKey key, Function<MethodDescriptor, MethodBody> bodies, int weight) {

    public ServiceExport {
        if (weight < 0) {
            throw new IllegalArgumentException("weight of " + key + " is " + weight + "; expected 0 or more");
        }
    }

    /** Without group and version. */
    public static <T> ServiceExport of(Class<T> type, T target) {
        return of(type, target, "", "");
    }

    public static <T> ServiceExport of(Class<T> type, T target, String group, String version) {
        ServiceDescriptor service = ServiceDescriptor.of(type);
        return of(service, new ServiceKey(service.name(), group, version), () -> target, Endpoint.DEFAULT_WEIGHT);
    }

    /**
     * Of a Java interface.
     *
     * @param target gives the object that implements it; asked at each call
     */
    public static ServiceExport of(ServiceDescriptor service, ServiceKey key, Supplier<?> target, int weight) {
        return new ServiceExport(
                service,
                key,
                method -> {
                    Method java = Objects.requireNonNull(method.javaMethod(), method::fullName);
                    return MethodBody.of(java, target);
                },
                weight);
    }
}
