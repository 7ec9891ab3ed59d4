package tern.rpc.registry.dubbo.rules;

import java.time.Duration;
import java.util.ArrayList;
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
 * @param byKey the rules, sorted by their keys
 */
public record DubboRules(Map<String, Rule> byKey, RuleConsumer consumer) implements Rules {

    public DubboRules {
        byKey = new TreeMap<>(byKey);
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
        for (ConfiguratorRule rule : rules(ConfiguratorRule.class).toList()) {
            if (rule.isDisabled(provider, consumer)) {
                return null;
            }
            Integer weight = rule.weight(provider, consumer);
            if (weight != null && weight != attributes.weight()) {
                attributes = attributes.withWeight(weight);
            }
        }
        return attributes;
    }

    @Override
    public List<String> tags(Instance provider) {
        List<String> tags = new ArrayList<>();
        rules(TagRule.class).forEach(rule -> tags.addAll(rule.of(provider)));
        String own = provider.attributes().tag();
        if (tags.isEmpty() || !(own.isEmpty() || tags.contains(own))) {
            tags.add(own);
        }
        return tags;
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
    public @Nullable Duration timeout(String method) {
        for (ConfiguratorRule rule : rules(ConfiguratorRule.class).toList()) {
            Duration timeout = rule.timeout(method, consumer);
            if (timeout != null) {
                return timeout;
            }
        }
        return null;
    }

    @Override
    public String loadBalancing() {
        return rules(ConfiguratorRule.class)
                .map(rule -> rule.loadBalancing(consumer))
                .filter(name -> !name.isEmpty())
                .findFirst()
                .orElse("");
    }

    @Override
    public String toString() {
        return String.join(", ", byKey.keySet());
    }
}
