package tern.rpc.registry.zookeeper;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import org.jspecify.annotations.Nullable;
import tern.rpc.registry.dubbo.ApplicationMetadata;
import tern.rpc.registry.dubbo.ProcessEntry;
import tern.rpc.registry.dubbo.ProcessMetadata;

/**
 * Watches the processes of one application, on behalf of all services that the application offers. Confined to the
 * session's thread.
 */
final class ApplicationWatch {

    private final Folder<ProcessEntry> processes;
    private final MetadataCache metadata;
    private final List<Runnable> listeners = new ArrayList<>();

    ApplicationWatch(Session session, String application, ProcessMetadata processMetadata) {
        this.processes = new Folder<>(
                session,
                Paths.of(session.settings()).processes(application),
                true,
                (name, data) -> read(application, data),
                this::changed);
        this.metadata = new MetadataCache(session, processMetadata, this::tell);
    }

    /** Parses an entry. The node that contains the entry determines the application, not the name in the entry. */
    private static @Nullable ProcessEntry read(String application, byte @Nullable [] data) {
        ProcessEntry entry = data == null ? null : ProcessEntry.parse(new String(data, StandardCharsets.UTF_8));
        return entry == null
                ? null
                : new ProcessEntry(application, entry.id(), entry.host(), entry.port(), entry.metadata());
    }

    void start() {
        processes.start();
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

    Collection<ProcessEntry> processes() {
        return processes.entries().values();
    }

    @Nullable
    ApplicationMetadata metadata(ProcessEntry process) {
        return metadata.of(process);
    }

    private void changed() {
        metadata.update(processes());
        tell();
    }

    private void tell() {
        List.copyOf(listeners).forEach(Runnable::run);
    }

    void close() {
        processes.close();
    }
}
