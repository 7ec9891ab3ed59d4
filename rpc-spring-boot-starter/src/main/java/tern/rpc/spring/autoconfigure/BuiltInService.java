package tern.rpc.spring.autoconfigure;

import java.util.List;
import java.util.Set;
import tern.rpc.server.RpcServer;
import tern.rpc.server.ServiceExport;

/** A service that the server exports in addition to the application's services. */
interface BuiltInService {

    /**
     * The full names of all built-in services. Package names are not enough, because an application's service can be in
     * the same package.
     */
    Set<String> NAMES = Set.of(
            "grpc.health.v1.Health",
            "grpc.reflection.v1.ServerReflection",
            "grpc.reflection.v1alpha.ServerReflection",
            "org.apache.dubbo.metadata.MetadataService",
            "org.apache.dubbo.metadata.MetadataServiceV2");

    /** Exports the built-in service, unless the application exports a service with the same name. */
    void addTo(RpcServer.Builder server);

    /** Notifies the built-in service that shutdown has begun, before the server drains. */
    default void shutDown() {}

    /** Returns the application's services, without the built-in services. */
    static List<ServiceExport> ofApplication(List<ServiceExport> exports) {
        return exports.stream()
                .filter(export -> !NAMES.contains(export.key().interfaceName()))
                .toList();
    }

    /** Returns the keys of the application's services, without the built-in services. */
    static List<String> others(List<ServiceExport> exports) {
        return ofApplication(exports).stream()
                .map(export -> String.valueOf(export.key()))
                .toList();
    }
}
