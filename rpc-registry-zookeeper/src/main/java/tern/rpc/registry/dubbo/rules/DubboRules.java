package tern.rpc.registry.dubbo.rules;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import tern.rpc.endpoint.Attributes;
import tern.rpc.endpoint.Instance;
import tern.rpc.endpoint.Rules;

/**
 * All rules that apply to one service.
 *
 * @param byKey the rules by their keys: first the rules of applications, then those of the service, which take
 *     precedence
 */
public record DubboRules(Map<String, Rule> byKey, RuleConsumer consumer) implements Rules {

    /** The keys of services contain colons: {@code interface:version:group}. */
    private static final Comparator<String> APPLICATIONS_FIRST =
            Comparator.comparing((String key) -> key.indexOf(':') >= 0).thenComparing(Comparator.naturalOrder());

    public DubboRules {
        Map<String, Rule> sorted = new TreeMap<>(APPLICATIONS_FIRST);
        sorted.putAll(byKey);
        byKey = sorted;
    }

    /** Returns the rules for the given consumer; {@link Rules#NONE} if there are no rules. */
    public static Rules of(Map<String, Rule> byKey, RuleConsumer consumer) {
        return byKey.isEmpty() ? NONE : new DubboRules(byKey, consumer);
    }

    private <T extends Rule> Stream<T> rules(Class<T> kind) {
        return byKey.values().stream().filter(kind::isInstance).map(kind::cast);
    }

    @Override
    public @Nullable Attributes attributes(Instance provider) {
        Attributes attributes = provider.attributes();
        boolean isDisabled = false;
        for (ConfiguratorRule rule : rules(ConfiguratorRule.class).toList()) {
            Boolean disabled = rule.disabled(provider, consumer);
            isDisabled = disabled == null ? isDisabled : disabled;
            Integer weight = rule.weight(provider, consumer);
            if (weight != null && weight != attributes.weight()) {
                attributes = attributes.withWeight(weight);
            }
        }
        return isDisabled ? null : attributes;
    }

    @Override
    public List<String> tags(Instance provider) {
        List<String> tags = new ArrayList<>();
        rules(TagRule.class).forEach(rule -> tags.addAll(rule.of(provider)));
        String own = provider.attributes().tag();
        boolean isUntagged = own.isEmpty() && tags.isEmpty();
        boolean isStatic = !own.isEmpty() && rules(TagRule.class).noneMatch(rule -> rule.decides(own));
        if (isUntagged || (isStatic && !tags.contains(own))) {
            tags.add(own);
        }
        return tags;
    }

    @Override
    public boolean takesCallsWithoutTag(Instance provider) {
        List<TagRule> tagRules = rules(TagRule.class).toList();
        String own = provider.attributes().tag();
        return tagRules.stream().allMatch(rule -> rule.of(provider).isEmpty())
                && (own.isEmpty() || (!tagRules.isEmpty() && tagRules.stream().noneMatch(rule -> rule.names(own))));
    }

    @Override
    public boolean isForced(String tag) {
        return rules(TagRule.class).anyMatch(rule -> rule.isForced(tag));
    }

    @Override
    public boolean isByMethod() {
        return rules(ConditionRule.class).anyMatch(ConditionRule::isByMethod);
    }

    @Override
    public List<Instance> route(String method, List<Instance> providers) {
        List<Instance> left = providers;
        for (ConditionRule rule : rules(ConditionRule.class).toList()) {
            left = rule.route(method, left, consumer);
        }
        return left;
    }

    @Override
    public Object routeKey(String method) {
        return rules(ConditionRule.class)
                .map(rule -> rule.conditionsFor(method, consumer))
                .toList();
    }

    @Override
    public @Nullable Duration timeout(String method) {
        Duration timeout = null;
        for (ConfiguratorRule rule : rules(ConfiguratorRule.class).toList()) {
            Duration changed = rule.timeout(method, consumer);
            timeout = changed == null ? timeout : changed;
        }
        return timeout;
    }

    @Override
    public String loadBalancing() {
        return rules(ConfiguratorRule.class)
                .map(rule -> rule.loadBalancing(consumer))
                .filter(name -> !name.isEmpty())
                .reduce("", (earlier, later) -> later);
    }

    @Override
    public String toString() {
        return String.join(", ", byKey.keySet());
    }
}
