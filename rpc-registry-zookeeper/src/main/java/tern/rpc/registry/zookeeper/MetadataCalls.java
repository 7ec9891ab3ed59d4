package tern.rpc.registry.zookeeper;

import java.util.concurrent.CompletableFuture;
import tern.rpc.registry.dubbo.ApplicationMetadata;
import tern.rpc.registry.dubbo.ProcessEntry;

/** Asks a provider itself for its services, if it does not store them in the registry. */
@FunctionalInterface
public interface MetadataCalls {

    /** Asks no provider. */
    MetadataCalls NONE = process -> CompletableFuture.failedFuture(
            new UnsupportedOperationException("the services are only known to the provider, which cannot be asked"));

    /** Does not block. */
    CompletableFuture<ApplicationMetadata> ask(ProcessEntry process);
}
