package tern.rpc.registry.dubbo.metadata;

import org.jspecify.annotations.Nullable;
import tern.rpc.RpcMethod;
import tern.rpc.WireName;

/** Version 1.0.0 of Dubbo's metadata service. Its group is the name of the application. */
@WireName("org.apache.dubbo.metadata.MetadataService")
interface MetadataService {

    String VERSION = "1.0.0";

    /**
     * Returns the services that the process offers.
     *
     * @param revision the revision of the services that the caller has read from the registry
     */
    @RpcMethod(readOnly = true)
    @Nullable
    WireMetadata getMetadataInfo(@Nullable String revision);
}
