package tern.rpc.registry.zookeeper;

import java.nio.charset.StandardCharsets;
import java.util.List;
import org.apache.zookeeper.KeeperException.Code;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import tern.rpc.registry.dubbo.Limits;
import tern.rpc.registry.dubbo.Mapping;

/** Watches the names of the applications that offer an interface. Confined to the session's thread. */
final class MappingWatch implements Session.Listener {

    private static final Logger LOG = LoggerFactory.getLogger(MappingWatch.class);

    private final Session session;
    private final String path;
    private final Runnable changed;
    private List<String> applications = List.of();
    private boolean heard;
    private boolean closed;

    MappingWatch(Session session, String interfaceName, Runnable changed) {
        this.session = session;
        this.path = Paths.of(session.settings()).mapping(interfaceName);
        this.changed = changed;
    }

    void start() {
        session.add(this);
    }

    @Override
    public void connected(boolean isNew) {
        read();
    }

    @Override
    public void stale(String why) {}

    private void read() {
        if (closed) {
            return;
        }
        session.data(path, Limits.MAX_ENTRY, event -> read()).whenComplete((data, failure) -> {
            if (failure == null) {
                heard(Mapping.parse(new String(data.bytes(), StandardCharsets.UTF_8)));
            } else if (Session.isCode(failure, Code.NONODE)) {
                // If the node exists by now, the names are read again. Otherwise this watch reports the node's
                // creation.
                session.exists(path, event -> read()).thenRun(this::read);
                heard(List.of());
            } else if (failure.getCause() instanceof IllegalArgumentException wrong) {
                LOG.warn(
                        "{} at {} is ignored: {}",
                        Limits.shown(path),
                        session.settings().url(),
                        wrong.getMessage());
                heard(List.of());
            }
        });
    }

    private void heard(List<String> names) {
        if (closed || (heard && names.equals(applications))) {
            return;
        }
        heard = true;
        applications = names;
        changed.run();
    }

    boolean isHeard() {
        return heard;
    }

    List<String> applications() {
        return applications;
    }

    void close() {
        closed = true;
        session.remove(this);
    }
}
