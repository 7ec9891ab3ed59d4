package tern.rpc.spring.autoconfigure;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import tern.rpc.MethodDescriptor;
import tern.rpc.ServiceDescriptor;
import tern.rpc.limit.FixedLimit;
import tern.rpc.limit.GradientLimit;
import tern.rpc.limit.Limit;
import tern.rpc.server.RpcServer;
import tern.rpc.server.ServiceExport;
import tern.rpc.settings.InvalidPropertyException;
import tern.rpc.settings.RpcStartException;

/**
 * The validated limits on concurrent calls, for the server and for single methods.
 *
 * @param server the server's limit; null for the server's own adaptive limit
 * @param threads the number of threads for all methods
 * @param services the settings of services, by their names in the properties
 */
record ServerLimits(@Nullable Integer server, int threads, Map<String, RpcServerProperties.Service> services) {

    private static final String PREFIX = "rpc.server.services.";
    private static final String ADAPTIVE = "adaptive";
    private static final int MAX_CONCURRENCY = 1_000_000;

    /** All overloads of a method of an exported interface. */
    record Method(String interfaceName, String name) {}

    static ServerLimits of(RpcServerProperties properties, int threads) {
        return of(properties.maxConcurrency(), threads, properties.services());
    }

    static ServerLimits of(String maxConcurrency, int threads, Map<String, RpcServerProperties.Service> services) {
        services.forEach((service, settings) -> settings.methods()
                .forEach((method, limits) -> number(property(service, method), limits.maxConcurrency())));
        return new ServerLimits(number("rpc.server.max-concurrency", maxConcurrency), threads, services);
    }

    /**
     * Parses a limit.
     *
     * @return the number; null if the limit is adaptive, blank or missing
     */
    private static @Nullable Integer number(String property, @Nullable String value) {
        if (value == null
                || value.isBlank()
                || value.strip().toLowerCase(Locale.ROOT).equals(ADAPTIVE)) {
            return null;
        }
        try {
            int number = Integer.parseInt(value.strip());
            if (number >= 1 && number <= MAX_CONCURRENCY) {
                return number;
            }
        } catch (NumberFormatException e) {
            // The value is not a number. The exception that follows this block reports the value.
        }
        throw new InvalidPropertyException(
                property, "'" + value + "'", ADAPTIVE + " or a number from 1 to " + MAX_CONCURRENCY);
    }

    private static String property(String service, String method) {
        return PREFIX + service + ".methods." + method + ".max-concurrency";
    }

    /** Sets the limits in the server builder. All services must be exported before this method is called. */
    void applyTo(RpcServer.Builder builder) {
        if (server != null) {
            builder.limit(() -> new FixedLimit(server));
        }
        ofMethods(builder.exports())
                .forEach((method, fixed) ->
                        builder.limit(method.interfaceName(), method.name(), () -> ofMethod(fixed.orElse(null))));
    }

    /** @param fixed the number of calls; null for an adaptive limit */
    Limit ofMethod(@Nullable Integer fixed) {
        return fixed == null
                ? new GradientLimit(Math.min(RpcServer.MIN_CALLS, threads), threads)
                : new FixedLimit(fixed);
    }

    /**
     * Returns the limits of methods. The value in the map is empty for an adaptive limit.
     *
     * @throws RpcStartException if a limit is set for a method that is not exported
     */
    Map<Method, Optional<Integer>> ofMethods(List<ServiceExport> exports) {
        Map<Method, Optional<Integer>> all = new LinkedHashMap<>();
        services.forEach((service, settings) -> settings.methods().forEach((method, limits) -> {
            String value = limits.maxConcurrency();
            if (value != null && !value.isBlank()) {
                Optional<Integer> fixed = Optional.ofNullable(number(property(service, method), value));
                meant(service, method, exports).forEach(each -> all.put(each, fixed));
            }
        }));
        return all;
    }

    private static List<Method> meant(String service, String method, List<ServiceExport> exports) {
        List<Method> meant = exports.stream()
                .map(ServiceExport::service)
                .filter(exported ->
                        ClientSettings.uniform(exported.simpleName()).equals(ClientSettings.uniform(service)))
                .filter(exported ->
                        !exported.overloads(methodOf(exported, method)).isEmpty())
                .map(exported -> new Method(exported.name(), methodOf(exported, method)))
                .distinct()
                .toList();
        if (meant.isEmpty()) {
            throw new RpcStartException(
                    property(service, method) + " is set, but no exported service " + service + " has a method "
                            + method,
                    "Correct the property's name, or remove the property. The name contains the simple name of an"
                            + " exported interface, and the name of one of its methods, in any form (placeOrder,"
                            + " place-order).",
                    null);
        }
        return meant;
    }

    private static String methodOf(ServiceDescriptor service, String written) {
        return ClientSettings.methodNamed(
                written, service.methods().stream().map(MethodDescriptor::name).toList());
    }
}
