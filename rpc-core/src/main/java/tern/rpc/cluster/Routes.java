package tern.rpc.cluster;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import tern.rpc.endpoint.Instance;
import tern.rpc.endpoint.Rules;

/**
 * The providers for the calls to a method, grouped by tag according to Dubbo's rules. A call with a tag goes to the
 * providers with this tag. If there are no such providers, the call goes to the providers without a tag. A call with
 * the tag {@code a|b|c} also tries {@code a|b} and then {@code a}. A call without a tag never goes to a provider with a
 * tag, unless rules assign the tags. Rules can exclude providers and give them tags. Thread-safe.
 */
final class Routes {

    private final List<Target> all;
    private final ClusterSettings settings;
    private final Rules rules;
    private final Set<String> leftOut;
    private final Map<String, Group> byTag;
    private final @Nullable Group untagged; // the providers for calls without a tag
    private final @Nullable Map<String, Routes> byMethod; // byMethod is null if all methods have the same providers.

    Routes(List<Target> all, ClusterSettings settings) {
        this(all, settings, Rules.NONE, Set.of());
    }

    /** @param leftOut the tags whose providers are not connected, because there are too many tags */
    Routes(List<Target> all, ClusterSettings settings, Rules rules, Set<String> leftOut) {
        this(all, rules.isByMethod() ? all : allowed("", all, rules), settings, rules, leftOut, rules.isByMethod());
    }

    private Routes(
            List<Target> all,
            List<Target> allowed,
            ClusterSettings settings,
            Rules rules,
            Set<String> leftOut,
            boolean isByMethod) {
        this.all = List.copyOf(all);
        this.settings = settings;
        this.rules = rules;
        this.leftOut = leftOut;
        this.byMethod = isByMethod ? new ConcurrentHashMap<>() : null;
        Map<String, List<Target>> sorted = new TreeMap<>();
        List<Target> withoutTag = new ArrayList<>();
        for (Target target : allowed) {
            for (String tag : tags(instance(target))) {
                sorted.computeIfAbsent(tag, unseen -> new ArrayList<>()).add(target);
            }
            if (rules != Rules.NONE && rules.takesCallsWithoutTag(instance(target))) {
                withoutTag.add(target);
            }
        }
        Map<String, Group> groups = new HashMap<>();
        sorted.forEach((tag, targets) -> groups.put(tag, new Group(targets, settings)));
        this.byTag = Map.copyOf(groups);
        this.untagged = rules == Rules.NONE ? groups.get("") : group(withoutTag, groups.get(""), settings);
    }

    private static @Nullable Group group(List<Target> targets, @Nullable Group known, ClusterSettings settings) {
        if (known != null && known.targets().equals(targets)) {
            return known;
        }
        return targets.isEmpty() ? null : new Group(targets, settings);
    }

    private static List<Target> allowed(String method, List<Target> all, Rules rules) {
        Map<Instance, Target> targets = new LinkedHashMap<>();
        all.forEach(target -> targets.put(instance(target), target));
        List<Instance> instances = List.copyOf(targets.keySet());
        List<Instance> left = rules.route(method, instances);
        return left == instances ? all : left.stream().map(targets::get).toList();
    }

    private static Instance instance(Target target) {
        return new Instance(target.endpoint(), target.attributes());
    }

    private List<String> tags(Instance instance) {
        return rules == Rules.NONE ? List.of(instance.attributes().tag()) : rules.tags(instance);
    }

    /**
     * Returns the routes for calls to the method.
     *
     * @param method the method's name; parameter types in parentheses may follow
     */
    Routes of(String method) {
        Map<String, Routes> known = byMethod;
        if (known == null) {
            return this;
        }
        int end = method.indexOf('(');
        return known.computeIfAbsent(end < 0 ? method : method.substring(0, end), this::filtered);
    }

    private Routes filtered(String method) {
        return new Routes(all, allowed(method, all, rules), settings, rules, leftOut, false);
    }

    /** Calls the action for each group of providers, including the groups for single methods. */
    void forEachGroup(Consumer<Group> action) {
        byTag.values().forEach(action);
        Group alone = untagged;
        if (alone != null && alone != byTag.get("")) {
            action.accept(alone);
        }
        Map<String, Routes> known = byMethod;
        if (known != null) {
            known.values().forEach(routes -> routes.forEachGroup(action));
        }
    }

    /** Returns whether a provider would belong to one of the groups if it were used. */
    boolean isInAny(Instance instance, Set<Group> groups) {
        if (groups.isEmpty()) {
            return false;
        }
        Group alone = untagged;
        if (alone != null
                && groups.contains(alone)
                && (rules == Rules.NONE
                        ? instance.attributes().tag().isEmpty()
                        : rules.takesCallsWithoutTag(instance))) {
            return true;
        }
        if (tags(instance).stream().map(byTag::get).anyMatch(group -> group != null && groups.contains(group))) {
            return true;
        }
        Map<String, Routes> known = byMethod;
        return known != null && known.values().stream().anyMatch(routes -> routes.isInAny(instance, groups));
    }

    Rules rules() {
        return rules;
    }

    /** Returns whether rules exclude all known providers. */
    boolean isRuledOut() {
        return byTag.isEmpty() && untagged == null && !all.isEmpty();
    }

    /** Returns all providers, regardless of tags and methods. */
    List<Target> all() {
        return all;
    }

    /**
     * Returns the providers for a call, or null if there are none.
     *
     * @param tag the call's tag; may be empty
     * @param force whether a call with a tag must not go to providers without a tag
     */
    @Nullable
    Group group(String tag, boolean force) {
        if (tag.isEmpty()) {
            return untagged;
        }
        for (String left = tag; !left.isEmpty(); left = shorter(left)) {
            Group found = byTag.get(left);
            if (found != null) {
                return found;
            }
            if (leftOut.contains(left)) {
                return null; // There are providers with this tag, so providers without a tag must not get the call.
            }
        }
        return force || rules.isForced(tag) ? null : byTag.get("");
    }

    /**
     * For the tag {@code a|b|c}, checks {@code a|b|c}, {@code a|b} and {@code a} in this order. Returns the first of
     * these tags that was left out because there are too many tags. Returns null if none of the tags was left out, or
     * if the client is connected to providers with an earlier tag in this order.
     */
    @Nullable
    String leftOut(String tag) {
        for (String left = tag; !left.isEmpty() && !leftOut.isEmpty(); left = shorter(left)) {
            if (byTag.containsKey(left)) {
                return null;
            }
            if (leftOut.contains(left)) {
                return left;
            }
        }
        return null;
    }

    /** Returns {@code a|b} for the tag {@code a|b|c}; empty if the tag has only one part. */
    private static String shorter(String tag) {
        return tag.substring(0, Math.max(0, tag.lastIndexOf('|')));
    }
}
