package tern.rpc.registry.zookeeper;

import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import tern.rpc.ServiceKey;
import tern.rpc.endpoint.Rules;
import tern.rpc.registry.dubbo.Limits;
import tern.rpc.registry.dubbo.rules.DubboRules;
import tern.rpc.registry.dubbo.rules.Rule;
import tern.rpc.registry.dubbo.rules.RuleConsumer;

/**
 * Watches the rules for one service: the service's own rules, and the tag rules of the applications that offer it.
 * Confined to the session's thread.
 */
final class RuleWatches {

    private final Session session;
    private final RuleConsumer consumer;
    private final Runnable changed;
    private final List<RuleWatch> ofService;
    private final Map<String, RuleWatch> ofApplications = new HashMap<>();

    RuleWatches(Session session, ServiceKey service, RuleConsumer consumer, Runnable changed) {
        this.session = session;
        this.consumer = consumer;
        this.changed = changed;
        String name = service.interfaceName() + ":" + service.version() + ":" + service.group();
        this.ofService = List.of(
                new RuleWatch(session, Rule.Kind.CONFIGURATORS, name, changed),
                new RuleWatch(session, Rule.Kind.CONDITIONS, name, changed));
    }

    void start() {
        ofService.forEach(RuleWatch::start);
    }

    /** Watches the tag rules of these applications. Ends the watches for the tag rules of all other applications. */
    void watch(Collection<String> applications) {
        Set<String> gone = new HashSet<>(ofApplications.keySet());
        for (String application : applications) {
            if (!gone.remove(application) && isName(application) && ofApplications.size() < Limits.MAX_APPLICATIONS) {
                RuleWatch made = new RuleWatch(session, Rule.Kind.TAGS, application, changed);
                ofApplications.put(application, made);
                made.start();
            }
        }
        for (String application : gone) {
            RuleWatch left = ofApplications.remove(application);
            if (left != null) {
                left.close();
            }
        }
    }

    /** Returns whether the name is valid in a node's path. */
    private static boolean isName(String application) {
        return !application.isEmpty()
                && application.indexOf('/') < 0
                && application.chars().noneMatch(Character::isISOControl);
    }

    boolean isHeard() {
        return ofService.stream().allMatch(RuleWatch::isHeard)
                && ofApplications.values().stream().allMatch(RuleWatch::isHeard);
    }

    Rules rules() {
        Map<String, Rule> byKey = new HashMap<>();
        ofService.forEach(watch -> add(watch, byKey));
        ofApplications.values().forEach(watch -> add(watch, byKey));
        return DubboRules.of(byKey, consumer);
    }

    private static void add(RuleWatch watch, Map<String, Rule> byKey) {
        Rule rule = watch.rule();
        if (rule != null) {
            byKey.put(watch.key(), rule);
        }
    }

    void close() {
        ofService.forEach(RuleWatch::close);
        watch(List.of());
    }
}
