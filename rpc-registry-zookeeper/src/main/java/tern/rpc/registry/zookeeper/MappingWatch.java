package tern.rpc.registry.zookeeper;

import java.nio.charset.StandardCharsets;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import tern.rpc.registry.dubbo.Limits;
import tern.rpc.registry.dubbo.Mapping;

/** Watches the list of applications that offer an interface. Confined to the session's thread. */
final class MappingWatch implements NodeData.Reader {

    private static final Logger LOG = LoggerFactory.getLogger(MappingWatch.class);

    private final Session session;
    private final String path;
    private final Runnable changed;
    private final NodeData node;
    private List<String> applications = List.of();
    private String problem = "";
    private boolean heard;

    MappingWatch(Session session, String interfaceName, Runnable changed) {
        this.session = session;
        this.path = Paths.of(session.settings()).mapping(interfaceName);
        this.changed = changed;
        this.node = new NodeData(session, path, this);
    }

    void start() {
        node.start();
    }

    @Override
    public void read(byte @Nullable [] data) {
        String text = data == null ? "" : new String(data, StandardCharsets.UTF_8);
        List<String> names = Mapping.parse(text);
        if (names.size() == Limits.MAX_APPLICATIONS && Mapping.count(text) > names.size()) {
            warn("names too many applications; only the first " + names.size()
                    + " are used. Set rpc.client.services.<name>.provided-by to the correct ones");
        } else {
            problem = "";
        }
        heard(names);
    }

    /**
     * The applications that were listed by the last successful read stay in use, so that consumers keep the providers
     * of these applications.
     */
    @Override
    public void unreadable(String why) {
        warn(
                heard
                        ? "cannot be read: " + why + ". The applications that were read before stay in use"
                        : "is ignored: " + why);
        heard(applications);
    }

    private void warn(String what) {
        if (!what.equals(problem)) {
            problem = what;
            LOG.warn("{} at {} {}", Limits.shown(path), session.settings().url(), what);
        }
    }

    private void heard(List<String> names) {
        if (heard && names.equals(applications)) {
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
        node.close();
    }
}
