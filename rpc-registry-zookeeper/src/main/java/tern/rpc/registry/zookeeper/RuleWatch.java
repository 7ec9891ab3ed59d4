package tern.rpc.registry.zookeeper;

import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import tern.rpc.registry.dubbo.Limits;
import tern.rpc.registry.dubbo.rules.Rule;

/** Watches one rule, and reads it again whenever it changes. Confined to the session's thread. */
final class RuleWatch implements NodeData.Reader {

    private static final Logger LOG = LoggerFactory.getLogger(RuleWatch.class);

    private final Session session;
    private final Rule.Kind kind;
    private final String key;
    private final String path;
    private final Runnable changed;
    private final NodeData node;
    private @Nullable Rule rule;
    private String problem = "";
    private boolean heard;

    /**
     * Creates a watch for one rule.
     *
     * @param name the service or application to which the rule applies
     */
    RuleWatch(Session session, Rule.Kind kind, String name, Runnable changed) {
        this.session = session;
        this.kind = kind;
        this.key = kind.key(name);
        this.path = Paths.of(session.settings()).rule(key);
        this.changed = changed;
        this.node = new NodeData(session, path, this);
    }

    void start() {
        node.start();
    }

    @Override
    public void read(byte @Nullable [] data) {
        if (data == null) {
            heard(null, "");
        } else {
            take(new String(data, StandardCharsets.UTF_8));
        }
    }

    @Override
    public void unreadable(String why) {
        heard(null, why);
    }

    private void take(String yaml) {
        try {
            heard(kind.parse(yaml), "");
        } catch (IllegalArgumentException e) {
            heard(null, String.valueOf(e.getMessage()));
        } catch (NoClassDefFoundError e) {
            heard(null, "reading it needs the library org.yaml:snakeyaml (" + e.getMessage() + ")");
        }
    }

    /**
     * Records the result of reading the rule.
     *
     * @param why the reason why the rule is not applied; empty if there is no rule or the rule is valid
     */
    private void heard(@Nullable Rule current, String why) {
        if (!why.isEmpty() && !why.equals(problem)) {
            LOG.warn(
                    "The rule {} at {} is off: {}. Calls go on without it",
                    Limits.shown(path),
                    session.settings().url(),
                    why);
        }
        problem = why;
        rule = current;
        heard = true;
        changed.run();
    }

    boolean isHeard() {
        return heard;
    }

    String key() {
        return key;
    }

    /** Returns the rule; null if there is no rule, or if it is disabled or not supported. */
    @Nullable
    Rule rule() {
        return rule;
    }

    void close() {
        node.close();
    }
}
