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
 * @param critical whether its calls are served however full the server is, by workers that are kept for such services.
 *     Its methods must be few and quick; the transport has to know the service before it reads a call, which it does by
 *     HTTP and does not by the dubbo protocol
 */
public record ServiceExport(
        ServiceDescriptor service,
        ServiceKey key,
        Function<MethodDescriptor, MethodBody> bodies,
        int weight,
        boolean critical) {

    public ServiceExport {
        if (weight < 0) {
            throw new IllegalArgumentException("weight of " + key + " is " + weight + "; expected 0 or more");
        }
    }

    /** Not critical. */
    public ServiceExport(
            ServiceDescriptor service, ServiceKey key, Function<MethodDescriptor, MethodBody> bodies, int weight) {
        this(service, key, bodies, weight, false);
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
