package tern.rpc.spring.autoconfigure;

import org.springframework.util.ClassUtils;
import tern.rpc.settings.RpcStartException;

/**
 * Checks for the modules that an application can leave out (docs/modules.md). Looks up classes of these modules by
 * name, because this starter must also work without the modules.
 */
final class OptionalModules {

    static final String HESSIAN_SERIALIZER = "tern.rpc.serialization.hessian.HessianSerializer";
    static final String JSON_CODEC = "tern.rpc.serialization.json.JsonCodec";
    private static final String GRPC_SERVICES = "tern.rpc.grpc.GrpcServices";

    private OptionalModules() {}

    static boolean hasHessian() {
        return isPresent(HESSIAN_SERIALIZER);
    }

    static boolean hasProtobuf() {
        return isPresent(GRPC_SERVICES);
    }

    /**
     * Checks that the module for protobuf messages is present.
     *
     * @throws RpcStartException if the module is missing, because the configured feature needs it
     */
    static void checkProtobuf(String part) {
        if (!hasProtobuf()) {
            throw new RpcStartException(
                    part + " needs tern-rpc-protobuf, which is not on the class path",
                    "Add io.github.tern-rpc:tern-rpc-protobuf, which the starter contains unless it is excluded.",
                    null);
        }
    }

    /**
     * Checks that the module for Java values is present if the reference's protocol needs it.
     *
     * @throws RpcStartException if the module is missing
     */
    static void checkProtocol(String protocol, String where) {
        boolean javaValues = protocol.equals("dubbo") || protocol.equals("local");
        if (javaValues && !hasHessian()) {
            throw new RpcStartException(
                    where + " uses the protocol " + protocol
                            + ", but its module tern-rpc-hessian is not on the class path",
                    "Add io.github.tern-rpc:tern-rpc-hessian, which the starter contains unless it is excluded, or call"
                            + " a gRPC server with an address like tri://host:port.",
                    null);
        }
    }

    private static boolean isPresent(String className) {
        return ClassUtils.isPresent(className, OptionalModules.class.getClassLoader());
    }
}
