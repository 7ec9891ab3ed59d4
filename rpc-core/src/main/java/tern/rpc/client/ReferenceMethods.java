package tern.rpc.client;

import java.lang.reflect.Method;
import java.time.Duration;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import tern.rpc.ClientFilter;
import tern.rpc.Filter;
import tern.rpc.Invoker;
import tern.rpc.MethodDescriptor;
import tern.rpc.MethodType;
import tern.rpc.ServiceDescriptor;
import tern.rpc.TimeLimit;
import tern.rpc.cluster.UsualTime;
import tern.rpc.metrics.RpcMeters;

/** Combines and checks the method settings of a reference. Immutable. */
final class ReferenceMethods {

    private final List<ClientFilter> filters;
    private final Duration timeout;
    private final RpcMeters meters;

    /** @param timeout the timeout of methods whose settings contain no timeout */
    ReferenceMethods(List<ClientFilter> filters, Duration timeout, RpcMeters meters) {
        this.filters = filters;
        this.timeout = timeout;
        this.meters = meters;
    }

    /**
     * Combines the settings for all methods of a reference.
     *
     * @throws IllegalArgumentException if a setting is invalid; the message names the method
     */
    Map<Method, ClientMethod> of(
            ServiceReference<?> reference,
            ServiceDescriptor service,
            EndpointInvoker endpoints,
            ServiceAttempts attempts) {
        Map<Method, ClientMethod> methods = new HashMap<>();
        for (Method method : reference.type().getMethods()) {
            MethodDescriptor descriptor = service.method(method);
            if (descriptor != null) {
                methods.put(method, clientMethod(reference, descriptor, endpoints, attempts));
            }
        }
        checkHashKey(reference, methods.values());
        return Map.copyOf(methods);
    }

    /** @throws IllegalArgumentException if the settings name a method that the service does not have */
    static void checkNames(ServiceReference<?> reference, ServiceDescriptor service) {
        for (String name : reference.methods().keySet()) {
            if (service.overloads(name).isEmpty()) {
                throw new IllegalArgumentException(service.simpleName() + " has no method '" + name
                        + "', which settings name; it has "
                        + service.methods().stream()
                                .map(MethodDescriptor::name)
                                .distinct()
                                .collect(Collectors.joining(", ")));
            }
        }
    }

    private static void checkHashKey(ServiceReference<?> reference, Collection<ClientMethod> methods) {
        String key = reference.defaults().hashKey();
        if (key != null && methods.stream().allMatch(method -> method.keyArgument() == ClientMethod.NO_KEY)) {
            throw new IllegalArgumentException("no method of " + reference.key() + " has a parameter '" + key
                    + "', which its hash key names; its methods have "
                    + methods.stream()
                            .flatMap(method -> method.descriptor().parameterNames().stream())
                            .distinct()
                            .toList()
                    + ", where names such as arg0 mean that the interface was compiled without -parameters");
        }
    }

    private ClientMethod clientMethod(
            ServiceReference<?> reference,
            MethodDescriptor descriptor,
            EndpointInvoker endpoints,
            ServiceAttempts attempts) {
        MethodSettings marks = new MethodSettings(
                        descriptor.timeout(),
                        descriptor.isIdempotent() ? true : null,
                        descriptor.isOneWay() ? true : null)
                .from("@RpcMethod(timeout) of " + descriptor);
        MethodSettings own = reference
                .methods()
                .getOrDefault(descriptor.name(), MethodSettings.NONE)
                .from("the MethodSettings of " + descriptor + " in its ServiceReference");
        if (descriptor.timeoutPlaceholder() != null
                && own.timeout() == null
                && reference.defaults().timeout() == null) {
            throw new IllegalArgumentException("@RpcMethod(timeout) of " + descriptor + " is '"
                    + descriptor.timeoutPlaceholder() + "'; only the Spring Boot starter replaces placeholders");
        }
        MethodSettings defaults = reference
                .defaults()
                .from("the defaults of the ServiceReference to "
                        + descriptor.service().simpleName());
        MethodSettings settings = own.or(defaults).or(marks);
        boolean unary = descriptor.type() == MethodType.UNARY;
        boolean oneWay = Boolean.TRUE.equals(settings.oneWay());
        if (oneWay && (descriptor.result().raw() != void.class || !unary)) {
            Method java = descriptor.javaMethod();
            Object returned =
                    java == null ? descriptor.result() : java.getReturnType().getSimpleName();
            throw new IllegalArgumentException(descriptor + " is set to be one-way but "
                    + (unary ? "returns " + returned : "is a stream")
                    + "; only void methods can be one-way");
        }
        TimeLimit set = limit(unary ? settings : own.or(marks));
        TimeLimit limit = set == null && unary ? new TimeLimit(timeout, "rpc.client.timeout") : set;
        boolean idempotent = Boolean.TRUE.equals(settings.idempotent());
        Hedging hedging = hedging(descriptor, own, settings, attempts);
        ClientMethod method = new ClientMethod(
                reference.key(),
                descriptor,
                limit,
                idempotent,
                oneWay,
                Boolean.TRUE.equals(settings.waitForReady()),
                keyArgument(descriptor, settings.hashKey(), own.hashKey() != null),
                filters,
                null,
                endpoints,
                meters.client(reference.key(), descriptor, reference.protocol()),
                new UsualTime(),
                hedging,
                new ProviderMethodNames(descriptor.label()));
        return (filters.isEmpty() && hedging == null) || !unary ? method : method.filteredBy(chain(method));
    }

    /**
     * Returns the {@link Hedging} for a method's calls, or null if the calls are not hedged. Throws an exception if the
     * method's own settings enable hedging, but the method is one-way, streaming or not idempotent.
     */
    private @Nullable Hedging hedging(
            MethodDescriptor descriptor, MethodSettings own, MethodSettings settings, ServiceAttempts attempts) {
        boolean unary = descriptor.type() == MethodType.UNARY;
        boolean oneWay = Boolean.TRUE.equals(settings.oneWay());
        boolean possible = unary && !oneWay && Boolean.TRUE.equals(settings.idempotent());
        if (Boolean.TRUE.equals(own.hedged()) && !possible) {
            throw new IllegalArgumentException(descriptor + " is set to be hedged but is "
                    + (unary ? oneWay ? "one-way" : "not idempotent" : "a stream")
                    + "; only methods with one answer that are marked as idempotent can be hedged");
        }
        return possible && Boolean.TRUE.equals(settings.hedged()) ? attempts.hedging() : null;
    }

    /**
     * Returns the index of the argument with the given name, or {@link ClientMethod#NO_KEY} if no argument has this
     * name.
     */
    private static int keyArgument(MethodDescriptor descriptor, @Nullable String name, boolean required) {
        int index =
                name == null ? ClientMethod.NO_KEY : descriptor.parameterNames().indexOf(name);
        if (required && index < 0) {
            boolean isOverloaded =
                    descriptor.service().overloads(descriptor.name()).size() > 1;
            throw new IllegalArgumentException((isOverloaded ? "an overload of " : "") + descriptor
                    + " has no parameter '" + name + "', which its hash key names; it has "
                    + descriptor.parameterNames()
                    + (isOverloaded ? "; all overloads need this parameter" : ""));
        }
        return index;
    }

    private static @Nullable TimeLimit limit(MethodSettings settings) {
        return settings.timeout() == null
                ? null
                : new TimeLimit(settings.timeout(), String.valueOf(settings.timeoutFrom()));
    }

    /** Chains the application's filters, outermost first, and then the last step of the call. */
    private Invoker chain(ClientMethod method) {
        return Filter.chain(filters, call -> ServiceProxy.stage(method, call));
    }
}
