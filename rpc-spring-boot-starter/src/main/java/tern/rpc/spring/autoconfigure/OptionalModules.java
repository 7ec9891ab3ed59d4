package tern.rpc.spring.autoconfigure;

import org.springframework.util.ClassUtils;
import tern.rpc.settings.RpcStartException;

/** The modules that an application may leave out (docs/modules.md). Checked by name, so that no class is loaded. */
final class OptionalModules {

    static final String HESSIAN_SERIALIZER = "tern.rpc.serialization.hessian.HessianSerializer";
    static final String JSON_CODEC = "tern.rpc.serialization.json.JsonCodec";
    static final String HEALTH_SERVICE = "tern.rpc.health.HealthService";
    private static final String GRPC_SERVICES = "tern.rpc.grpc.GrpcServices";

    private OptionalModules() {}

    static boolean hasHessian() {
        return isPresent(HESSIAN_SERIALIZER);
    }

    static boolean hasProtobuf() {
        return isPresent(GRPC_SERVICES);
    }

    /**
     * @throws RpcStartException if the configured feature needs the missing module for messages of protobuf
     */
    static void checkProtobuf(String part) {
        if (!hasProtobuf()) {
            throw new RpcStartException(
                    part + " needs tern-rpc-protobuf, which is not on the class path",
                    "Add io.github.tern-rpc:tern-rpc-protobuf, which the starter brings unless it is excluded.",
                    null);
        }
    }

    /**
     * @throws RpcStartException if a reference needs the missing module for Java values
     */
    static void checkProtocol(String protocol, String where) {
        boolean javaValues = protocol.equals("dubbo") || protocol.equals("local");
        if (javaValues && !hasHessian()) {
            throw new RpcStartException(
                    where + " uses the protocol " + protocol
                            + ", which needs tern-rpc-hessian, which is not on the class path",
                    "Add io.github.tern-rpc:tern-rpc-hessian, which the starter brings unless it is excluded, or call a gRPC"
                            + " server with an address like tri://host:port.",
                    null);
        }
    }

    private static boolean isPresent(String className) {
        return ClassUtils.isPresent(className, OptionalModules.class.getClassLoader());
    }
}
