package tern.rpc.registry.zookeeper;

import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import tern.rpc.ServiceKey;
import tern.rpc.registry.dubbo.Limits;
import tern.rpc.registry.dubbo.rules.DubboRules;
import tern.rpc.registry.dubbo.rules.Rule;

/**
 * Watches one rule, and reads it again whenever it changes. If a change cannot be used, the last usable rule stays in
 * use, as in Dubbo. If an unusable change removed the rule, a typing error would send calls to providers that the rule
 * excludes. Confined to the session's thread.
 */
final class RuleWatch implements NodeData.Reader {

    private static final Logger LOG = LoggerFactory.getLogger(RuleWatch.class);

    private final Session session;
    private final Rule.Kind kind;
    private final ServiceKey service;
    private final String key;
    private final String path;
    private final Runnable changed;
    private final NodeData node;
    private @Nullable Rule rule;
    private String yaml = ""; // the text of the rule; empty if there is no rule
    private String problem = ""; // the reason why the current content is not applied; empty if the content is applied
    private boolean heard;

    /**
     * Creates a watch for one rule.
     *
     * @param name the service or application in the rule's key
     * @param service the service that the rule will be applied to
     */
    RuleWatch(Session session, Rule.Kind kind, String name, ServiceKey service, Runnable changed) {
        this.session = session;
        this.kind = kind;
        this.service = service;
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
        unusable(why);
    }

    private void take(String text) {
        Rule parsed;
        try {
            parsed = kind.parse(text, service);
        } catch (IllegalArgumentException e) {
            unusable(String.valueOf(e.getMessage()));
            return;
        } catch (NoClassDefFoundError e) {
            unusable("reading it needs the library org.yaml:snakeyaml (" + e.getMessage() + ")");
            return;
        } catch (RuntimeException | StackOverflowError e) {
            // Errors are caught too. A malicious text can cause an error in the parser, which must not block the lists
            // of providers.
            unusable("reading it failed: " + Limits.shown(e.toString()));
            return;
        }
        // The listener runs outside the try block, because an exception from the listener does not mean that the rule
        // is unusable.
        heard(parsed, text);
    }

    /**
     * @param current the rule; null if there is no rule, or if it is disabled or not supported
     * @param text the text of the rule
     */
    private void heard(@Nullable Rule current, String text) {
        replaceProblem("");
        rule = current;
        yaml = current == null ? "" : text;
        heard = true;
        changed.run();
    }

    /** @param why the reason for not applying the node's current content */
    private void unusable(String why) {
        if (replaceProblem(why)) {
            LOG.warn(
                    "The rule {} at {} cannot be used: {}. {}",
                    Limits.shown(path),
                    session.settings().url(),
                    why,
                    rule == null ? "Calls continue without it" : "The last valid rule stays in use");
        }
        heard = true;
        changed.run();
    }

    /**
     * Sets the reason why the current content of the rule is not applied.
     *
     * @return whether the problem must be logged, because it is new and no other watch of this session has reported it
     */
    private boolean replaceProblem(String why) {
        if (why.equals(problem)) {
            return false;
        }
        if (!problem.isEmpty()) {
            session.ruleProblems().end(path, problem);
        }
        problem = why;
        return !why.isEmpty() && session.ruleProblems().begin(path, why);
    }

    boolean isHeard() {
        return heard;
    }

    Rule.Kind kind() {
        return kind;
    }

    String key() {
        return key;
    }

    /**
     * Returns the rule from the last usable content. Returns null if this content disables the rule, or if there has
     * been no usable content.
     */
    @Nullable
    Rule rule() {
        return rule;
    }

    /** Returns the rule as it is written in the registry. */
    DubboRules.Source source() {
        return new DubboRules.Source(kind, yaml);
    }

    void close() {
        replaceProblem("");
        node.close();
    }
}
