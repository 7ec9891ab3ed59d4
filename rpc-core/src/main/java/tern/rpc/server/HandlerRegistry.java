package tern.rpc.server;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import tern.rpc.Invocation;
import tern.rpc.MethodDescriptor;
import tern.rpc.NanoClock;
import tern.rpc.PeerText;
import tern.rpc.RpcException;
import tern.rpc.RpcException.Executed;
import tern.rpc.ServerFilter;
import tern.rpc.ServiceDescriptor;
import tern.rpc.ServiceKey;
import tern.rpc.StatusCode;
import tern.rpc.limit.Limit;
import tern.rpc.metrics.RpcMeters;
import tern.rpc.transport.BuiltInMethods;
import tern.rpc.transport.ServiceLookup;

/**
 * Finds the handler of a call by its service and method names. Filled at startup. Only the limits of methods can change
 * later.
 */
final class HandlerRegistry implements ServiceLookup {

    private static final Logger LOG = LoggerFactory.getLogger(HandlerRegistry.class);

    /** The exports of one interface, each with a different group or version. */
    private static final class Exports {
        final ServiceDescriptor service;
        final List<Export> all = new ArrayList<>();

        @Nullable
        ServiceKey plain; // the export for calls that specify neither group nor version; set at startup

        private final AtomicBoolean logged = new AtomicBoolean();

        /**
         * Logs once that a call without group and version was served by an export that has a group or a version. Such a
         * call succeeds only over HTTP and Triple, and only while the interface has no other export.
         */
        void logOnce(ServiceKey key) {
            boolean isExact = key.group().isEmpty() && key.version().isEmpty();
            if (!isExact && !logged.get() && logged.compareAndSet(false, true)) {
                LOG.info(
                        "A caller without group and version is served by {}. Such calls work over HTTP and Triple only,"
                                + " and only while this is the only export of the interface",
                        key);
            }
        }

        Exports(ServiceDescriptor service) {
            this.service = service;
        }
    }

    private record Export(ServiceKey key, MethodHandler[] own, MethodHandler[] builtIn) {}

    private static final int MAX_NAMES = 20; // the maximum number of service names in an error message

    /** The key for the built-in methods, whose calls are counted together for all services. */
    private static final ServiceKey BUILT_IN_METHODS = new ServiceKey(BuiltInMethods.DESCRIPTOR.name(), "", "");

    private final Map<String, Exports> byInterface = new HashMap<>();
    private final Set<String> critical = new HashSet<>();
    private final boolean genericCalls;
    private final MethodLimits limits;
    private final String exported; // the keys of the exported services, for error messages

    /**
     * Maps the name of an interface to the names of the exported interfaces that extend it. Used for error messages.
     */
    private final Map<String, Set<String>> byExtended = new HashMap<>();

    HandlerRegistry(
            List<ServiceExport> exports,
            List<ServerFilter> filters,
            MethodLimits limits,
            RpcMeters meters,
            boolean genericCalls,
            boolean exceptionTexts,
            NanoClock clock) {
        this.genericCalls = genericCalls;
        this.limits = limits;
        for (ServiceExport export : exports) {
            ServiceDescriptor service = export.service();
            Exports known = byInterface.computeIfAbsent(service.name(), name -> new Exports(service));
            if (known.service != service) {
                throw new IllegalArgumentException(
                        service.name() + " is exported from two class loaders; export it from one");
            }
            if (export.critical()) {
                critical.add(service.name());
            }
            if (known.all.stream().anyMatch(other -> other.key().equals(export.key()))) {
                throw new IllegalArgumentException(
                        export.key() + " is exported twice; give one of the two another group or version");
            }
            MethodHandler[] own = service.methods().stream()
                    .map(method -> new MethodHandler(
                            export.key(),
                            method,
                            new MethodInvoker(export.bodies().apply(method), method, false),
                            filters,
                            meters,
                            limits.of(method),
                            exceptionTexts,
                            clock))
                    .toArray(MethodHandler[]::new);
            BuiltInMethods generic = new GenericService(service, own);
            MethodHandler[] builtIn = BuiltInMethods.DESCRIPTOR.methods().stream()
                    .map(method -> new MethodHandler(
                            BUILT_IN_METHODS,
                            method,
                            new MethodInvoker(body(method, generic), method, true),
                            filters,
                            meters,
                            null,
                            exceptionTexts,
                            clock))
                    .toArray(MethodHandler[]::new);
            known.all.add(new Export(export.key(), own, builtIn));
        }
        byInterface.values().forEach(known -> known.plain = plain(known));
        exported = exported();
        for (Exports known : byInterface.values()) {
            Class<?> type = known.service.type();
            if (type != null) {
                addExtended(type, known.service.name());
            }
        }
    }

    private void addExtended(Class<?> type, String extending) {
        for (Class<?> extended : type.getInterfaces()) {
            byExtended
                    .computeIfAbsent(ServiceDescriptor.nameOf(extended), name -> new TreeSet<>())
                    .add(extending);
            addExtended(extended, extending);
        }
    }

    private static @Nullable ServiceKey plain(Exports exports) {
        for (String version : List.of("", "1.0.0")) {
            for (Export export : exports.all) {
                if (export.key().group().isEmpty() && export.key().version().equals(version)) {
                    return export.key();
                }
            }
        }
        return exports.all.size() == 1 ? exports.all.get(0).key() : null;
    }

    private static MethodBody body(MethodDescriptor method, BuiltInMethods generic) {
        return MethodBody.of(Objects.requireNonNull(method.javaMethod()), () -> generic);
    }

    @Override
    public ServiceDescriptor service(String interfaceName) {
        Exports exports = byInterface.get(interfaceName);
        if (exports == null) {
            throw unknown("service " + PeerText.name(interfaceName) + " is not exported here; exported services: "
                    + exported + suggestion(interfaceName));
        }
        return exports.service;
    }

    @Override
    public @Nullable MethodDescriptor method(String interfaceName, String name) {
        Exports exports = byInterface.get(interfaceName);
        List<MethodDescriptor> overloads = exports == null ? List.of() : exports.service.overloads(name);
        return overloads.isEmpty() ? null : overloads.get(0);
    }

    @Override
    public @Nullable MethodDescriptor builtIn(String name, String descriptor) {
        MethodDescriptor method = BuiltInMethods.DESCRIPTOR.method(name, descriptor);
        if (method != null && !genericCalls && !name.equals(BuiltInMethods.ECHO)) {
            throw unknown("generic calls are switched off on this server; rpc.server.generic-calls=true allows them");
        }
        return method;
    }

    @Override
    public void require(ServiceKey key) {
        Exports exports = byInterface.get(key.interfaceName());
        if (exports == null || export(exports, key) == null) {
            throw notExported(key);
        }
    }

    @Override
    public ServiceKey withoutGroupAndVersion(String interfaceName) {
        Exports exports = byInterface.get(interfaceName);
        ServiceKey plain = exports == null ? null : exports.plain;
        if (exports != null && plain != null) {
            exports.logOnce(plain);
            return plain;
        }
        throw notExported(new ServiceKey(interfaceName, "", ""));
    }

    /** Returns the limiter shared by all methods with the given name, or null if they have no limit. */
    @Nullable
    MethodLimiter limiter(MethodDescriptor method) {
        return limits.of(method);
    }

    /**
     * Sets, replaces or removes the limit of all methods with the given name.
     *
     * @param limit the new limit; null for none
     * @throws IllegalArgumentException if no export has such a method
     */
    synchronized void limit(MethodLimits.Key key, @Nullable Limit limit) {
        Exports exports = byInterface.get(key.interfaceName());
        if (exports == null || exports.service.overloads(key.method()).isEmpty()) {
            throw new IllegalArgumentException(
                    "a limit is set for " + key.interfaceName() + "/" + key.method() + ", which is not exported");
        }
        MethodLimiter limiter = limits.set(key, limit);
        for (Export export : exports.all) {
            for (MethodHandler handler : export.own()) {
                if (handler.method().name().equals(key.method())) {
                    handler.limiter(limiter);
                }
            }
        }
    }

    /** Returns the number of workers that run methods with the given name, in all exports of the interface. */
    long threads(MethodDescriptor method) {
        Exports exports = byInterface.get(method.service().name());
        long threads = 0;
        if (exports != null) {
            for (Export export : exports.all) {
                for (MethodHandler handler : export.own()) {
                    if (handler.method().name().equals(method.name())) {
                        threads += handler.threads();
                    }
                }
            }
        }
        return threads;
    }

    /** Returns whether reserved workers run the calls to this interface. */
    boolean isCritical(String interfaceName) {
        return critical.contains(interfaceName);
    }

    @Override
    public boolean genericCalls() {
        return genericCalls;
    }

    /**
     * Returns the handler of a decoded call.
     *
     * @throws RpcException UNIMPLEMENTED if the call's group and version are not exported
     */
    MethodHandler handler(Invocation call) {
        Exports exports = byInterface.get(call.service().interfaceName());
        Export export = exports == null ? null : export(exports, call.service());
        if (exports != null && export != null) {
            MethodHandler[] handlers = call.method().service() == exports.service ? export.own() : export.builtIn();
            return handlers[call.method().index()];
        }
        throw notExported(call.service());
    }

    /**
     * Returns the failure of a call to a service, group and version that are not exported. The failure is the same on
     * every protocol.
     */
    private RpcException notExported(ServiceKey key) {
        boolean isPlain = key.group().isEmpty() && key.version().isEmpty();
        String service = "service " + PeerText.name(key.toString());
        return unknown(
                isPlain && byInterface.containsKey(key.interfaceName())
                        ? service + " is not exported here without group and version; exported services: " + exported
                                + "; set group and version of the reference, or send the headers tri-service-group and"
                                + " tri-service-version"
                        : service + " is not exported here; exported services: " + exported
                                + suggestion(key.interfaceName()));
    }

    /** Returns a suggestion to append to the error message about an unknown service; empty if there is none. */
    private String suggestion(String called) {
        Set<String> extending = byInterface.containsKey(called) ? null : byExtended.get(called);
        if (extending == null) {
            return likeName(called);
        }
        String names = extending.stream().limit(MAX_NAMES).collect(Collectors.joining(", "));
        return "; " + names + (extending.size() == 1 ? " extends" : " extend") + " it: call "
                + (extending.size() == 1 ? names : "one of these") + ", or export " + PeerText.name(called)
                + " as well (in Spring with interfaces in @RpcService)";
    }

    /**
     * Returns a suggestion such as {@code ; did you mean shop.OrderService?} if exactly one exported interface has the
     * same simple name. The unknown name may have a different package, a dot instead of {@code $}, or a prefix. Returns
     * an empty string if there is no suggestion.
     */
    private String likeName(String called) {
        String simple = called.substring(
                Math.max(Math.max(called.lastIndexOf('.'), called.lastIndexOf('$')), called.lastIndexOf('/')) + 1);
        List<String> like = byInterface.containsKey(called)
                ? List.of()
                : byInterface.keySet().stream()
                        .filter(name -> endsWith(name, simple))
                        .toList();
        return like.size() == 1 ? "; did you mean " + like.get(0) + "?" : "";
    }

    private static boolean endsWith(String name, String simple) {
        int from = name.length() - simple.length();
        return from > 0
                && ".$".indexOf(name.charAt(from - 1)) >= 0
                && name.regionMatches(true, from, simple, 0, simple.length());
    }

    private static @Nullable Export export(Exports exports, ServiceKey key) {
        List<Export> all = exports.all;
        for (int i = 0; i < all.size(); i++) { // This loop runs for each call, so it avoids allocating an iterator.
            if (all.get(i).key().equals(key)) {
                return all.get(i);
            }
        }
        return null;
    }

    private String exported() {
        String keys = byInterface.values().stream()
                .flatMap(exports -> exports.all.stream())
                .map(export -> export.key().toString())
                .sorted()
                .limit(MAX_NAMES)
                .collect(Collectors.joining(", "));
        return keys.isEmpty() ? "none" : keys;
    }

    private static RpcException unknown(String description) {
        return RpcException.refusal(StatusCode.UNIMPLEMENTED, description, Executed.NO);
    }
}
