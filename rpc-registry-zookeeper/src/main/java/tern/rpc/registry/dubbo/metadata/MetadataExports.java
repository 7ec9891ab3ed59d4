package tern.rpc.registry.dubbo.metadata;

import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;
import tern.rpc.ServiceDescriptor;
import tern.rpc.ServiceKey;
import tern.rpc.endpoint.Attributes;
import tern.rpc.registry.dubbo.ApplicationMetadata;
import tern.rpc.server.ServiceExport;

/** Exports the metadata service of a process for Dubbo's consumers and tools. */
public final class MetadataExports {

    private MetadataExports() {}

    /**
     * Returns the exports of versions 1.0.0 and 2.0.0 of the service. Both versions respond with the current metadata
     * even if a caller requests a different revision. Without a response, a Dubbo consumer would repeat its request.
     *
     * @param application the name of the application, which is the group of the services
     * @param metadata returns the services that the process currently publishes
     */
    public static List<ServiceExport> of(String application, Supplier<ApplicationMetadata> metadata) {
        ServiceDescriptor first = ServiceDescriptor.of(MetadataService.class);
        MetadataService target = revision -> WireMetadata.of(metadata.get());
        return List.of(
                ServiceExport.of(
                        first,
                        new ServiceKey(first.name(), application, MetadataService.VERSION),
                        () -> target,
                        Attributes.DEFAULT_WEIGHT),
                new ServiceExport(
                        MetadataMessages.SERVICE,
                        new ServiceKey(MetadataMessages.SERVICE.name(), application, MetadataMessages.VERSION),
                        method ->
                                arguments -> CompletableFuture.completedFuture(MetadataMessages.answer(metadata.get())),
                        Attributes.DEFAULT_WEIGHT));
    }
}
