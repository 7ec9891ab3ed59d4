package tern.rpc.cluster;

import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.function.ToIntFunction;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import tern.rpc.endpoint.Attributes;
import tern.rpc.endpoint.Endpoint;
import tern.rpc.endpoint.Instance;
import tern.rpc.endpoint.Rules;

/**
 * Chooses which providers of a list a client connects to. Applies the rules, ignores other protocols, prefers the
 * client's zone, and takes a subset of a long list. Used under the lock of its {@link Cluster}.
 */
final class ProviderChoice {

    private static final Logger LOG = LoggerFactory.getLogger(ProviderChoice.class);

    /**
     * The maximum number of tags whose providers the client connects to. The client connects to a subset of the
     * providers of each tag, so the number of tags must be limited: anyone who can write to a registry can invent tags.
     */
    static final int MAX_TAGS = 100;

    /**
     * The maximum number of tags of calls that are remembered. The client connects to the providers with these tags.
     */
    private static final int MAX_WANTED = MAX_TAGS - 2;

    /**
     * The providers that a client connects to.
     *
     * @param leftOut the tags whose providers are not connected, because there are too many tags
     */
    record Connected(List<Instance> instances, Set<String> leftOut) {}

    /** The providers that rules allow for some methods. */
    private record Routed(List<Instance> allowed, RankedProviders ranked) {}

    /** The key of a route that contains all providers. Used if the rules exclude all providers. */
    private static final Object ALL = new Object();

    private final String service;
    private final List<String> methods;
    private final String protocol;
    private final ClusterSettings settings;
    private final Object source;
    private final Rankings rankings;
    private final RankedProviders withoutRules;
    private boolean isZoneLogged;
    private boolean areTagsLogged;
    // The tags that calls have used, if there are too many tags. The client connects to the providers with these tags.
    private final Set<String> tagsOfCalls = new HashSet<>();
    // The providers that the last rules allow for the methods, by Rules.routeKey(). Empty if there are no rules or if
    // the list is not longer than a subset.
    private Map<Object, Routed> routes = Map.of();
    // The list that "routes" was computed from. The rules that it was computed from are in "routedBy".
    private List<Instance> routedList = List.of();
    private Rules routedBy = Rules.NONE;
    private @Nullable Rules refused; // the last rules that were ignored because they would have disabled all providers

    /**
     * @param service the name of the service in messages
     * @param methods the names of the service's methods
     * @param protocol the reference's protocol; endpoints with another protocol are ignored
     * @param source the key of the source of the list
     * @param rankings the ranked providers that all references of the client share
     */
    ProviderChoice(
            String service,
            List<String> methods,
            String protocol,
            ClusterSettings settings,
            Object source,
            Rankings rankings) {
        this.service = service;
        this.methods = methods;
        this.protocol = protocol;
        this.settings = settings;
        this.source = source;
        this.rankings = rankings;
        this.withoutRules = ranked(Rules.NONE, "");
    }

    private RankedProviders ranked(Rules rules, Object route) {
        return rankings.of(new Rankings.Key(source, protocol, settings.zone(), rules, route));
    }

    /**
     * Requests a connection to the providers with a tag, because a call has this tag. The next choice includes these
     * providers.
     *
     * @return false if calls with too many different tags have already been made
     */
    boolean want(String tag) {
        return tagsOfCalls.size() < MAX_WANTED && tagsOfCalls.add(tag);
    }

    /** Returns whether the list is longer than a subset, so that other providers can replace those in the subset. */
    boolean isSubset(List<Instance> listed) {
        return settings.subset() > 0 && listed.size() > settings.subset();
    }

    /**
     * Returns the listed providers that this client connects to: one subset for each tag.
     *
     * @param passedOver the providers that could not be reached, with the time when each was passed over
     */
    Connected connected(List<Instance> all, Rules rules, Map<Endpoint, Long> passedOver) {
        if (isSubset(all) && rules != Rules.NONE) {
            if (all != routedList || rules != routedBy) {
                route(all, rules);
            }
            return subsets(routes.values(), passedOver);
        }
        routes = Map.of();
        routedList = List.of();
        return isSubset(all)
                ? subsets(List.of(new Routed(all, withoutRules)), passedOver)
                : all(ruled(spoken(all), rules), rules);
    }

    /**
     * Computes the providers that rules allow. Rules that choose among the providers are applied before a subset is
     * taken, because the subset might otherwise contain no provider that is allowed to take the calls.
     */
    private void route(List<Instance> all, Rules rules) {
        List<Instance> ruled = ruled(spoken(all), rules);
        Map<Object, Routed> changed = new LinkedHashMap<>();
        for (String method : rules.isByMethod() ? methods : List.of("")) {
            Object key = rules.routeKey(method);
            if (!changed.containsKey(key)) {
                changed.put(key, routed(rules.route(method, ruled), rules, key));
            }
        }
        if (changed.values().stream().allMatch(routed -> routed.allowed().isEmpty())) {
            // If the rules exclude all providers, some providers are still used, so that the error message can name
            // them.
            changed.put(ALL, routed(ruled, rules, ALL));
        }
        routes = changed;
        routedList = all;
        routedBy = rules;
    }

    private Routed routed(List<Instance> allowed, Rules rules, Object key) {
        Routed known = rules == routedBy ? routes.get(key) : null;
        return new Routed(allowed, known == null ? ranked(rules, key) : known.ranked());
    }

    /** Returns a subset of the providers of each route and tag. */
    private Connected subsets(Collection<Routed> routed, Map<Endpoint, Long> passedOver) {
        Set<String> known = new HashSet<>();
        Set<String> leftOut = new HashSet<>();
        List<List<Instance>> chosen = new ArrayList<>();
        for (Routed each : routed) {
            each.ranked().read(each.allowed(), byTag -> {
                Set<String> used = used(byTag.keySet(), tag -> count(byTag.get(tag)));
                used.stream()
                        .map(byTag::get)
                        .filter(Objects::nonNull)
                        .forEach(ranking -> chosen.add(ranking.first(settings.subset(), passedOver)));
                known.addAll(byTag.keySet());
                byTag.keySet().stream().filter(tag -> !used.contains(tag)).forEach(leftOut::add);
            });
        }
        tagsOfCalls.retainAll(known);
        // A provider with several tags, or for several methods, can be chosen several times.
        List<Instance> instances = chosen.size() == 1
                ? chosen.get(0)
                : chosen.stream().flatMap(List::stream).distinct().toList();
        return new Connected(instances, Set.copyOf(leftOut));
    }

    private static int count(@Nullable Ranking ranking) {
        return ranking == null ? 0 : ranking.count();
    }

    /** Returns the listed providers of all used tags. */
    private Connected all(List<Instance> listed, Rules rules) {
        if (rules == Rules.NONE
                && listed.stream()
                        .allMatch(instance -> instance.attributes().tags().isEmpty())) {
            // Usually there are neither tags nor rules, and copying a long list is not necessary.
            return new Connected(listed, Set.of());
        }
        Map<String, Integer> counts = new LinkedHashMap<>();
        for (Instance instance : listed) {
            for (String tag : Rankings.tags(instance, rules)) {
                counts.merge(tag, 1, Integer::sum);
            }
        }
        tagsOfCalls.retainAll(counts.keySet());
        Set<String> used = used(counts.keySet(), tag -> counts.getOrDefault(tag, 0));
        Set<String> leftOut = new HashSet<>(counts.keySet());
        leftOut.removeAll(used);
        return new Connected(
                listed.stream()
                        .filter(each -> Rankings.tags(each, rules).stream().anyMatch(used::contains))
                        .toList(),
                leftOut);
    }

    /**
     * Returns the providers that speak the reference's protocol. Other providers must be left out before the rules are
     * applied. Otherwise, rules could exclude all providers of this protocol, and the reference would have no provider.
     */
    private List<Instance> spoken(List<Instance> instances) {
        return instances.stream().allMatch(this::isSpoken)
                ? instances // Usually there is one protocol, and copying a long list is not necessary.
                : instances.stream().filter(this::isSpoken).toList();
    }

    private boolean isSpoken(Instance instance) {
        return Rankings.isSpoken(instance, protocol);
    }

    /**
     * Returns the tags whose providers are used: no tag, the tag of the reference, the tags of earlier calls, and the
     * most frequent tags of the providers.
     */
    private Set<String> used(Set<String> tags, ToIntFunction<String> count) {
        if (tags.size() <= MAX_TAGS) {
            return tags;
        }
        if (!areTagsLogged) {
            areTagsLogged = true;
            LOG.warn(
                    "{}: the providers have {} tags, more than {}. The client connects to the providers of the {} tags"
                            + " with the most providers, and to the others only when a call has their tag. Check the"
                            + " entries of the registry",
                    service,
                    tags.size(),
                    MAX_TAGS,
                    MAX_TAGS);
        }
        return tags.stream()
                .sorted(Comparator.comparing((String tag) ->
                                !tag.isEmpty() && !tag.equals(settings.tag()) && !tagsOfCalls.contains(tag))
                        .thenComparingInt(tag -> -count.applyAsInt(tag))
                        .thenComparing(Comparator.naturalOrder()))
                .limit(MAX_TAGS)
                .collect(Collectors.toCollection(LinkedHashSet::new));
    }

    /**
     * Returns the unlisted providers that stay in use. Providers that are tried last have weight 0, so they get calls
     * only while no listed provider is available.
     */
    List<Instance> held(LastGood list, Rules rules) {
        // While providers are listed, a rule may disable every unlisted provider.
        List<Instance> spoken = spoken(list.held());
        List<Instance> held = list.listed().isEmpty() ? ruled(spoken, rules) : enabled(spoken, rules);
        return list.areHeldTriedLast()
                ? held.stream()
                        .map(instance -> new Instance(
                                instance.endpoint(), instance.attributes().withWeight(0)))
                        .toList()
                : held;
    }

    /**
     * Applies the rules to the providers: changes their attributes and removes disabled providers. Rules that would
     * disable all providers are ignored.
     */
    private List<Instance> ruled(List<Instance> instances, Rules rules) {
        List<Instance> enabled = enabled(instances, rules);
        if (!enabled.isEmpty() || instances.isEmpty()) {
            return enabled;
        }
        if (!rules.equals(refused)) {
            refused = rules;
            LOG.warn(
                    "{}: {} would disable all {} providers and is ignored where it disables providers",
                    service,
                    rules,
                    instances.size());
        }
        return instances;
    }

    /** Changes the attributes of the providers according to the rules, and removes disabled providers. */
    private static List<Instance> enabled(List<Instance> instances, Rules rules) {
        if (rules == Rules.NONE) {
            return instances; // Usually there are no rules, so a long list need not be copied.
        }
        List<Instance> enabled = new ArrayList<>();
        for (Instance instance : instances) {
            Attributes attributes = rules.attributes(instance);
            if (attributes != null) {
                enabled.add(
                        attributes.equals(instance.attributes())
                                ? instance
                                : new Instance(instance.endpoint(), attributes));
            }
        }
        return enabled;
    }

    /** Returns the settings of the reference, with the load balancing that the rules set. */
    ClusterSettings settings(Rules rules) {
        String name = rules.loadBalancing();
        return name.isEmpty() ? settings : settings.withPolicy(Policies.named(name));
    }

    /**
     * Warns once if no provider is in the client's zone, but the zone name of a provider differs from the client's zone
     * name only in case.
     */
    void warnAboutZone(List<Instance> listed) {
        String zone = settings.zone();
        if (zone.isEmpty() || isZoneLogged) {
            return;
        }
        String similar = null;
        for (Instance instance : listed) {
            String other = instance.attributes().zone();
            if (other.equals(zone)) {
                return;
            }
            similar = other.equalsIgnoreCase(zone) ? other : similar;
        }
        if (similar != null) {
            isZoneLogged = true;
            LOG.warn(
                    "{}: no provider is in the zone '{}' of this client, but some are in '{}'. The case of zones"
                            + " counts: change rpc.client.zone here, or rpc.server.advertise.zone there",
                    service,
                    zone,
                    similar);
        }
    }
}
