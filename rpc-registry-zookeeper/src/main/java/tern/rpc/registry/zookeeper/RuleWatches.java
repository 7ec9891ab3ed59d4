package tern.rpc.registry.zookeeper;

import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Stream;
import tern.rpc.ServiceKey;
import tern.rpc.endpoint.Endpoint;
import tern.rpc.endpoint.Rules;
import tern.rpc.registry.dubbo.Limits;
import tern.rpc.registry.dubbo.rules.DubboRules;
import tern.rpc.registry.dubbo.rules.Rule;
import tern.rpc.registry.dubbo.rules.RuleConsumer;

/**
 * Watches the rules for one service: the service's own rules, the rules of the consumer's application, and the rules of
 * the applications that offer the service. Confined to the session's thread.
 */
final class RuleWatches {

    private static final List<Rule.Kind> OF_PROVIDERS =
            Stream.of(Rule.Kind.values()).filter(Rule.Kind::isOfProviders).toList();

    private final Session session;
    private final ServiceKey service;
    private final RuleConsumer consumer;
    private final Runnable changed;
    private final List<RuleWatch> fixed = new ArrayList<>();
    private final Map<String, List<RuleWatch>> ofApplications = new HashMap<>();

    RuleWatches(Session session, ServiceKey service, RuleConsumer consumer, Runnable changed) {
        this.session = session;
        this.service = service;
        this.consumer = consumer;
        this.changed = changed;
        String name = name(service);
        fixed.add(watch(Rule.Kind.CONFIGURATORS, name));
        fixed.add(watch(Rule.Kind.CONDITIONS, name));
        if (isName(consumer.application())) {
            fixed.add(watch(Rule.Kind.CALLER_CONFIGURATORS, consumer.application()));
            fixed.add(watch(Rule.Kind.CONDITIONS, consumer.application()));
        }
    }

    /** Returns the name of a service in the keys of rules. */
    static String name(ServiceKey service) {
        return service.interfaceName() + ":" + service.version() + ":" + service.group();
    }

    private RuleWatch watch(Rule.Kind kind, String name) {
        return new RuleWatch(session, kind, name, service, changed);
    }

    void start() {
        fixed.forEach(RuleWatch::start);
    }

    /** Watches the rules of the given applications. Ends the watches for the rules of all other applications. */
    void watch(Collection<String> applications) {
        Set<String> gone = new HashSet<>(ofApplications.keySet());
        for (String application : applications) {
            if (!gone.remove(application) && isName(application) && ofApplications.size() < Limits.MAX_APPLICATIONS) {
                List<RuleWatch> made = OF_PROVIDERS.stream()
                        .map(kind -> watch(kind, application))
                        .toList();
                ofApplications.put(application, made);
                made.forEach(RuleWatch::start);
            }
        }
        for (String application : gone) {
            List<RuleWatch> left = ofApplications.remove(application);
            if (left != null) {
                left.forEach(RuleWatch::close);
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
        return Stream.concat(fixed.stream(), ofApplications.values().stream().flatMap(List::stream))
                .allMatch(RuleWatch::isHeard);
    }

    /** @param providers returns those addresses of an application at which the service is offered */
    Rules rules(Function<String, Set<Endpoint>> providers) {
        Map<String, Rule> byKey = new HashMap<>();
        ofApplications.forEach((application, watches) -> watches.forEach(watch -> {
            Rule rule = watch.rule();
            if (rule != null) {
                byKey.put(key(watch), rule.within(() -> providers.apply(application)));
            }
        }));
        fixed.forEach(watch -> {
            Rule rule = watch.rule();
            if (rule != null) {
                byKey.put(key(watch), rule);
            }
        });
        return DubboRules.of(byKey, consumer);
    }

    /**
     * Returns a unique key for the rule. An application that calls its own services may have two rules with the same
     * key in the registry.
     */
    private static String key(RuleWatch watch) {
        return watch.kind() == Rule.Kind.PROVIDER_CONFIGURATORS ? watch.key() + " (providers)" : watch.key();
    }

    void close() {
        fixed.forEach(RuleWatch::close);
        watch(List.of());
    }
}
