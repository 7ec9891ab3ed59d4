package tern.rpc.registry.zookeeper;

import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import tern.rpc.endpoint.Instance;
import tern.rpc.registry.dubbo.KnownProcesses.Known;

/**
 * The providers found in the processes of one application. In one process, most services have the same address and
 * attributes, so these services share one object. A client of many services then needs only one reference for each
 * service and process. Confined to the session's thread.
 */
final class SharedInstances {

    private static final int MIN_KEPT = 16;

    private final Map<Known, Instance> byProcess = new IdentityHashMap<>();

    /**
     * Returns an equal provider that was found in the process earlier. If there is no equal provider, returns the given
     * provider.
     */
    Instance same(Known process, Instance found) {
        Instance known = byProcess.get(process);
        if (known != null && known.equals(found)) {
            return known;
        }
        Instance shared = known != null && known.endpoint().equals(found.endpoint())
                ? new Instance(known.endpoint(), found.attributes())
                : found;
        byProcess.put(process, shared);
        return shared;
    }

    /**
     * Forgets the processes that are not in the list. Does nothing while only a few of the stored processes are missing
     * from the list.
     */
    void keep(List<Known> processes) {
        if (byProcess.size() <= MIN_KEPT + processes.size() * 2) {
            return;
        }
        Map<Known, Instance> kept = new IdentityHashMap<>();
        for (Known process : processes) {
            Instance known = byProcess.get(process);
            if (known != null) {
                kept.put(process, known);
            }
        }
        byProcess.clear();
        byProcess.putAll(kept);
    }

    int size() {
        return byProcess.size();
    }
}
