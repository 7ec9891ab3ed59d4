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
 * A service offered to callers.
 *
 * @param bodies returns each method's code; called once, at startup
 * @param weight the requested share of calls, relative to the weights of the other providers: 0 or more, usually 100;
 *     advertised to callers. A provider with the weight 0 gets calls only while no other provider is available
 * @param critical whether reserved workers serve its calls even if the server is overloaded. A critical service must
 *     have only a few methods, which must be fast. This setting works over HTTP, where the service is known before a
 *     call is decoded, but not over the dubbo protocol
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
        checkOne("group", key.group(), key);
        checkOne("version", key.version(), key);
    }

    /** Throws an exception for a wildcard or a list, because no reference could call such an export. */
    private static void checkOne(String name, String value, ServiceKey key) {
        if (value.equals("*") || value.indexOf(',') >= 0) {
            throw new IllegalArgumentException("the " + name + " '" + value + "' of " + key.interfaceName()
                    + " stands for several " + name + "s; export the service once for each " + name);
        }
    }

    /** Creates an export that is not critical. */
    public ServiceExport(
            ServiceDescriptor service, ServiceKey key, Function<MethodDescriptor, MethodBody> bodies, int weight) {
        this(service, key, bodies, weight, false);
    }

    /** Creates an export without a group or version. */
    public static <T> ServiceExport of(Class<T> type, T target) {
        return of(type, target, "", "");
    }

    /**
     * Creates an export of a Java interface with the default weight.
     *
     * @param target the implementing object, which many threads call at the same time
     * @param group the group; empty for none
     * @param version the version; empty for none
     * @throws IllegalArgumentException if the interface cannot be served, or if the target does not implement it. The
     *     message names the method that cannot be served
     */
    public static <T> ServiceExport of(Class<T> type, T target, String group, String version) {
        ServiceDescriptor service = ServiceDescriptor.of(type);
        if (!type.isInstance(target)) {
            throw new IllegalArgumentException("the object to export as " + type.getName() + " is "
                    + (target == null
                            ? "null"
                            : "of the class " + target.getClass().getName())
                    + "; expected an implementation");
        }
        return of(service, new ServiceKey(service.name(), group, version), () -> target, Attributes.DEFAULT_WEIGHT);
    }

    /**
     * Creates an export of a Java interface.
     *
     * @param target supplies the implementing object for each call
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
