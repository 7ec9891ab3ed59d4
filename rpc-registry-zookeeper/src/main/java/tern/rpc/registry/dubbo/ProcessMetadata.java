package tern.rpc.registry.dubbo;

import java.util.concurrent.CompletableFuture;

/** Requests the services of a process from the process itself. Thread-safe. */
@FunctionalInterface
public interface ProcessMetadata {

    /** Requests nothing. Only metadata in the registry is read. */
    ProcessMetadata NONE = process -> CompletableFuture.failedFuture(
            new IllegalStateException("only the provider has them, and this client does not request them"));

    /**
     * Requests the services of the process's current revision. Does not block.
     *
     * @return a future that completes after a few seconds at the latest. It fails if the process does not answer, or if
     *     its answer exceeds the limits
     */
    CompletableFuture<ApplicationMetadata> of(ProcessEntry process);
}
