package tern.rpc.registry.zookeeper;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.apache.zookeeper.CreateMode;
import tern.rpc.registry.Registration;
import tern.rpc.registry.Subscription.Level;
import tern.rpc.registry.dubbo.DubboEntries;
import tern.rpc.registry.dubbo.ProcessEntry;
import tern.rpc.registry.dubbo.ProviderUrl;

/**
 * The nodes written by one registration.
 *
 * @param processes the application-level entry, which ends with the session; empty if only interface-level entries are
 *     written
 * @param services the interface-level entries, which end with the session; empty if only an application-level entry is
 *     written
 * @param metadata the nodes that contain the services; empty if only interface-level entries are written, or if
 *     consumers request the services from the process
 * @param mapped the interfaces whose mapping contains the application
 */
record OwnNodes(List<Paths.Node> processes, List<Paths.Node> services, List<Paths.Node> metadata, List<String> mapped) {

    static OwnNodes of(DubboEntries entries, Level level, Paths paths, long nowMillis) {
        Registration registration = entries.registration();
        List<Paths.Node> processes = new ArrayList<>();
        List<Paths.Node> services = new ArrayList<>();
        List<Paths.Node> metadata = new ArrayList<>();
        List<String> mapped = new ArrayList<>();
        if (level.hasApplications()) {
            ProcessEntry process = entries.process();
            if (process.isMetadataRemote()) {
                metadata.add(new Paths.Node(
                        paths.metadata(registration.application(), process.revision()),
                        bytes(entries.metadata().json()),
                        CreateMode.PERSISTENT));
            }
            registration.services().stream()
                    .map(service -> service.key().interfaceName())
                    .distinct()
                    .forEach(mapped::add);
            processes.add(new Paths.Node(
                    paths.processes(registration.application()) + "/" + process.id(),
                    bytes(process.json(nowMillis)),
                    CreateMode.EPHEMERAL));
        }
        if (level.hasInterfaces()) {
            for (Registration.Service service : registration.services()) {
                for (ProviderUrl url : entries.urls(service)) {
                    services.add(new Paths.Node(
                            paths.providers(service.key().interfaceName()) + "/" + url.node(),
                            bytes(registration.host()),
                            CreateMode.EPHEMERAL));
                }
            }
        }
        return new OwnNodes(List.copyOf(processes), List.copyOf(services), List.copyOf(metadata), List.copyOf(mapped));
    }

    /** Returns the application-level and the interface-level entries. */
    List<Paths.Node> ephemeral() {
        return Stream.concat(processes.stream(), services.stream()).toList();
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }
}
