package tern.rpc.registry.dubbo;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import tern.rpc.registry.Registration;
import tern.rpc.registry.Registration.Service;

/** Converts a registration to the registry entries read by Dubbo consumers. */
public final class DubboEntries {

    /**
     * The parameter that marks an entry for any protocol except the process's first protocol. Consumers use such an
     * entry only if they request its protocol.
     */
    private static final String IS_EXTRA = "isExtra";

    private static final String TERN_VERSION = "tern.version";

    private final Registration registration;
    private final boolean nodePerProtocol;
    private final boolean metadataRemote;
    private final ApplicationMetadata metadata;

    /** Creates the registry entries of a process whose metadata is stored in the registry. */
    public DubboEntries(Registration registration, boolean nodePerProtocol) {
        this(registration, nodePerProtocol, true);
    }

    /**
     * Creates the registry entries.
     *
     * @param metadataRemote whether consumers read the metadata in the registry. If false, consumers request the
     *     metadata from the process
     * @param nodePerProtocol whether there is an interface-level entry for each protocol. If true, a consumer that does
     *     not request a particular protocol counts the process once for each protocol
     */
    public DubboEntries(Registration registration, boolean nodePerProtocol, boolean metadataRemote) {
        this.metadataRemote = metadataRemote;
        this.registration = registration;
        this.nodePerProtocol = nodePerProtocol;
        this.metadata = ApplicationMetadata.of(registration.application(), services());
    }

    public Registration registration() {
        return registration;
    }

    /** Returns a service's interface-level entries. */
    public List<ProviderUrl> urls(Service service) {
        List<String> protocols = registration.protocols();
        List<ProviderUrl> urls = new ArrayList<>();
        for (String protocol : nodePerProtocol ? protocols : protocols.subList(0, 1)) {
            Map<String, String> parameters = parameters(service);
            parameters.put("timestamp", String.valueOf(registration.startedAtMillis()));
            parameters.putAll(registration.attributes());
            if (!nodePerProtocol && protocols.size() > 1) {
                parameters.put(ProviderUrl.FURTHER_PROTOCOL, protocols.get(1));
            }
            urls.add(new ProviderUrl(
                    protocol,
                    registration.host(),
                    registration.port(),
                    service.key().interfaceName(),
                    parameters));
        }
        return urls;
    }

    /** Returns the process's metadata, which contains each service once for each protocol. */
    public ApplicationMetadata metadata() {
        return metadata;
    }

    /** Returns the process's application-level entry. */
    public ProcessEntry process() {
        Map<String, String> attributes = new TreeMap<>(registration.attributes());
        attributes.put(
                ProcessEntry.ENDPOINTS,
                ProcessEntry.endpoints(registration.protocols().stream()
                        .map(protocol -> new ProcessEntry.Port(protocol, registration.port()))
                        .toList()));
        attributes.put(ProcessEntry.REVISION, metadata.revision());
        MetadataAddress service = MetadataAddress.on(
                registration.host(),
                registration.port(),
                registration.protocols().contains("dubbo"));
        attributes.put(ProcessEntry.STORAGE, metadataRemote ? ProcessEntry.REMOTE : ProcessEntry.LOCAL);
        attributes.put(ProcessEntry.METADATA_VERSION, metadataRemote ? "1.0.0" : service.version());
        if (!metadataRemote) {
            attributes.put(ProcessEntry.SERVICE_PARAMETERS, service.parameters());
        }
        attributes.put(ProcessEntry.TIMESTAMP, String.valueOf(registration.startedAtMillis()));
        return new ProcessEntry(
                registration.application(),
                registration.host() + ":" + registration.port(),
                registration.host(),
                registration.port(),
                attributes);
    }

    private Map<String, ApplicationMetadata.Service> services() {
        Map<String, ApplicationMetadata.Service> services = new TreeMap<>();
        for (Service service : registration.services()) {
            for (String protocol : registration.protocols()) {
                Map<String, String> parameters = parameters(service);
                if (!protocol.equals(registration.protocols().get(0))) {
                    parameters.put(IS_EXTRA, "true");
                }
                ApplicationMetadata.Service entry = new ApplicationMetadata.Service(
                        service.key().interfaceName(),
                        service.key().group(),
                        service.key().version(),
                        protocol,
                        registration.port(),
                        service.key().interfaceName(),
                        parameters);
                services.put(entry.key(), entry);
            }
        }
        return services;
    }

    /** Returns the parameters of a service that do not change when the process restarts. */
    private Map<String, String> parameters(Service service) {
        Map<String, String> parameters = new TreeMap<>();
        parameters.put(ProviderUrl.APPLICATION, registration.application());
        parameters.put("deprecated", "false");
        parameters.put("dubbo", "2.0.2");
        parameters.put("dynamic", "true");
        parameters.put("generic", "false");
        parameters.put(ProviderUrl.INTERFACE, service.key().interfaceName());
        parameters.put("methods", String.join(",", service.methods()));
        parameters.put("prefer.serialization", "hessian2");
        parameters.put("service-name-mapping", "true");
        parameters.put("side", "provider");
        parameters.put(TERN_VERSION, "1");
        if (!service.key().group().isEmpty()) {
            parameters.put(ProviderUrl.GROUP, service.key().group());
        }
        if (!service.key().version().isEmpty()) {
            parameters.put(ProviderUrl.VERSION, service.key().version());
            parameters.put("revision", service.key().version());
        }
        parameters.put(ReadAttributes.WEIGHT, String.valueOf(service.weight()));
        parameters.put(ReadAttributes.WARMUP, String.valueOf(registration.warmupMillis()));
        return parameters;
    }
}
