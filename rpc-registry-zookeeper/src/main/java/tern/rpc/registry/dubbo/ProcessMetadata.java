package tern.rpc.registry.dubbo;

import java.util.concurrent.CompletableFuture;

/** Requests the services of a process from the process itself. Thread-safe. */
@FunctionalInterface
public interface ProcessMetadata {

    /** Fails every request. Used by clients that read only the metadata in the registry. */
    ProcessMetadata NONE = process -> CompletableFuture.failedFuture(
            new IllegalStateException("only the provider has them, and this client does not request them"));

    /**
     * Requests the services of the process's current revision. Does not block.
     *
     * @return a future that completes within a few seconds. The future fails if the process does not respond, or if the
     *     response exceeds the limits
     */
    CompletableFuture<ApplicationMetadata> of(ProcessEntry process);
}
