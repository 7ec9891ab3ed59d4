package tern.rpc.transport;

import org.jspecify.annotations.Nullable;
import tern.rpc.MethodDescriptor;
import tern.rpc.ServiceDescriptor;
import tern.rpc.ServiceKey;

/** The exported services. Transports use them to find the types of a call's arguments. */
public interface ServiceLookup {

    /**
     * Finds a service by its fully qualified name.
     *
     * @throws tern.rpc.RpcException UNIMPLEMENTED if the service is not exported under any group or version
     */
    ServiceDescriptor service(String interfaceName);

    /** Returns the first overload of a method, or null if no such method is exported. */
    default @Nullable MethodDescriptor method(String interfaceName, String name) {
        return null;
    }

    /**
     * Returns a method of {@link BuiltInMethods}, or null if no built-in method has the given name and descriptor.
     *
     * @throws tern.rpc.RpcException UNIMPLEMENTED if generic calls are disabled on this server
     */
    @Nullable
    MethodDescriptor builtIn(String name, String descriptor);

    /**
     * Checks that a service is exported with exactly this group and version.
     *
     * @throws tern.rpc.RpcException UNIMPLEMENTED if it is not exported
     */
    void require(ServiceKey key);

    /**
     * Returns the export for callers that specify neither group nor version. The candidates, in this order, are the
     * export without a group or version, the export with version 1.0.0 and no group, and the service's only export.
     *
     * @throws tern.rpc.RpcException UNIMPLEMENTED if none of these exports exists
     */
    ServiceKey withoutGroupAndVersion(String interfaceName);

    /** Returns whether the server accepts generic calls and {@code $echo} calls that contain objects. */
    boolean genericCalls();
}
