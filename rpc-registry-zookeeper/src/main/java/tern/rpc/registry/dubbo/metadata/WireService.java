package tern.rpc.registry.dubbo.metadata;

import java.io.Serializable;
import java.util.HashMap;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import tern.rpc.WireName;
import tern.rpc.registry.dubbo.ApplicationMetadata;
import tern.rpc.registry.dubbo.Limits;

/** One service in {@link WireMetadata}, with Dubbo's class and field names. */
@WireName("org.apache.dubbo.metadata.MetadataInfo$ServiceInfo")
final class WireService implements Serializable {

    private static final long serialVersionUID = 1;

    private @Nullable String name;
    private @Nullable String group;
    private @Nullable String version;
    private @Nullable String protocol;
    private int port;
    private @Nullable String path;
    private @Nullable Map<String, @Nullable String> params;

    static WireService of(ApplicationMetadata.Service service) {
        WireService made = new WireService();
        made.name = service.name();
        made.group = emptyToNull(service.group());
        made.version = emptyToNull(service.version());
        made.protocol = service.protocol();
        made.port = service.port();
        made.path = service.path();
        made.params = new HashMap<>(service.parameters());
        return made;
    }

    private static @Nullable String emptyToNull(String text) {
        return text.isEmpty() ? null : text;
    }

    ApplicationMetadata.Service read(WireMetadata.Size size) {
        Map<String, String> parameters = new TreeMap<>();
        if (params != null) {
            Limits.check("the number of parameters", params.size(), Limits.MAX_KEYS);
            params.forEach((key, value) -> parameters.put(size.add(key), size.add(value)));
        }
        return new ApplicationMetadata.Service(
                size.add(name),
                size.add(group),
                size.add(version),
                size.add(protocol),
                ApplicationMetadata.port(port),
                size.add(path),
                parameters);
    }
}
