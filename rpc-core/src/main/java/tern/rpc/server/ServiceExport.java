package tern.rpc.server;

import java.lang.reflect.Method;
import java.util.Objects;
import java.util.function.Function;
import java.util.function.Supplier;
import tern.rpc.MethodDescriptor;
import tern.rpc.ServiceDescriptor;
import tern.rpc.ServiceKey;
import tern.rpc.endpoint.Attributes;

/**
 * A service that is offered to callers.
 *
 * @param bodies gives the code of each method; asked once, at start-up
 * @param weight the share of calls that this provider asks for; announced to callers
 * @param critical whether reserved workers serve its calls, however busy the server is. Its methods must be few and
 *     quick. The transport must know the service before it decodes a call; this is so on HTTP, but not on the dubbo
 *     protocol
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

    /** Creates an export that is not critical. */
    public ServiceExport(
            ServiceDescriptor service, ServiceKey key, Function<MethodDescriptor, MethodBody> bodies, int weight) {
        this(service, key, bodies, weight, false);
    }

    /** Creates an export without group and version. */
    public static <T> ServiceExport of(Class<T> type, T target) {
        return of(type, target, "", "");
    }

    public static <T> ServiceExport of(Class<T> type, T target, String group, String version) {
        ServiceDescriptor service = ServiceDescriptor.of(type);
        return of(service, new ServiceKey(service.name(), group, version), () -> target, Attributes.DEFAULT_WEIGHT);
    }

    /**
     * Creates an export of a Java interface.
     *
     * @param target gives the implementing object; asked at each call
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
