package tern.rpc.transport;

import org.jspecify.annotations.Nullable;
import tern.rpc.MethodDescriptor;
import tern.rpc.ServiceDescriptor;
import tern.rpc.ServiceKey;

/** Tells a transport what is exported, so that it can read the arguments of a call. */
public interface ServiceLookup {

    /**
     * By fully qualified name.
     *
     * @throws tern.rpc.RpcException UNIMPLEMENTED if it is not exported under any group or version
     */
    ServiceDescriptor service(String interfaceName);

    /**
     * A method that every service has, {@link BuiltInMethods}; null if there is none of that name and descriptor.
     *
     * @throws tern.rpc.RpcException UNIMPLEMENTED if it exists but is switched off
     */
    @Nullable
    MethodDescriptor builtIn(String name, String descriptor);

    /**
     * Checks that this very service is exported.
     *
     * @throws tern.rpc.RpcException UNIMPLEMENTED if its group and version are not
     */
    void require(ServiceKey key);

    /**
     * The export that serves callers who name neither group nor version: the one that has neither, else the one with
     * version 1.0.0, else the only one.
     *
     * @throws tern.rpc.RpcException UNIMPLEMENTED if there is none
     */
    ServiceKey withoutGroupAndVersion(String interfaceName);

    /** Whether generic calls, and the echo of objects, are served. */
    boolean genericCalls();
}
