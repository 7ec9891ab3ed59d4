package tern.rpc.registry.zookeeper;

import java.util.HashMap;
import java.util.Map;
import tern.rpc.registry.dubbo.ProcessMetadata;

/**
 * The watched applications. Each application is watched only once, even if several of its services are used. Confined
 * to the session's thread.
 */
final class Applications {

    private final Session session;
    private final ProcessMetadata processMetadata;
    private final Map<String, ApplicationWatch> watched = new HashMap<>();

    Applications(Session session, ProcessMetadata processMetadata) {
        this.session = session;
        this.processMetadata = processMetadata;
    }

    /**
     * Watches an application.
     *
     * @param listener called after each change
     */
    ApplicationWatch watch(String application, Runnable listener) {
        ApplicationWatch known = watched.get(application);
        if (known != null) {
            known.add(listener);
            return known;
        }
        ApplicationWatch made = new ApplicationWatch(session, application, processMetadata);
        watched.put(application, made);
        made.add(listener);
        made.start();
        return made;
    }

    void release(String application, Runnable listener) {
        ApplicationWatch known = watched.get(application);
        if (known != null && known.remove(listener)) {
            watched.remove(application);
            known.close();
        }
    }
}
