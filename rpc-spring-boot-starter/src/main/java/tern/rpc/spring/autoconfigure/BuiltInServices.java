package tern.rpc.spring.autoconfigure;

import java.util.List;
import org.jspecify.annotations.Nullable;
import org.springframework.util.ClassUtils;
import tern.rpc.health.HealthService;
import tern.rpc.reflection.ReflectionService;
import tern.rpc.server.RpcServer;
import tern.rpc.server.ServiceExport;

/** The services that a server exports besides those of the application. */
final class BuiltInServices {

    private static final String REFLECTION = "grpc.reflection.";
    private static final String PROTOBUF = "com.google.protobuf.Message";

    private BuiltInServices() {}

    /** Adds them last, because reflection lists all others. */
    static RpcServer.Builder addTo(RpcServer.Builder server, ServerSettings settings, @Nullable HealthService health) {
        if (settings.health() && health != null && !exports(server, HealthService.NAME)) {
            server.export(health.export());
            server.exports().forEach(health::add);
        }
        if (settings.reflection()) {
            checkProtobuf();
            ReflectionService.of(server.exports()).forEach(server::export);
        }
        return server;
    }

    private static boolean exports(RpcServer.Builder server, String service) {
        return server.exports().stream()
                .anyMatch(export -> export.key().interfaceName().equals(service));
    }

    private static void checkProtobuf() {
        if (!ClassUtils.isPresent(PROTOBUF, BuiltInServices.class.getClassLoader())) {
            throw new RpcStartException(
                    "rpc.server.reflection is true, but protobuf is not on the class path",
                    "Add com.google.protobuf:protobuf-java, or leave out rpc.server.reflection.",
                    null);
        }
    }

    /** The keys of the application's own services. */
    static List<String> others(List<ServiceExport> exports) {
        return exports.stream()
                .map(ServiceExport::key)
                .filter(key -> !key.interfaceName().equals(HealthService.NAME)
                        && !key.interfaceName().startsWith(REFLECTION))
                .map(String::valueOf)
                .toList();
    }
}
