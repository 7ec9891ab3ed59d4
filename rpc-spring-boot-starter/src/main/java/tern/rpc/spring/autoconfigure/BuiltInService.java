package tern.rpc.spring.autoconfigure;

import java.util.List;
import tern.rpc.server.RpcServer;
import tern.rpc.server.ServiceExport;

/** A service that a server exports in addition to those of the application. */
interface BuiltInService {

    /** Exports the service, unless the application exports a service of this name. */
    void addTo(RpcServer.Builder server);

    /** Called when the shutdown begins, before the server drains. */
    default void shutDown() {}

    /** The keys of the application's services. */
    static List<String> others(List<ServiceExport> exports) {
        return exports.stream()
                .map(ServiceExport::key)
                .filter(key -> !key.interfaceName().startsWith("grpc.health.")
                        && !key.interfaceName().startsWith("grpc.reflection."))
                .map(String::valueOf)
                .toList();
    }
}
