package tern.rpc.spring.autoconfigure;

import java.util.List;
import tern.rpc.server.RpcServer;
import tern.rpc.server.ServiceExport;

/** A service that the server exports in addition to the application's services. */
interface BuiltInService {

    /** Exports the built-in service, unless the application exports a service with the same name. */
    void addTo(RpcServer.Builder server);

    /** Notifies the built-in service that shutdown has begun, before the server drains. */
    default void shutDown() {}

    /** Returns the keys of the application's services, without the built-in services. */
    static List<String> others(List<ServiceExport> exports) {
        return exports.stream()
                .map(ServiceExport::key)
                .filter(key -> !key.interfaceName().startsWith("grpc.health.")
                        && !key.interfaceName().startsWith("grpc.reflection.")
                        && !key.interfaceName().startsWith("org.apache.dubbo.metadata."))
                .map(String::valueOf)
                .toList();
    }
}
