package tern.rpc.registry.dubbo.metadata;

import java.io.Serializable;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import tern.rpc.WireName;
import tern.rpc.registry.dubbo.ApplicationMetadata;
import tern.rpc.registry.dubbo.Limits;

/** The response of {@link MetadataService}, with Dubbo's class and field names. */
@WireName("org.apache.dubbo.metadata.MetadataInfo")
final class WireMetadata implements Serializable {

    private static final long serialVersionUID = 1;

    private @Nullable String app;
    private @Nullable String revision;
    private @Nullable Map<String, @Nullable WireService> services;

    static WireMetadata of(ApplicationMetadata metadata) {
        WireMetadata made = new WireMetadata();
        made.app = metadata.application();
        made.revision = metadata.revision();
        Map<String, @Nullable WireService> services = new LinkedHashMap<>();
        metadata.services().forEach((key, service) -> services.put(key, WireService.of(service)));
        made.services = services;
        return made;
    }

    /** @throws IllegalArgumentException if the metadata exceeds the limits */
    ApplicationMetadata read() {
        Size size = new Size();
        Map<String, ApplicationMetadata.Service> read = new TreeMap<>();
        if (services != null) {
            Limits.check("the number of services", services.size(), Limits.MAX_SERVICES);
            services.forEach((key, service) -> {
                if (service != null) {
                    read.put(size.add(key), service.read(size));
                }
            });
        }
        return new ApplicationMetadata(size.add(app), size.add(revision), read);
    }

    /** Counts the characters of a response. Not thread-safe. */
    static final class Size {

        private int characters;

        /** Returns the string, or an empty string instead of null. */
        String add(@Nullable String text) {
            String known = text == null ? "" : text;
            characters += known.length();
            Limits.check("the number of characters of the metadata", characters, Limits.MAX_METADATA);
            return known;
        }
    }
}
