package tern.rpc.transport;

import java.lang.reflect.Method;
import java.util.regex.Pattern;
import tern.rpc.Invocation;
import tern.rpc.MethodDescriptor;
import tern.rpc.Payload;
import tern.rpc.RpcException;
import tern.rpc.StatusCode;
import tern.rpc.WireName;

/**
 * Explains why a gRPC server does not implement a call. The names of services and methods in a {@code .proto} file
 * usually differ from their Java names. The caller's interface then needs {@link WireName}.
 */
final class ProtoNames {

    /**
     * The messages of servers that use Java's names (Tern and Dubbo), and the message about a server that is not an RPC
     * server.
     */
    private static final Pattern OTHER_CAUSES = Pattern.compile(
            " is not exported here|has no method |Invoker (?:for gRPC )?not found|does the address belong to ");

    private ProtoNames() {}

    /**
     * Returns a hint for the error message of a call that the server does not implement. The hint is appended to the
     * call's name and address. Returns an empty string if different names are not the reason for the failure.
     */
    static String hint(Invocation call, RpcException failure) {
        MethodDescriptor method = call.method();
        if (failure.code() != StatusCode.UNIMPLEMENTED
                || failure.wasExecuted() == RpcException.Executed.YES
                || method.payload() != Payload.PROTOBUF
                || !hasJavaName(method)
                || OTHER_CAUSES.matcher(failure.status().description()).find()) {
            return "";
        }
        return ", sent as " + call.service().interfaceName() + "/" + method.name()
                + " (if the .proto file has other names, set them with @WireName)";
    }

    private static boolean hasJavaName(MethodDescriptor method) {
        Class<?> type = method.service().type();
        Method java = method.javaMethod();
        return type != null
                && java != null
                && (!type.isAnnotationPresent(WireName.class) || method.name().equals(java.getName()));
    }
}
