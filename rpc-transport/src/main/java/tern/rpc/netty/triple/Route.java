package tern.rpc.netty.triple;

import io.netty.handler.codec.http2.Http2Headers;
import java.util.List;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import tern.rpc.MethodDescriptor;
import tern.rpc.MethodType;
import tern.rpc.PeerText;
import tern.rpc.RpcException;
import tern.rpc.RpcException.Executed;
import tern.rpc.ServiceDescriptor;
import tern.rpc.ServiceKey;
import tern.rpc.StatusCode;
import tern.rpc.netty.CallKind;
import tern.rpc.transport.AcceptedTokens;
import tern.rpc.transport.ServiceLookup;

/**
 * The service and method that a request's path and headers identify.
 *
 * @param methodName the method name as written in the path
 * @param candidates the methods with this name, at least one; the request message selects one of them
 */
record Route(ServiceKey key, ServiceDescriptor service, String methodName, List<MethodDescriptor> candidates) {

    /**
     * Finds the route. Group and version come from Triple's headers.
     *
     * @throws RpcException UNIMPLEMENTED if no export matches
     */
    static Route of(ServiceLookup services, Http2Headers head) {
        return of(
                services,
                pathOf(head),
                GrpcHeaders.text(head, GrpcHeaders.GROUP),
                GrpcHeaders.text(head, GrpcHeaders.VERSION));
    }

    /**
     * Finds the route.
     *
     * @param group the group; null if the request does not contain one
     * @param version the version; null if the request does not contain one
     * @throws RpcException UNIMPLEMENTED if no export matches
     */
    static Route of(ServiceLookup services, String path, @Nullable String group, @Nullable String version) {
        int slash = path.lastIndexOf('/');
        if (slash < 2 || slash == path.length() - 1 || path.charAt(0) != '/') {
            throw notOfAMethod(services, path);
        }
        ServiceDescriptor service = service(services, path, slash);
        String name = path.substring(slash + 1);
        ServiceKey key;
        if (group == null && version == null) {
            key = services.withoutGroupAndVersion(service.name());
        } else {
            key = new ServiceKey(service.name(), group == null ? "" : group, version == null ? "" : version);
            services.require(key);
        }
        return new Route(key, service, name, MethodLookup.find(services, service, name));
    }

    /** Returns the error for a path that cannot belong to a method. The error names the methods or the services. */
    private static RpcException notOfAMethod(ServiceLookup services, String path) {
        String problem = "'" + PeerText.name(path) + "' is not the path of a method; expected ";
        try {
            ServiceDescriptor service = services.service(withoutOuterSlashes(path));
            return unknown(problem + "/" + service.name() + "/method with one of "
                    + service.methods().stream()
                            .map(MethodDescriptor::name)
                            .distinct()
                            .collect(Collectors.joining(", ")));
        } catch (RpcException notExported) {
            return unknown(
                    problem + "/package.Service/method; " + notExported.status().description() + ofTheWebServer(path));
        }
    }

    private static ServiceDescriptor service(ServiceLookup services, String path, int slash) {
        try {
            return services.service(path.substring(1, slash));
        } catch (RpcException notExported) {
            String hint = ofTheWebServer(path);
            throw hint.isEmpty() ? notExported : unknown(notExported.status().description() + hint);
        }
    }

    /** Returns a hint to append to the error message for an Actuator path; an empty string for any other path. */
    private static String ofTheWebServer(String path) {
        return path.equals("/actuator") || path.startsWith("/actuator/")
                ? "; Actuator is on the port of the web server (server.port or management.server.port)"
                : "";
    }

    /** Returns the path without its leading and trailing slashes; the unchanged path if it consists only of slashes. */
    private static String withoutOuterSlashes(String path) {
        int from = 0;
        int to = path.length();
        while (from < to && path.charAt(from) == '/') {
            from++;
        }
        while (to > from && path.charAt(to - 1) == '/') {
            to--;
        }
        return from == to ? path : path.substring(from, to);
    }

    /** The placeholder for the service interface if a route does not match an exported service. */
    interface Nowhere {
        @Nullable
        String call(@Nullable String any);
    }

    private static final ServiceDescriptor NOWHERE = ServiceDescriptor.of(Nowhere.class);

    /**
     * Returns a route for a request whose service or method is unknown. Until the caller has been authorized, the
     * request is read like a unary call. Then the caller receives the error.
     *
     * @param path the path without a query
     * @param group the group; null if the request does not contain one
     * @param version the version; null if the request does not contain one
     */
    static Route nowhere(String path, @Nullable String group, @Nullable String version) {
        int slash = Math.max(0, path.lastIndexOf('/'));
        ServiceKey key = new ServiceKey(
                path.substring(Math.min(1, slash), slash), group == null ? "" : group, version == null ? "" : version);
        return new Route(key, NOWHERE, path.substring(Math.min(path.length(), slash + 1)), NOWHERE.methods());
    }

    /**
     * Returns the route of a request whose service or method is unknown. Group and version come from Triple's headers.
     */
    static Route nowhere(Http2Headers head) {
        return nowhere(
                pathOf(head), GrpcHeaders.text(head, GrpcHeaders.GROUP), GrpcHeaders.text(head, GrpcHeaders.VERSION));
    }

    /** Returns whether the route has an exported method. */
    boolean leadsSomewhere() {
        return service != NOWHERE;
    }

    /** Returns the path without the query; an empty string if the request has no path. */
    static String pathOf(Http2Headers head) {
        CharSequence target = head.path();
        String path = target == null ? "" : target.toString();
        int query = path.indexOf('?');
        return query < 0 ? path : path.substring(0, query);
    }

    /**
     * Returns the service and method in a path, for error messages. The result is the path without its leading slash.
     * The path {@code /} is returned unchanged, because an empty name would be unreadable in a message.
     */
    static String nameIn(String path) {
        return path.length() > 1 && path.charAt(0) == '/' ? path.substring(1) : path;
    }

    /**
     * Returns the only method with the name in the path; null if the name is overloaded. The request message selects
     * one of the overloads.
     */
    @Nullable
    MethodDescriptor only() {
        return candidates.size() == 1 ? candidates.get(0) : null;
    }

    /**
     * Returns the only method with the name in the path, for protocols whose messages cannot select an overload.
     *
     * @throws RpcException INVALID_ARGUMENT if the name is overloaded, UNIMPLEMENTED for built-in methods
     */
    MethodDescriptor required() {
        if (candidates.get(0).service() != service) {
            throw unknown(service.name() + "/" + methodName + " is not served in this form");
        }
        MethodDescriptor only = only();
        if (only == null) {
            throw RpcException.refusal(
                    StatusCode.INVALID_ARGUMENT,
                    service.name() + "/" + methodName
                            + " is overloaded, and this form of a request cannot select an overload",
                    Executed.NO);
        }
        return only;
    }

    /** Returns whether all methods with the name in the path are unary. */
    boolean isUnary() {
        for (int i = 0; i < candidates.size(); i++) {
            if (candidates.get(i).type() != MethodType.UNARY) {
                return false;
            }
        }
        return true;
    }

    CallKind kind() {
        boolean unary = isUnary();
        if (AcceptedTokens.OPEN_SERVICE.equals(service.name())) {
            return unary ? CallKind.HEALTH_CHECK : CallKind.HEALTH_WATCH;
        }
        return unary ? CallKind.UNARY : CallKind.STREAM;
    }

    /**
     * Returns the name of the service; null for a built-in method. A service can be marked as critical, but its
     * built-in methods are never critical.
     */
    @Nullable
    String ownService() {
        return service == candidates.get(0).service() && leadsSomewhere() ? service.name() : null;
    }

    /**
     * Returns whether the client sends a stream of requests. The call is then passed to the server before the first
     * message.
     */
    boolean clientStreams() {
        MethodDescriptor only = only();
        return only != null && only.type().clientStreams();
    }

    private static RpcException unknown(String description) {
        return RpcException.refusal(StatusCode.UNIMPLEMENTED, description, Executed.NO);
    }
}
