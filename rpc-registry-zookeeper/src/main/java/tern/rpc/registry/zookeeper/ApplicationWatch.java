package tern.rpc.registry.zookeeper;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import tern.rpc.ServiceKey;
import tern.rpc.registry.dubbo.ApplicationMetadata;
import tern.rpc.registry.dubbo.KnownProcesses;
import tern.rpc.registry.dubbo.KnownProcesses.Known;
import tern.rpc.registry.dubbo.ProcessMetadata;
import tern.rpc.registry.dubbo.rules.Rule;

/**
 * Watches the processes of one application, on behalf of all services that the application offers. Confined to the
 * session's thread.
 */
final class ApplicationWatch {

    /**
     * An empty service key for the watches of unsupported rules. Such a watch only logs a warning, so it needs no
     * service.
     */
    private static final ServiceKey NO_SERVICE = new ServiceKey("", "", "");

    private final Session session;
    private final KnownProcesses known;
    private final Folder<Known> processes;
    private final MetadataCache metadata;
    private final SharedInstances instances = new SharedInstances();
    private final List<RuleWatch> unsupported; // each watch logs a warning if an unsupported rule exists
    private final List<Runnable> listeners = new ArrayList<>();

    ApplicationWatch(Session session, String application, ProcessMetadata processMetadata) {
        this.session = session;
        this.known = new KnownProcesses(application);
        this.processes = new Folder<>(
                session,
                Paths.of(session.settings()).processes(application),
                Known.BY_ADDRESS,
                data -> known.parse(new String(data, StandardCharsets.UTF_8)),
                this::changed);
        this.metadata = new MetadataCache(session, processMetadata, this::notifyListeners);
        this.unsupported = Stream.of(Rule.Kind.SCRIPTS, Rule.Kind.MESH)
                .map(kind -> new RuleWatch(session, kind, application, NO_SERVICE, () -> {}))
                .toList();
    }

    void start() {
        metadata.start();
        processes.start();
        unsupported.forEach(RuleWatch::start);
    }

    /** Reads pending changes of the entries without waiting for the end of the current interval. */
    void hurry() {
        processes.hurry();
    }

    void add(Runnable listener) {
        listeners.add(listener);
    }

    /**
     * Removes a listener.
     *
     * @return whether no other listener remains
     */
    boolean remove(Runnable listener) {
        listeners.remove(listener);
        return listeners.isEmpty();
    }

    boolean isHeard() {
        return processes.isHeard() && metadata.isAsked();
    }

    /**
     * Returns the processes, sorted by address. The list is immutable, and is the same object until a process changes.
     */
    List<Known> processes() {
        return processes.entries();
    }

    @Nullable
    ApplicationMetadata metadata(Known process) {
        return metadata.of(process);
    }

    /** Returns the provider objects that the services of this application share. */
    SharedInstances instances() {
        return instances;
    }

    private void changed() {
        known.retain(processes());
        metadata.update(processes());
        instances.keep(processes());
        notifyListeners();
    }

    private void notifyListeners() {
        // The method guarded() logs an exception of a listener. The remaining listeners are therefore called even if
        // one listener fails.
        List.copyOf(listeners).forEach(session::guarded);
    }

    void close() {
        processes.close();
        metadata.close();
        unsupported.forEach(RuleWatch::close);
    }
}
