package tern.rpc.transport;

import org.jspecify.annotations.Nullable;
import tern.rpc.MethodDescriptor;
import tern.rpc.ServiceDescriptor;
import tern.rpc.ServiceKey;

/** The exported services. Transports need them to find the types of a call's arguments. */
public interface ServiceLookup {

    /**
     * Finds a service by its fully qualified name.
     *
     * @throws tern.rpc.RpcException UNIMPLEMENTED if it is not exported under any group or version
     */
    ServiceDescriptor service(String interfaceName);

    /**
     * A method of {@link BuiltInMethods}; null if there is none with this name and descriptor.
     *
     * @throws tern.rpc.RpcException UNIMPLEMENTED if the method is switched off
     */
    @Nullable
    MethodDescriptor builtIn(String name, String descriptor);

    /**
     * Checks that a service is exported with exactly this group and version.
     *
     * @throws tern.rpc.RpcException UNIMPLEMENTED if it is not
     */
    void require(ServiceKey key);

    /**
     * The export for callers that name neither group nor version: the export without both, otherwise the one with
     * version 1.0.0, otherwise the only one.
     *
     * @throws tern.rpc.RpcException UNIMPLEMENTED if there is none
     */
    ServiceKey withoutGroupAndVersion(String interfaceName);

    /** Whether generic calls and the echo of objects are served. */
    boolean genericCalls();
}
