package tern.rpc.cluster;

import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
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

    private final String service;
    private final List<String> methods;
    private final String protocol;
    private final ClusterSettings settings;
    private final Subset subset;
    private final LastChoice last;
    private boolean isZoneLogged;
    private boolean areTagsLogged;
    // The tags whose providers were left out until a call had the tag.
    private final Set<String> tagsOfCalls = new HashSet<>();
    private @Nullable Rules refused; // the last rules that were ignored because they would have disabled all providers

    /**
     * @param service the name of the service in messages
     * @param methods the names of the service's methods
     * @param protocol the reference's protocol; endpoints with another protocol are ignored
     * @param client a number that identifies the client
     * @param last the cached result of the client's last choice; all references of the client share it
     */
    ProviderChoice(
            String service,
            List<String> methods,
            String protocol,
            ClusterSettings settings,
            long client,
            LastChoice last) {
        this.service = service;
        this.methods = methods;
        this.protocol = protocol;
        this.settings = settings;
        this.subset = new Subset(client, settings.subset(), settings.zone());
        this.last = last;
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
     * @param passedOver the providers that could not be connected, with the time at which each was passed over
     */
    Connected connected(List<Instance> all, Rules rules, Map<Endpoint, Long> passedOver) {
        if (!tagsOfCalls.isEmpty()) {
            tagsOfCalls.retainAll(
                    all.stream().flatMap(each -> tags(each, rules).stream()).collect(Collectors.toSet()));
        }
        return rules == Rules.NONE && tagsOfCalls.isEmpty() && passedOver.isEmpty() && all.size() > settings.subset()
                ? last.of(all, protocol, settings, () -> subsets(all, rules, passedOver))
                : routed(ruled(all, rules), rules, passedOver);
    }

    /**
     * Returns the providers that this client connects to. Rules that choose among the providers are applied before the
     * subset is taken, because the subset might otherwise contain no provider that is allowed to take the calls.
     */
    private Connected routed(List<Instance> listed, Rules rules, Map<Endpoint, Long> passedOver) {
        if (rules == Rules.NONE || !isSubset(listed)) {
            return subsets(listed, rules, passedOver);
        }
        Map<Object, List<Instance>> routes = new LinkedHashMap<>();
        for (String method : rules.isByMethod() ? methods : List.of("")) {
            routes.computeIfAbsent(rules.routeKey(method), unseen -> rules.route(method, listed));
        }
        Set<Instance> chosen = new LinkedHashSet<>();
        Set<String> leftOut = new HashSet<>();
        routes.values().forEach(allowed -> {
            Connected connected = subsets(allowed, rules, passedOver);
            chosen.addAll(connected.instances());
            leftOut.addAll(connected.leftOut());
        });
        // If the rules exclude all providers, some providers are still returned, so that the error message can name
        // them.
        return chosen.isEmpty()
                ? subsets(listed, rules, passedOver)
                : new Connected(List.copyOf(chosen), Set.copyOf(leftOut));
    }

    private Connected subsets(List<Instance> listed, Rules rules, Map<Endpoint, Long> passedOver) {
        if (rules == Rules.NONE
                && listed.stream()
                        .allMatch(instance -> isSpoken(instance)
                                && instance.attributes().tags().isEmpty())) {
            // This is the usual case: without tags and rules, a long list is not copied.
            return new Connected(subset.of(listed, passedOver), Set.of());
        }
        Map<String, List<Instance>> byTag = new LinkedHashMap<>();
        for (Instance instance : listed) {
            if (isSpoken(instance)) {
                // Rules can give a provider several tags. A provider with several tags belongs to the subset of each
                // tag, so that a call with any of these tags finds a provider.
                for (String tag : tags(instance, rules)) {
                    byTag.computeIfAbsent(tag, unseen -> new ArrayList<>()).add(instance);
                }
            }
        }
        Set<Instance> chosen = new LinkedHashSet<>();
        Set<String> leftOut = new HashSet<>(byTag.keySet());
        used(byTag).forEach(tag -> {
            chosen.addAll(subset.of(byTag.getOrDefault(tag, List.of()), passedOver));
            leftOut.remove(tag);
        });
        return new Connected(List.copyOf(chosen), Set.copyOf(leftOut));
    }

    private static List<String> tags(Instance instance, Rules rules) {
        List<String> tags = rules.tags(instance);
        return tags.isEmpty() ? List.of(instance.attributes().tag()) : tags;
    }

    /**
     * Returns the tags whose providers are used: no tag, the tag of the reference, the tags of earlier calls, and the
     * most frequent tags of the providers.
     */
    private Collection<String> used(Map<String, List<Instance>> byTag) {
        if (byTag.size() <= MAX_TAGS) {
            return byTag.keySet();
        }
        if (!areTagsLogged) {
            areTagsLogged = true;
            LOG.warn(
                    "{}: the providers have {} tags, more than {}. The client connects to the providers of the {} tags"
                            + " with the most providers, and to the others only when a call has their tag. Check the"
                            + " entries of the registry",
                    service,
                    byTag.size(),
                    MAX_TAGS,
                    MAX_TAGS);
        }
        return byTag.keySet().stream()
                .sorted(Comparator.comparing((String tag) ->
                                !tag.isEmpty() && !tag.equals(settings.tag()) && !tagsOfCalls.contains(tag))
                        .thenComparingInt(
                                tag -> -byTag.getOrDefault(tag, List.of()).size())
                        .thenComparing(Comparator.naturalOrder()))
                .limit(MAX_TAGS)
                .toList();
    }

    private boolean isSpoken(Instance instance) {
        String spoken = instance.endpoint().protocol();
        return spoken.isEmpty() || spoken.equals(protocol);
    }

    /**
     * Returns the unlisted providers that stay in use. Providers that are tried last have weight 0, so they get calls
     * only while no listed provider is available.
     */
    List<Instance> held(LastGood list, Rules rules) {
        // While providers are listed, a rule may disable every unlisted provider.
        List<Instance> held = list.listed().isEmpty() ? ruled(list.held(), rules) : enabled(list.held(), rules);
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
