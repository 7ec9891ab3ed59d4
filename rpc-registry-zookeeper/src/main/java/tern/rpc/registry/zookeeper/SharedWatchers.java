package tern.rpc.registry.zookeeper;

import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;
import org.apache.zookeeper.WatchedEvent;
import org.apache.zookeeper.Watcher;

/**
 * The watchers of one session. The ZooKeeper client keeps a watcher until a watched node changes or the session ends,
 * even if no listener is left. All watches with the same key therefore share one watcher. A node that is watched again
 * and again then needs no additional memory, and ZooKeeper reports each change only once. Confined to the session's
 * thread.
 */
final class SharedWatchers {

    private final Session session;
    private final Map<String, Shared> byKey = new HashMap<>();

    SharedWatchers(Session session) {
        this.session = session;
    }

    private final class Shared implements Watcher {

        private final Set<Consumer<WatchedEvent>> listeners = new LinkedHashSet<>();

        /** Called by the ZooKeeper client, on its own thread, when a watched node has changed. */
        @Override
        public void process(WatchedEvent event) {
            if (event.getType() != Event.EventType.None) {
                session.execute(() -> notifyListeners(event));
            }
        }

        private void notifyListeners(WatchedEvent event) {
            List.copyOf(listeners).forEach(listener -> session.guarded(() -> listener.accept(event)));
        }
    }

    /**
     * Returns the watcher with this key, and adds a listener to it.
     *
     * @param key identifies the watched nodes, such as the path of a node
     */
    Watcher add(String key, Consumer<WatchedEvent> listener) {
        Shared shared = byKey.computeIfAbsent(key, unknown -> new Shared());
        shared.listeners.add(listener);
        return shared;
    }

    void remove(String key, Consumer<WatchedEvent> listener) {
        Shared shared = byKey.get(key);
        if (shared != null) {
            shared.listeners.remove(listener);
        }
    }

    /** Forgets the watchers without listeners, because the client has forgotten the watchers of the last session. */
    void sessionBegins() {
        byKey.values().removeIf(shared -> shared.listeners.isEmpty());
    }

    int size() {
        return byKey.size();
    }
}
