package tern.rpc.console;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import tern.rpc.MethodDescriptor;
import tern.rpc.MethodType;
import tern.rpc.Payload;
import tern.rpc.ValueType;
import tern.rpc.metrics.LatencyWindow;
import tern.rpc.metrics.MethodCalls;
import tern.rpc.metrics.RpcMeters;
import tern.rpc.serialization.JsonFormat;
import tern.rpc.server.RpcServer;
import tern.rpc.server.ServiceExport;
import tools.jackson.databind.json.JsonMapper;

/**
 * Lists the exported services with their methods and types. The types are determined on the first request and then
 * kept. Thread-safe.
 */
final class ServiceCatalog {

    /** The reason why a method whose messages are plain bytes cannot be called. */
    static final String RAW = "This method encodes its messages itself, so it cannot be called with JSON.";

    private final Supplier<@Nullable RpcServer> server;
    private final Supplier<@Nullable JsonFormat> format;
    private final JsonMapper mapper;
    private @Nullable Content content; // guarded by this

    ServiceCatalog(Supplier<@Nullable RpcServer> server, Supplier<@Nullable JsonFormat> format, JsonMapper mapper) {
        this.server = server;
        this.format = format;
        this.mapper = mapper;
    }

    /** The services and types in the catalog, which do not change while the application runs. */
    private record Content(List<Service> services, Map<String, TypeShape.Definition> types) {}

    private record Service(Map<String, Object> shown, List<Method> methods) {}

    private record Method(String service, String name, Map<String, Object> shown) {}

    Map<String, Object> report(RpcMeters meters, String instance) {
        Content known = content();
        long second = meters.servedWindow().second();
        Map<String, MethodCalls> calls = meters.servedMethods().stream()
                .collect(Collectors.toMap(
                        method -> method.service() + " " + method.method(), method -> method, (one, other) -> one));
        Map<String, Object> report = new LinkedHashMap<>();
        report.put("version", Json.VERSION);
        report.put("instance", instance);
        List<Map<String, Object>> services = new ArrayList<>();
        for (Service service : known.services()) {
            Map<String, Object> json = new LinkedHashMap<>(service.shown());
            json.put(
                    "methods",
                    service.methods().stream()
                            .map(method -> withMinute(method, calls, second))
                            .toList());
            services.add(json);
        }
        report.put("services", services);
        report.put("types", known.types());
        return report;
    }

    private static Map<String, Object> withMinute(Method method, Map<String, MethodCalls> calls, long second) {
        Map<String, Object> json = new LinkedHashMap<>(method.shown());
        MethodCalls counted = calls.get(method.service() + " " + method.name());
        LatencyWindow.Point point = counted == null ? null : counted.lastMinute(second);
        Map<String, Object> minute = null;
        if (point != null) {
            minute = new LinkedHashMap<>();
            ChartPoints.putTimes(minute, point);
        }
        json.put("lastMinute", minute);
        return json;
    }

    private synchronized Content content() {
        Content known = content;
        if (known != null) {
            return known;
        }
        TypeCatalog types = new TypeCatalog(mapper);
        RpcServer exported = server.get();
        List<Service> services = exported == null
                ? List.of()
                : exported.exports().stream()
                        .map(export -> service(export, types))
                        .toList();
        known = new Content(services, types.definitions());
        content = known;
        return known;
    }

    private Service service(ServiceExport export, TypeCatalog types) {
        Map<String, Object> json = new LinkedHashMap<>();
        json.put("key", export.key().toString());
        json.put("name", export.key().interfaceName());
        json.put("group", export.key().group());
        json.put("version", export.key().version());
        json.put("critical", export.critical());
        List<Method> methods = export.service().methods().stream()
                .map(method -> new Method(export.key().toString(), method.name(), method(export, method, types)))
                .toList();
        return new Service(json, methods);
    }

    private Map<String, Object> method(ServiceExport export, MethodDescriptor method, TypeCatalog types) {
        boolean raw = method.payload() == Payload.RAW;
        List<Map<String, Object>> parameters = new ArrayList<>();
        List<@Nullable Object> example = new ArrayList<>();
        for (int i = 0; i < method.parameters().size(); i++) {
            ValueType type = method.parameters().get(i);
            TypeShape shape = raw ? TypeShape.scalar("bytes", type.toString()) : types.shape(type.generic());
            Map<String, Object> parameter = new LinkedHashMap<>();
            parameter.put("name", method.parameterNames().get(i));
            parameter.put("type", shape);
            parameters.add(parameter);
            example.add(types.example(shape));
        }
        Map<String, Object> json = new LinkedHashMap<>();
        json.put("name", method.name());
        json.put("descriptor", method.descriptor());
        json.put("wire", wire(export, method));
        json.put("type", kind(method.type()));
        json.put("idempotent", method.isIdempotent());
        json.put("parameters", parameters);
        json.put(
                "result",
                raw
                        ? TypeShape.scalar("bytes", method.result().toString())
                        : types.shape(method.result().generic()));
        json.put("example", example);
        json.put("note", note(method));
        return json;
    }

    private static Map<String, Object> wire(ServiceExport export, MethodDescriptor method) {
        String path = "/" + export.service().name() + "/" + method.name();
        boolean dubbo = method.type() == MethodType.UNARY && method.payload() == Payload.JAVA;
        Map<String, Object> wire = new LinkedHashMap<>();
        wire.put(
                "dubbo",
                dubbo
                        ? export.service().name() + "#" + method.name()
                                + method.parameters().stream()
                                        .map(type -> type.raw().getTypeName())
                                        .collect(Collectors.joining(",", "(", ")"))
                        : null);
        List<MethodDescriptor> overloads = export.service().overloads(method.name());
        boolean overloaded = overloads.size() > 1;
        // A plain HTTP path with an overload suffix, such as find~L, can match several overloads.
        boolean ambiguous = overloads.stream()
                        .filter(other -> letters(other).equals(letters(method)))
                        .count()
                > 1;
        wire.put("triple", overloaded ? null : path);
        wire.put(
                "http",
                method.payload() == Payload.RAW || ambiguous
                        ? null
                        : "POST " + path + (overloaded ? "~" + letters(method) : ""));
        return wire;
    }

    /**
     * Returns the initial letters of the parameter types. These letters select an overload in a plain HTTP request
     * (docs/http.md).
     */
    private static String letters(MethodDescriptor method) {
        return method.parameters().stream()
                .map(type -> type.raw().getSimpleName().substring(0, 1))
                .collect(Collectors.joining());
    }

    private static String kind(MethodType type) {
        return switch (type) {
            case UNARY -> "UNARY";
            case CLIENT_STREAMING -> "CLIENT_STREAM";
            case SERVER_STREAMING -> "SERVER_STREAM";
            case BIDI_STREAMING -> "BIDI_STREAM";
        };
    }

    private String note(MethodDescriptor method) {
        if (method.payload() == Payload.RAW) {
            return RAW;
        }
        JsonFormat codec = format.get();
        if (codec == null) {
            return "Calls need tern-rpc-json and Jackson.";
        }
        try {
            codec.method(method);
            return "";
        } catch (RuntimeException e) {
            return "This method cannot be called with JSON: " + e.getMessage();
        }
    }
}
