package tern.rpc.spring.autoconfigure;

import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.ObjectProvider;
import tern.rpc.registry.Registration;
import tern.rpc.registry.dubbo.ApplicationMetadata;
import tern.rpc.registry.dubbo.DubboEntries;
import tern.rpc.registry.dubbo.metadata.MetadataExports;
import tern.rpc.server.RpcServer;

/** Lists the services published by this process, for Dubbo consumers that request the list. Thread-safe. */
final class PublishedMetadata implements BuiltInService {

    private record Known(Registration registration, ApplicationMetadata metadata) {}

    private final ObjectProvider<ServerRegistration> registration;
    private volatile @Nullable Known known;

    PublishedMetadata(ObjectProvider<ServerRegistration> registration) {
        this.registration = registration;
    }

    @Override
    public void addTo(RpcServer.Builder server) {
        ServerRegistration own = registration.getObject();
        if (own.isAt("zookeeper")) {
            MetadataExports.of(own.application(), () -> metadata(own)).forEach(server::export);
        }
    }

    private ApplicationMetadata metadata(ServerRegistration own) {
        Registration published = own.published();
        if (published == null) {
            return ApplicationMetadata.of(own.application(), Map.of());
        }
        Known last = known;
        if (last == null || !last.registration().equals(published)) {
            last = new Known(published, new DubboEntries(published, false).metadata());
            known = last;
        }
        return last.metadata();
    }
}
