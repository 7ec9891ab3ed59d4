package tern.rpc.registry.zookeeper;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import tern.rpc.ServiceKey;
import tern.rpc.endpoint.Endpoint;
import tern.rpc.endpoint.Rules;
import tern.rpc.registry.dubbo.Limits;
import tern.rpc.registry.dubbo.Mapping;
import tern.rpc.registry.dubbo.rules.DubboRules;
import tern.rpc.registry.dubbo.rules.Rule;
import tern.rpc.registry.dubbo.rules.RuleConsumer;

/**
 * Watches the rules for one service: the service's own rules, the rules of the consumer's application, and the rules of
 * the applications that offer the service. Confined to the session's thread.
 */
final class RuleWatches {

    private static final Logger LOG = LoggerFactory.getLogger(RuleWatches.class);

    private static final List<Rule.Kind> OF_PROVIDERS =
            Stream.of(Rule.Kind.values()).filter(Rule.Kind::isOfProviders).toList();

    private final Session session;
    private final ServiceKey service;
    private final RuleConsumer consumer;
    private final Runnable changed;
    private final List<RuleWatch> fixed = new ArrayList<>();
    private final Map<String, List<RuleWatch>> ofApplications = new HashMap<>();
    private boolean warned;

    RuleWatches(Session session, ServiceKey service, RuleConsumer consumer, Runnable changed) {
        this.session = session;
        this.service = service;
        this.consumer = consumer;
        this.changed = changed;
        String name = name(service);
        fixed.add(watch(Rule.Kind.CONFIGURATORS, name));
        fixed.add(watch(Rule.Kind.CONDITIONS, name));
        if (Mapping.isName(consumer.application())) {
            fixed.add(watch(Rule.Kind.CALLER_CONFIGURATORS, consumer.application()));
            fixed.add(watch(Rule.Kind.CONDITIONS, consumer.application()));
        }
    }

    /** Returns the name by which rules refer to a service. */
    static String name(ServiceKey service) {
        return service.interfaceName() + ":" + service.version() + ":" + service.group();
    }

    private RuleWatch watch(Rule.Kind kind, String name) {
        return new RuleWatch(session, kind, name, service, changed);
    }

    void start() {
        fixed.forEach(RuleWatch::start);
    }

    /**
     * Watches the rules of the given applications. Ends the watches for the rules of all other applications.
     *
     * @param entries the number of entries of each application that offers the service
     */
    void watch(Map<String, Integer> entries) {
        Set<String> applications = watchable(entries);
        ofApplications.entrySet().removeIf(watched -> {
            boolean isGone = !applications.contains(watched.getKey());
            if (isGone) {
                watched.getValue().forEach(RuleWatch::close);
            }
            return isGone;
        });
        for (String application : applications) {
            if (!ofApplications.containsKey(application)) {
                List<RuleWatch> made = OF_PROVIDERS.stream()
                        .filter(kind -> !isAlreadyApplied(kind, application))
                        .map(kind -> watch(kind, application))
                        .toList();
                ofApplications.put(application, made);
                made.forEach(RuleWatch::start);
            }
        }
    }

    /** Returns whether the rule already applies to all calls that this application makes. */
    private boolean isAlreadyApplied(Rule.Kind kind, String application) {
        return kind == Rule.Kind.PROVIDER_CONDITIONS && application.equals(consumer.application());
    }

    /**
     * Returns the applications whose names are valid. If there are too many, returns the applications with the most
     * entries. Anyone who can write to the registry can invent names, but invented names usually have fewer entries.
     */
    private Set<String> watchable(Map<String, Integer> entries) {
        List<String> named = entries.keySet().stream().filter(Mapping::isName).toList();
        if (named.size() > Limits.MAX_APPLICATIONS && !warned) {
            warned = true;
            LOG.warn(
                    "{} is offered by {} applications at {}, more than {}. Only the rules of the {} applications with the"
                            + " most entries are applied. Remove the entries of the others, or set"
                            + " rpc.client.services.<name>.provided-by, whose applications come first",
                    service,
                    named.size(),
                    session.settings().url(),
                    Limits.MAX_APPLICATIONS,
                    Limits.MAX_APPLICATIONS);
        }
        return named.stream()
                .sorted(Comparator.comparingInt((String name) -> -entries.getOrDefault(name, 0))
                        .thenComparing(name -> !ofApplications.containsKey(name))
                        .thenComparing(Comparator.naturalOrder()))
                .limit(Limits.MAX_APPLICATIONS)
                .collect(Collectors.toCollection(LinkedHashSet::new));
    }

    boolean isHeard() {
        return Stream.concat(fixed.stream(), ofApplications.values().stream().flatMap(List::stream))
                .allMatch(RuleWatch::isHeard);
    }

    /** @param providers returns the addresses at which the application offers the service */
    Rules rules(Function<String, Set<Endpoint>> providers) {
        Map<String, Rule> byKey = new HashMap<>();
        Map<String, DubboRules.Source> sources = new HashMap<>();
        ofApplications.forEach((application, watches) -> watches.forEach(watch -> {
            Rule rule = watch.rule();
            if (rule != null) {
                byKey.put(key(watch), rule.within(() -> providers.apply(application)));
                sources.put(key(watch), watch.source());
            }
        }));
        fixed.forEach(watch -> {
            Rule rule = watch.rule();
            if (rule != null) {
                byKey.put(key(watch), rule);
                sources.put(key(watch), watch.source());
            }
        });
        return DubboRules.of(byKey, sources, consumer);
    }

    /** Parses rules that an earlier process of this application has stored. Any thread may call this method. */
    Rules stored(List<String> texts) {
        return DubboRules.of(texts, service, consumer);
    }

    /**
     * Returns a unique key for the rule. An application that calls its own services can have two rules with the same
     * key in the registry.
     */
    private static String key(RuleWatch watch) {
        return watch.kind().sharesKey() ? watch.key() + DubboRules.OF_PROVIDERS : watch.key();
    }

    void close() {
        fixed.forEach(RuleWatch::close);
        watch(Map.of());
    }
}
