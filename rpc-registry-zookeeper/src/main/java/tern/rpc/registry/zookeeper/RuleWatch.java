package tern.rpc.registry.zookeeper;

import java.nio.charset.StandardCharsets;
import org.apache.zookeeper.KeeperException.Code;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import tern.rpc.registry.dubbo.Limits;
import tern.rpc.registry.dubbo.rules.Rule;

/** Watches one rule, and reads it again whenever it changes. Confined to the session's thread. */
final class RuleWatch implements Session.Listener {

    private static final Logger LOG = LoggerFactory.getLogger(RuleWatch.class);

    private final Session session;
    private final Rule.Kind kind;
    private final String key;
    private final String path;
    private final Runnable changed;
    private @Nullable Rule rule;
    private String problem = "";
    private boolean heard;
    private boolean closed;

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
                take(new String(data.bytes(), StandardCharsets.UTF_8));
            } else if (Session.isCode(failure, Code.NONODE)) {
                // If the node exists by now, the rule is read again. Otherwise this watch reports the node's creation.
                session.exists(path, event -> read()).thenRun(this::read);
                heard(null, "");
            } else if (failure.getCause() instanceof IllegalArgumentException wrong) {
                session.exists(path, event -> read());
                heard(null, String.valueOf(wrong.getMessage()));
            } else if (Session.isCode(failure, Code.NOAUTH)) {
                heard(null, "it may not be read");
            }
        });
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
        if (closed) {
            return;
        }
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
        closed = true;
        session.remove(this);
    }
}
